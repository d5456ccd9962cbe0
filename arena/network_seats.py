"""Networks in the trusted seats of a block: each answers all its matches at once, and is timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arena.games.protocol import Game
from arena.kinds.neural import KIND, NONE, NeuralCrew
from arena.plan import Chunk


@dataclass(frozen=True, slots=True, eq=False)
class Crew:
    """A network that sits down in some matches.

    Attributes:
      places: (n,), its own among the trusted seats of a block.
      seats: matches (n,) and numbers (n,) of these seats.
      network: answers them.
    """

    places: npt.NDArray[np.intp]
    seats: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]
    network: NeuralCrew


def crews_of(game: Game, chunk: Chunk, seats: Sequence[tuple[str, int, int]]) -> list[Crew]:
    """The networks of a block, and where each of them sits.

    Args:
      game: what is played.
      chunk: the block.
      seats: its trusted seats: kind of the policy, match and number of the seat in it.

    Raises:
      ValueError: a payload is not that of a network of this game.
    """
    taken: dict[str, list[tuple[int, int, int]]] = {}
    for place, (kind, match, number) in enumerate(seats):
        if kind == KIND:
            digest = chunk.bouts[match].players[number]
            taken.setdefault(digest, []).append((place, match, number))
    crews = []
    for digest, own in taken.items():
        places, matches, numbers = np.array(own, dtype=np.intp).T
        seeds = [chunk.bouts[match].seat_seeds[number] for _, match, number in own]
        network = NeuralCrew(game, chunk.players[digest].payload, seeds)
        crews.append(Crew(places, (matches, numbers), network))
    return crews


def with_crews(
    others: Callable[[bytes], bytes], crews: Sequence[Crew], spent: npt.NDArray[np.float64]
) -> Callable[[bytes], bytes]:
    """Answers a tick where networks sit in some seats, each for all of its matches at once.

    The time that this takes is shared evenly by the seats that were asked.

    Args:
      others: answers the whole tick, whatever it says for networks.
      crews: the networks.
      spent: (matches, 2), seconds of processor time of each seat, to which theirs is added.
    """

    def answer(messages: bytes) -> bytes:
        said = np.frombuffer(others(messages), dtype=np.uint8).copy()
        told = np.frombuffer(messages, dtype=np.uint8).reshape(len(said), -1)
        for crew in crews:
            before = time.thread_time()
            replies = crew.network.replies(told[crew.places])
            used = time.thread_time() - before
            said[crew.places] = replies
            asked = replies != NONE
            spent[crew.seats] += asked * (used / max(1, int(np.count_nonzero(asked))))
        return said.tobytes()

    return answer
