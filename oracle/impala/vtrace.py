"""V-trace: returns of a policy from what another one did (Espeholt et al. 2018, section 4.1).

    v_s = V(x_s) + sum over t >= s of gamma^(t-s) * (c_s ... c_(t-1)) * delta_t
    delta_t = rho_t * (r_t + gamma_t * V(x_(t+1)) - V(x_t))

with rho_t and c_t the ratio of the probabilities of the action taken, cut off at 1.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Targets(NamedTuple):
    """What a gradient step moves towards; no gradient goes through it.

    Attributes:
      values: v_s, (T, B).
      advantages: rho_s * (r_s + gamma_s * v_(s+1) - V(x_s)), (T, B).
    """

    values: Tensor
    advantages: Tensor


@torch.no_grad()
def vtrace(
    log_ratios: Tensor, discounts: Tensor, rewards: Tensor, values: Tensor, bootstrap: Tensor
) -> Targets:
    """The targets of unrolls.

    Args:
      log_ratios: (T, B), log of the learner's probability of each action over the actor's.
      discounts: (T, B), gamma, and 0 where the match ended with that decision.
      rewards: (T, B), won between that decision and the next.
      values: (T, B), V(x_t) of the learner.
      bootstrap: (B,), V of the state after the last decision.
    """
    ratios = log_ratios.exp().clamp(max=1.0)
    after = torch.cat([values[1:], bootstrap[None]])
    deltas = ratios * (rewards + discounts * after - values)
    corrections, found = [], torch.zeros_like(bootstrap)
    for t in range(len(deltas) - 1, -1, -1):
        found = deltas[t] + discounts[t] * ratios[t] * found
        corrections.append(found)
    targets = values + torch.stack(corrections[::-1])
    following = torch.cat([targets[1:], bootstrap[None]])
    return Targets(targets, ratios * (rewards + discounts * following - values))
