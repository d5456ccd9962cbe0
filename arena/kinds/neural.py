"""Neural policies: a recurrent network sees a game's tensors (`Game.tensors`) and draws actions.

The payload is JSON with one field, "safetensors": the weights as a file of that format, in base64,
because what the registry keeps of a policy is text.  The file's header says which game and encoding
the network is for and how wide its hidden layers are; its arrays are 16-bit integers in units of
2**-12.  Weights are data and the code that plays them is ours, so they need no sandbox.

What a network is: layers with rectifiers, then an LSTM as wide as the last of them, then the logits
of the actions.  It sees an observation and its own last action (as in IMPALA's agent, Espeholt et
al. 2018, arXiv:1802.01561), and draws from the softmax over the legal ones.
"""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arena.kinds.exact_network import MOST_WEIGHT, UNIT, WIDEST, ExactNetwork, Layer, draw
from arena.kinds.weights_file import WeightsFile, read, written

if TYPE_CHECKING:
    from arena.games.parts import Tensors
    from arena.games.protocol import Game

KIND = "neural"
FORMAT = "policy-arena-neural-1"
DEEPEST = 4
"""Layers below the LSTM at most."""
MOST_PRODUCTS = 2**20
"""Multiplications in a decision: half as many again as the largest network that was published for
one of our games.  Networks play outside the sandbox, so nothing else bounds what one costs."""
_FIELD = "safetensors"
NONE = 253
"""Reply to a message that asks for nothing; the same in every game."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """What a network is but for its weights.

    Attributes:
      game: name of the game.
      encoding: version of the game's tensors.
      hidden: widths of the layers; the LSTM is as wide as the last.
      inputs: numbers of an observation and of an own last action.
      actions: how many.
    """

    game: str
    encoding: str
    hidden: tuple[int, ...]
    inputs: int
    actions: int

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """The arrays of a file, by name, and their shapes."""
        widths, core = (self.inputs, *self.hidden), self.hidden[-1]
        shapes: dict[str, tuple[int, ...]] = {}
        for number, (low, high) in enumerate(pairwise(widths)):
            shapes[f"torso.{number}.weight"], shapes[f"torso.{number}.bias"] = (high, low), (high,)
        shapes["core.weight"], shapes["core.bias"] = (4 * core, 2 * core), (4 * core,)
        shapes["policy.weight"], shapes["policy.bias"] = (self.actions, core), (self.actions,)
        return shapes

    @property
    def products(self) -> int:
        """Multiplications in a decision: one for each weight that is no bias."""
        return sum(math.prod(shape) for shape in self.shapes.values() if len(shape) == 2)

    @property
    def header(self) -> dict[str, str]:
        """As a file's header has it."""
        hidden = ",".join(map(str, self.hidden))
        return {
            "format": FORMAT,
            "game": self.game,
            "encoding": self.encoding,
            "hidden": hidden,
        }

    def __str__(self) -> str:
        layers = "-".join(map(str, (self.inputs, *self.hidden)))
        return f"layers {layers}, LSTM {self.hidden[-1]}, {self.actions} actions"


def architecture_of(game: Game, hidden: Sequence[int]) -> Architecture:
    """The architecture of networks of that size for a game.

    Raises:
      ValueError: no networks play the game, or there are too many layers, or too wide ones, or a
        decision takes more than `MOST_PRODUCTS`.
    """
    tensors, actions = tensors_of(game), len(game.actions)
    if not 1 <= len(hidden) <= DEEPEST or not all(1 <= width <= WIDEST for width in hidden):
        raise ValueError(
            f"hidden layers of {list(hidden)}; 1 to {DEEPEST} layers of 1 to {WIDEST} are allowed"
        )
    found = Architecture(game.name, tensors.version, tuple(hidden), tensors.size + actions, actions)
    if found.products > MOST_PRODUCTS:
        raise ValueError(
            f"a decision of hidden layers of {list(hidden)} takes {found.products:,} "
            f"multiplications; {MOST_PRODUCTS:,} are allowed"
        )
    return found


def tensors_of(game: Game) -> Tensors:
    """The game as numbers.

    Raises:
      ValueError: no neural policies play it.
    """
    if game.tensors is None:
        raise ValueError(f"no neural policies play {game.name}")
    return game.tensors


def payload_of(game: Game, data: bytes) -> str:
    """The canonical payload of a file of weights: whole units, in the one order.

    Args:
      game: what it is to play.
      data: a safetensors file with the arrays of an `Architecture` and its header; weights are
        numbers (F32), which are rounded, or units (I16).

    Raises:
      ValueError: it is no such file, or one for another game, or a number in it is not finite or
        is too large.
    """
    file = read(data)
    header = _architecture(game, file).header  # the file may say 016 for 16
    arrays = {name: _units(name, array) for name, array in file.arrays.items()}
    text = base64.b64encode(written(WeightsFile(header, arrays))).decode("ascii")
    return json.dumps({_FIELD: text}, separators=(",", ":"))


def uniform_file(game: Game) -> bytes:
    """The file of the smallest network: every legal action is as likely.

    Raises:
      ValueError: no neural policies play the game.
    """
    architecture = architecture_of(game, (1,))
    zeros = {name: np.zeros(shape, dtype="<i2") for name, shape in architecture.shapes.items()}
    return written(WeightsFile(architecture.header, zeros))


def _units(name: str, array: npt.NDArray[Any]) -> npt.NDArray[np.int16]:
    """Weights in units, checked."""
    if array.dtype != np.dtype("<f4"):
        if array.size and array.min() < -MOST_WEIGHT / UNIT:
            raise ValueError(f"{name} has a weight of -32768 units; -32767 is the least")
        return array.astype("<i2")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has a number that is not finite")
    if array.size and np.abs(array).max() > MOST_WEIGHT:
        raise ValueError(f"{name} has a weight of {np.abs(array).max():g}; below 8 is allowed")
    return np.rint(array.astype(np.float64) / UNIT).astype("<i2")


def file_of(payload: str) -> bytes:
    """The safetensors file in a payload.

    Raises:
      ValueError: it is no payload of a neural policy.
    """
    try:
        fields = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"a neural policy's payload is JSON: {error}") from error
    if not isinstance(fields, dict) or set(fields) != {_FIELD}:
        raise ValueError(f'a neural payload has "{_FIELD}" and nothing else: {payload[:80]!r}')
    if not isinstance(fields[_FIELD], str):
        raise ValueError(f'"{_FIELD}" in a neural payload is a file in base64')
    try:
        return base64.b64decode(fields[_FIELD], validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"a neural payload is in base64: {error}") from error


def described(game: Game, payload: str) -> str:
    """The architecture of a payload's network, in words.

    Raises:
      ValueError: it is not the payload of a neural policy of this game.
    """
    return str(_architecture(game, read(file_of(payload))))


def weights_of(game: Game, payload: str) -> tuple[Architecture, dict[str, npt.NDArray[np.float64]]]:
    """The network in a payload, as arrays of its weights by name.

    Raises:
      ValueError: it is not the payload of a neural policy of this game.
    """
    file = read(file_of(payload))
    architecture = _architecture(game, file)
    if any(array.dtype != np.dtype("<i2") for array in file.arrays.values()):
        raise ValueError("a neural payload has its weights in whole units (I16)")
    return architecture, {
        name: array.astype(np.float64) * UNIT for name, array in file.arrays.items()
    }


def _architecture(game: Game, file: WeightsFile) -> Architecture:
    """What a file's header says it is, once its arrays agree."""
    tensors = tensors_of(game)
    wanted = {"format": FORMAT, "game": game.name, "encoding": tensors.version}
    for key, value in wanted.items():
        if file.header.get(key) != value:
            found = file.header.get(key, "missing")[:80]
            raise ValueError(f"{key} in the file's header is {found!r}; it must be {value!r}")
    widths = file.header.get("hidden", "").split(",")
    if set(file.header) != {*wanted, "hidden"} or not all(
        width.isascii() and width.isdecimal() and len(width) < 6 for width in widths
    ):
        raise ValueError(
            'the file\'s header has format, game, encoding and hidden (such as "256,128")'
        )
    architecture = architecture_of(game, [int(width) for width in widths])
    shapes = architecture.shapes
    if file.arrays.keys() != shapes.keys():
        odd = ", ".join(map(ascii, sorted(file.arrays.keys() ^ shapes.keys())))
        raise ValueError(f"missing, or too many: the arrays {odd[:200]}")
    for name, shape in shapes.items():
        if file.arrays[name].shape != shape:
            raise ValueError(f"{name} is of shape {file.arrays[name].shape}; it must be {shape}")
    return architecture


class _Unread:
    """A payload as a key of the cache, which is not to keep megabytes of text beside weights."""

    __slots__ = ("_digest", "_text")

    def __init__(self, payload: str) -> None:
        self._text = payload
        self._digest = hashlib.sha256(payload.encode(errors="surrogatepass")).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Unread) and other._digest == self._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    def taken(self) -> str:
        """The text, once."""
        text, self._text = self._text, ""
        return text


@functools.lru_cache(maxsize=8)  # of up to 8 MiB each, in every process that plays
def _network(game: Any, unread: _Unread) -> ExactNetwork:
    architecture, arrays = weights_of(game, unread.taken())

    def layer(name: str) -> Layer:
        return Layer(arrays[f"{name}.weight"], arrays[f"{name}.bias"])

    torso = tuple(layer(f"torso.{number}") for number in range(len(architecture.hidden)))
    return ExactNetwork(torso, layer("core"), layer("policy"))


def network_of(game: Game, payload: str) -> ExactNetwork:
    """The network in a payload.

    Raises:
      ValueError: it is not the payload of a neural policy of this game.
    """
    hashable: Any = game  # which a protocol cannot promise
    return _network(hashable, _Unread(payload))


class NeuralCrew:
    """One neural policy in seats of many matches, which are answered together.

    What it answers in one of them does not depend on how many there are.

    Args:
      game: what it plays.
      payload: of the policy's version.
      seeds: of its random choices in each match.

    Raises:
      ValueError: the payload is not that of a neural policy of this game.
    """

    def __init__(self, game: Game, payload: str, seeds: Sequence[int]) -> None:
        self._tensors, self._network = tensors_of(game), network_of(game, payload)
        self._actions = np.eye(len(game.actions))
        self._uniform = [random.Random(seed).random for seed in seeds]
        self._output = np.zeros((len(seeds), self._network.width))
        self._cell = np.zeros_like(self._output)
        self._last = np.zeros((len(seeds), len(game.actions)))

    def replies(self, messages: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """Answers one tick.

        Args:
          messages: (matches, MESSAGE_BYTES), to the seat in each match.

        Returns:
          (matches,) numbers of actions; 253 where nothing is asked.
        """
        replies = np.full(len(messages), NONE, dtype=np.uint8)
        rows = np.flatnonzero(self._tensors.asks(messages))
        if rows.size:
            asked = messages[rows]
            inputs = np.hstack([self._tensors.see(asked), self._last[rows]])
            logits, self._output[rows], self._cell[rows] = self._network(
                inputs, self._output[rows], self._cell[rows]
            )
            uniform = np.array([self._uniform[row]() for row in rows.tolist()])
            drawn = draw(logits, self._tensors.legal(asked), uniform)
            self._last[rows] = self._actions[drawn]
            replies[rows] = drawn
        return replies


def neural_policy(game: Game, payload: str, seed: int) -> Any:
    """A `PolicyFactory`: the network that the payload holds, ready for one match.

    Raises:
      ValueError: the payload is not that of a neural policy of this game.
    """
    crew = NeuralCrew(game, payload, [seed])

    def reply(message: bytes) -> int:
        return int(crew.replies(np.frombuffer(message, dtype=np.uint8)[None])[0])

    return tensors_of(game).author(reply)
