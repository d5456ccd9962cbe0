"""Those whom a learner meets, many matches at a time.

Networks answer all their matches at once, in single precision: the same policies as the arena
plays, up to rounding.  The arena's own kinds answer one by one.  Programs of others would need
the sandbox, and a round trip to it for every decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch

from arena.games.protocol import Game, Seat
from arena.kinds.host import host_policy
from arena.kinds.neural import KIND as NEURAL
from arena.kinds.neural import tensors_of
from oracle.impala.net import State, loaded, log_policy
from oracle.impala.training import check_opponent
from oracle.values import Opponent


class Crew(Protocol):
    """One opponent in any of a learner's matches."""

    def begin(self, matches: npt.NDArray[np.intp], seeds: Sequence[int]) -> None:
        """Sits down in these matches, which are new."""
        ...

    def replies(
        self, matches: npt.NDArray[np.intp], messages: npt.NDArray[np.uint8]
    ) -> npt.NDArray[np.uint8]:
        """Answers messages (n, MESSAGE_BYTES) that ask for an action, one of each match."""
        ...


class NetworkCrew:
    """A network in single precision."""

    def __init__(
        self,
        game: Game,
        payload: str,
        matches: int,
        generator: torch.Generator,
        device: torch.device,
    ) -> None:
        self._tensors, self._device, self._generator = tensors_of(game), device, generator
        self._net = loaded(game, payload).to(device)
        self._eye = np.eye(len(game.actions))
        self._state: State = self._net.initial(matches, device)
        self._last = np.zeros((matches, len(game.actions)))

    def begin(self, matches: npt.NDArray[np.intp], seeds: Sequence[int]) -> None:
        """See `Crew`; all draws come from one generator."""
        rows = torch.from_numpy(matches).to(self._device)
        for part in self._state:
            part[rows] = 0.0
        self._last[matches] = 0.0

    @torch.no_grad()
    def replies(
        self, matches: npt.NDArray[np.intp], messages: npt.NDArray[np.uint8]
    ) -> npt.NDArray[np.uint8]:
        """See `Crew`."""
        rows = torch.from_numpy(matches).to(self._device)
        seen = np.hstack([self._tensors.see(messages), self._last[matches]])
        inputs = torch.from_numpy(seen.astype(np.float32)).to(self._device)
        state = (self._state[0][rows], self._state[1][rows])
        logits, _, after = self._net(inputs[None], state)
        self._state[0][rows], self._state[1][rows] = after
        legal = torch.from_numpy(self._tensors.legal(messages)).to(self._device)
        actions = drawn(log_policy(logits[0], legal), self._generator).cpu().numpy()
        self._last[matches] = self._eye[actions]
        return actions.astype(np.uint8)


class SeatCrew:
    """A policy of a kind that the arena plays itself, one instance a match."""

    def __init__(self, game: Game, kind: str, payload: str) -> None:
        self._game, self._kind, self._payload = game, kind, payload
        self._seats: dict[int, Seat] = {}

    def begin(self, matches: npt.NDArray[np.intp], seeds: Sequence[int]) -> None:
        """See `Crew`."""
        for match, seed in zip(matches.tolist(), seeds, strict=True):
            policy = host_policy(self._game, self._kind, self._payload, seed)
            self._seats[match] = self._game.seat(policy)

    def replies(
        self, matches: npt.NDArray[np.intp], messages: npt.NDArray[np.uint8]
    ) -> npt.NDArray[np.uint8]:
        """See `Crew`."""
        told = messages.tobytes()
        size = messages.shape[1]
        return np.array(
            [
                self._seats[match].reply(told[at * size : (at + 1) * size])
                for at, match in enumerate(matches.tolist())
            ],
            dtype=np.uint8,
        )


def drawn(logs: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """One action for each row of logarithms of probabilities (n, actions)."""
    bounds = logs.exp().cumsum(dim=-1)
    point = torch.rand(len(logs), 1, generator=generator, device=logs.device) * bounds[:, -1:]
    possible = logs.exp() > 0
    last = possible.shape[-1] - 1 - possible.flip(-1).int().argmax(dim=-1)
    return torch.minimum((point >= bounds).sum(dim=-1), last)


def crew_of(
    game: Game,
    opponent: Opponent,
    matches: int,
    generator: torch.Generator,
    device: torch.device,
) -> Crew:
    """Who plays an opponent in training.

    Raises:
      UsageFault: it is of a kind that cannot be trained against.
    """
    check_opponent(opponent.ref, opponent.kind)
    if opponent.kind == NEURAL:
        return NetworkCrew(game, opponent.source, matches, generator, device)
    return SeatCrew(game, opponent.kind, opponent.source)
