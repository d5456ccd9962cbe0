"""A recurrent network whose outputs are the same on every machine, at every width of a batch.

Matches are played again as audits and must come out alike, but the sum of a dot product depends on
the order in which a machine adds, and exp and tanh on its libraries.  So nothing is rounded here
but where we say: weights, inputs and activations are multiples of 2**-12, bounded so that every dot
product is a sum of whole multiples of 2**-24 below 2**53 of them.  Double precision adds these
exactly, in any order.  Results are then rounded to the grid again, and the curves are tables that
are computed in whole numbers.

The cost: a network plays with weights that are off by up to 2**-13 from those that were trained,
and in double precision, which takes about twice the time of single precision.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

UNIT = 2.0**-12
"""Weights and activations are multiples of it."""
MOST_WEIGHT = (2**15 - 1) * UNIT
"""Just below 8: weights are kept in 16 bits."""
MOST_ACTIVATION = 64.0
"""Of a layer; larger ones are cut off."""
WIDEST = 1024
"""Numbers in a layer: 2 * 1024 products of 2**15 and 2**18 add up to less than 2**45."""
_STEPS = 1024
"""Points of the tables between whole numbers."""
_REACH = 8
"""Beyond that the curves are flat to within 2**-11."""
_FAR = 16
"""Where the table of likelihoods ends: an action whose logit is further below the best is as likely
as one that is so far below it; e**-16 is 1e-7."""
_BLOCK = 2**18
"""Products in one call of BLAS.  OpenBLAS shares larger ones among threads, which wait for each
other busily: beside other workers on the same cores that took ten times as long as one thread."""
_ROWS = 32
"""Rows in one call: with more a call has too few outputs to be fast (one, at 256 rows of 1024)."""
_BITS = 128
_LIKELY = 2.0**30
"""Weight of the likeliest action in a draw."""


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """An affine map on rows: outputs are inputs @ weight.T + bias.

    Attributes:
      weight: (outputs, inputs).
      bias: (outputs,).
    """

    weight: Floats
    bias: Floats

    def __call__(self, rows: Floats) -> Floats:
        """Rows (n, inputs) to (n, outputs), exactly; in tiles, see `_BLOCK` and `_ROWS`."""
        found = np.empty((len(rows), len(self.bias)))
        for top in range(0, len(rows), _ROWS):
            some = rows[top : top + _ROWS]
            block = max(1, _BLOCK // max(1, some.size))
            for left in range(0, len(self.bias), block):
                tile = found[top : top + _ROWS, left : left + block]
                np.matmul(some, self.weight[left : left + block].T, out=tile)
        found += self.bias
        return found


@dataclass(frozen=True, slots=True, eq=False)
class ExactNetwork:
    """Layers with rectifiers, then an LSTM, then the logits of a policy.

    Attributes:
      torso: the layers.
      core: the LSTM's gates from its input and its own output before, beside each other: input,
        forget, cell and output gate, one after the other, as PyTorch orders them.
      policy: from the LSTM's output to logits.
    """

    torso: tuple[Layer, ...]
    core: Layer
    policy: Layer

    @property
    def width(self) -> int:
        """Numbers in the LSTM's output, and in its cell."""
        return len(self.core.bias) // 4

    def __call__(
        self, inputs: Floats, output: Floats, cell: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """One step of n rows.

        Args:
          inputs: (n, inputs), multiples of `UNIT` between -1 and 1.
          output: (n, width), of the step before; zeros at first.
          cell: (n, width), likewise.

        Returns:
          logits (n, actions), output and cell.
        """
        rows = inputs
        for layer in self.torso:
            rows = np.clip(_rounded(layer(rows)), 0.0, MOST_ACTIVATION)
        gates = self.core(np.hstack([rows, output]))
        sigmoid, tanh = _curves()
        places = _places(gates)
        take, keep, new, show = np.split(places, 4, axis=1)
        cell = _rounded(sigmoid[keep] * cell + sigmoid[take] * tanh[new])
        output = _rounded(sigmoid[show] * tanh[_places(cell)])
        return self.policy(output), output, cell


def draw(logits: Floats, legal: npt.NDArray[np.bool_], uniform: Floats) -> npt.NDArray[np.uint8]:
    """Draws one action for each row, from the softmax of its legal logits.

    Args:
      logits: (n, actions), as a network gives them.
      legal: (n, actions); at least one in each row.
      uniform: (n,), in [0, 1).

    Returns:
      (n,) numbers of actions.
    """
    best = np.where(legal, logits, -np.inf).max(axis=1, keepdims=True)
    below = np.where(legal, best - logits, _FAR)
    places = np.minimum(np.rint(below * _STEPS), _FAR * _STEPS).astype(np.intp)
    bounds = np.cumsum(np.where(legal, _likelihoods()[places], 0.0), axis=1)  # whole numbers
    whole = bounds[:, -1]
    point = np.minimum(uniform * whole, whole - 1)  # a product may be rounded up to the whole
    return np.asarray((point[:, None] >= bounds).sum(axis=1), dtype=np.uint8)


def _rounded(values: Floats) -> Floats:
    """To the grid; ties to even, as IEEE 754 says."""
    found: Floats = np.rint(values * (1 / UNIT)) * UNIT
    return found


def _places(values: Floats) -> npt.NDArray[Any]:
    """Where the curves are looked up."""
    return np.clip(np.rint(values * _STEPS), -_REACH * _STEPS, _REACH * _STEPS).astype(np.intp) + (
        _REACH * _STEPS
    )


@functools.cache
def _falling() -> tuple[int, ...]:
    """exp(-k / 1024) for k from 0 to 16 * 1024, in units of 2**-128.

    Whole numbers alone: the error grows to a few thousand units, far below what is kept.
    """
    one = term = 1 << _BITS
    step = power = 0
    while term:  # the series of exp(-1 / 1024), whose signs alternate
        step += -term if power % 2 else term
        power += 1
        term //= power * _STEPS
    values = [one]
    for _ in range(_FAR * _STEPS):
        values.append(values[-1] * step >> _BITS)
    return tuple(values)


@functools.cache
def _curves() -> tuple[Floats, Floats]:
    """The logistic curve and tanh from -8 to 8, rounded to the grid."""
    one, falling, units = 1 << _BITS, _falling(), round(1 / UNIT)

    def nearest(above: int, below: int) -> int:
        return (2 * units * above + below) // (2 * below)

    up = [nearest(one, one + falling[k]) for k in range(_REACH * _STEPS + 1)]
    odd = [nearest(one - falling[2 * k], one + falling[2 * k]) for k in range(_REACH * _STEPS + 1)]
    sigmoid = [units - value for value in reversed(up[1:])] + up
    tanh = [-value for value in reversed(odd[1:])] + odd
    return np.array(sigmoid) * UNIT, np.array(tanh) * UNIT


@functools.cache
def _likelihoods() -> Floats:
    """exp(-k / 1024) as whole numbers up to 2**30."""
    kept = round(_LIKELY)
    return np.array([float(value * kept >> _BITS) for value in _falling()])
