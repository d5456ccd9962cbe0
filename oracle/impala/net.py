"""The network while it learns; `arena.kinds.exact_network` is the same one at play.

It has a second head, for the value, that a policy does not need and is not kept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from arena.games.protocol import Game
from arena.kinds.exact_network import MOST_WEIGHT
from arena.kinds.neural import Architecture, payload_of, weights_of
from arena.kinds.weights_file import WeightsFile, written

State = tuple[Tensor, Tensor]
"""Output and cell of the LSTM, each (matches, width)."""
FORGET_BIAS = 1.0
"""At first the LSTM keeps its cell (Jozefowicz et al. 2015); the paper does not say."""
_ILLEGAL = -1e9


class RecurrentNet(nn.Module):
    """Layers with rectifiers, an LSTM, and two heads: the policy's logits and the value."""

    def __init__(self, architecture: Architecture) -> None:
        """Makes a network whose weights are not set yet."""
        super().__init__()
        widths = (architecture.inputs, *architecture.hidden)
        self.width = widths[-1]
        with torch.device("meta"):  # nothing is drawn from the generator that everybody shares
            self.torso = nn.ModuleList(nn.Linear(low, high) for low, high in pairwise(widths))
            self.core = nn.LSTM(self.width, self.width)
            self.policy = nn.Linear(self.width, architecture.actions)
            self.value = nn.Linear(self.width, 1)
        self.to_empty(device="cpu")
        self.architecture = architecture

    def forward(self, inputs: Tensor, state: State) -> tuple[Tensor, Tensor, State]:
        """Unrolls the network.

        Args:
          inputs: (T, B, inputs).
          state: before the first of them.

        Returns:
          logits (T, B, actions), values (T, B), and the state after the last.
        """
        rows = inputs
        for layer in self.torso:
            rows = torch.relu(layer(rows))
        found, (output, cell) = self.core(rows, (state[0][None], state[1][None]))
        return self.policy(found), self.value(found).squeeze(-1), (output[0], cell[0])

    def initial(self, matches: int, device: torch.device) -> State:
        """The state before the first decision of matches."""
        zeros = torch.zeros(matches, self.width, device=device)
        return zeros, zeros.clone()


def log_policy(logits: Tensor, legal: Tensor) -> Tensor:
    """Logarithms of the probabilities of all actions, over the legal ones."""
    return torch.log_softmax(logits.masked_fill(~legal, _ILLEGAL), dim=-1)


def fresh(architecture: Architecture, rng: np.random.Generator) -> RecurrentNet:
    """A network to begin with; its policy is uniform over the legal actions.

    Weights are uniform within 1 / sqrt(inputs of the layer), PyTorch's own rule; those of both
    heads are 0.
    """
    net, width = RecurrentNet(architecture), architecture.hidden[-1]
    with torch.no_grad():
        for name, weight in net.named_parameters():
            if name.startswith(("policy", "value")):
                weight.zero_()
                continue
            inputs = width if name.startswith("core") else weight.shape[-1]
            drawn = rng.uniform(-1.0, 1.0, tuple(weight.shape)) / math.sqrt(inputs)
            weight.copy_(torch.from_numpy(drawn))
        for bias in (net.core.bias_ih_l0, net.core.bias_hh_l0):
            bias.zero_()
        net.core.bias_ih_l0[width : 2 * width] = FORGET_BIAS
    return net


def payload(game: Game, net: RecurrentNet) -> str:
    """The network as a version of kind neural keeps it; weights of 8 and more are cut off."""
    core = net.core
    arrays = {
        "core.weight": torch.cat([core.weight_ih_l0, core.weight_hh_l0], dim=1),
        "core.bias": core.bias_ih_l0 + core.bias_hh_l0,
        "policy.weight": net.policy.weight,
        "policy.bias": net.policy.bias,
    }
    for number, layer in enumerate(net.torso):
        arrays[f"torso.{number}.weight"] = layer.weight
        arrays[f"torso.{number}.bias"] = layer.bias
    kept = {
        name: array.detach().clamp(-MOST_WEIGHT, MOST_WEIGHT).cpu().numpy().astype("<f4")
        for name, array in arrays.items()
    }
    return payload_of(game, written(WeightsFile(net.architecture.header, kept)))


def loaded(game: Game, text: str) -> RecurrentNet:
    """The network of a payload, with the weights as they are kept; its value head is 0.

    Raises:
      ValueError: it is not the payload of a neural policy of this game.
    """
    architecture, arrays = weights_of(game, text)
    net = RecurrentNet(architecture)
    with torch.no_grad():
        for name, weight in net.named_parameters():
            weight.copy_(_weight(name, arrays, architecture.hidden[-1]))
    return net


def _weight(name: str, arrays: Mapping[str, npt.NDArray[np.float64]], width: int) -> Tensor:
    """One of PyTorch's parameters from the arrays of a file."""
    core = torch.from_numpy(arrays["core.weight"])
    special = {
        "core.weight_ih_l0": core[:, :width],
        "core.weight_hh_l0": core[:, width:],
        "core.bias_ih_l0": torch.from_numpy(arrays["core.bias"]),
        "core.bias_hh_l0": torch.zeros(4 * width),
        "value.weight": torch.zeros(1, width),
        "value.bias": torch.zeros(1),
    }
    return special[name] if name in special else torch.from_numpy(arrays[name])
