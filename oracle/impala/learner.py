"""IMPALA's learner: an actor-critic on unrolls, corrected by V-trace (Espeholt et al. 2018).

A round plays one unroll in every environment with the network as it is, and then takes a gradient
step for each part of them, so the later parts are of a policy that is some steps old.  A match that
ends within an unroll waits for the end of it: the rest of its unroll has no weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from oracle.impala.environments import Episodes
from oracle.impala.net import RecurrentNet, State, log_policy
from oracle.impala.opponents import drawn
from oracle.impala.training import Training
from oracle.impala.vtrace import vtrace


@dataclass(frozen=True, slots=True)
class Unrolls:
    """Decisions of T steps in B matches, and what they brought.

    Attributes:
      inputs: (T + 1, B, inputs); the last is what is seen after the unroll.
      legal: (T, B, actions).
      actions: (T, B).
      logs: (T, B), log of the probability with which each was taken.
      rewards: (T, B).
      discounts: (T, B), 0 where the match ended.
      weights: (T, B), 1 where a decision was taken and 0 after the end of a match.
      state: of the network before the first step.
    """

    inputs: Tensor
    legal: Tensor
    actions: Tensor
    logs: Tensor
    rewards: Tensor
    discounts: Tensor
    weights: Tensor
    state: State

    def part(self, first: int, end: int) -> Unrolls:
        """Those of some matches."""
        return Unrolls(
            self.inputs[:, first:end],
            self.legal[:, first:end],
            self.actions[:, first:end],
            self.logs[:, first:end],
            self.rewards[:, first:end],
            self.discounts[:, first:end],
            self.weights[:, first:end],
            (self.state[0][first:end], self.state[1][first:end]),
        )


class Diverged(Exception):
    """The network's weights, or what it computes, are not finite: no training goes on."""


class Learner:
    """Trains one network in its matches.

    Attributes:
      net: the network.
      decisions: taken so far.
    """

    def __init__(
        self,
        net: RecurrentNet,
        episodes: Episodes,
        training: Training,
        generator: torch.Generator,
    ) -> None:
        """Gets ready.

        Args:
          net: on the training's device.
          episodes: as many matches as the training says.
          training: see `Training`.
          generator: draws the learner's actions; on that device.
        """
        self.net, self.decisions = net, 0
        self._episodes, self._training, self._generator = episodes, training, generator
        self._device = torch.device(training.device)
        self._state = net.initial(training.environments, self._device)
        self._optimiser = torch.optim.Adam(net.parameters(), lr=training.learning_rate)

    def round(self) -> None:
        """One unroll in every match, and the gradient steps from it.

        Raises:
          Diverged: it is of no use any more.
        """
        unrolls = self._collected()
        batch = self._training.batch
        for first in range(0, self._training.environments, batch):
            self._improve(unrolls.part(first, first + batch))
        if not all(bool(one.isfinite().all()) for one in self.net.parameters()):
            raise Diverged("the network's weights are not finite")

    @torch.no_grad()
    def _collected(self) -> Unrolls:
        new = torch.from_numpy(self._episodes.renew()).to(self._device)
        for part in self._state:
            part[new] = 0.0
        start = (self._state[0].clone(), self._state[1].clone())
        inputs, legal, actions, logs, rewards, playing = [], [], [], [], [], []
        for _ in range(self._training.unroll):
            sight = self._episodes.sight()
            inputs.append(torch.from_numpy(sight.inputs).to(self._device))
            legal.append(torch.from_numpy(sight.legal).to(self._device))
            playing.append(sight.playing)
            logits, _, self._state = self.net(inputs[-1][None], self._state)
            if not bool(logits.isfinite().all()):  # nothing legal could be drawn
                raise Diverged("the network's logits are not finite")
            chances = log_policy(logits[0], legal[-1])
            actions.append(drawn(chances, self._generator))
            logs.append(chances.gather(-1, actions[-1][:, None])[:, 0])
            rewards.append(self._episodes.step(actions[-1].cpu().numpy()))
        last = self._episodes.sight()
        inputs.append(torch.from_numpy(last.inputs).to(self._device))
        weights = np.array(playing, dtype=np.float32)
        goes_on = np.array([*playing[1:], last.playing], dtype=np.float32)
        self.decisions += int(weights.sum())
        return Unrolls(
            torch.stack(inputs),
            torch.stack(legal),
            torch.stack(actions),
            torch.stack(logs),
            torch.from_numpy(np.array(rewards)).to(self._device),
            torch.from_numpy(goes_on * np.float32(self._training.discount)).to(self._device),
            torch.from_numpy(weights).to(self._device),
            start,
        )

    def _improve(self, unrolls: Unrolls) -> None:
        """One gradient step; the loss is a sum over decisions, as in IMPALA."""
        training = self._training
        logits, values, _ = self.net(unrolls.inputs, unrolls.state)
        values, bootstrap = values[:-1], values[-1].detach()
        chances = log_policy(logits[:-1], unrolls.legal)
        logs = chances.gather(-1, unrolls.actions[..., None])[..., 0]
        targets = vtrace(
            (logs - unrolls.logs).detach(),
            unrolls.discounts,
            unrolls.rewards,
            values.detach(),
            bootstrap,
        )
        policy_loss = -(logs * targets.advantages)
        value_loss = (targets.values - values).square() / 2
        entropy = -(chances.exp() * chances.masked_fill(~unrolls.legal, 0.0)).sum(dim=-1)
        loss = policy_loss + training.baseline_cost * value_loss - training.entropy_cost * entropy
        self._optimiser.zero_grad(set_to_none=True)
        (loss * unrolls.weights).sum().backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), training.max_gradient_norm)
        self._optimiser.step()
