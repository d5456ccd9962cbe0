"""Matching pennies: a game for tests of the store, its results, and their tallies by definition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from arena.games.protocol import Game
from arena.store import MatchStore
from arena.values import Match, Result, Termination

POLICIES = ("aa" * 32, "bb" * 32, "cc" * 32)


@dataclass(frozen=True)
class Pennies:
    """Matching pennies: a move is heads (1) or tails (0) of either seat, a bit when packed."""

    name: str = "pennies"
    version: int = 1
    has_deals: bool = True

    def pack(self, moves: bytes) -> bytes:
        bits = sum(move << place for place, move in enumerate(moves))
        return len(moves).to_bytes(2, "big") + bits.to_bytes(-(-len(moves) // 8), "big")

    def unpack(self, packed: bytes) -> bytes:
        bits = int.from_bytes(packed[2:], "big")
        return bytes(bits >> place & 1 for place in range(int.from_bytes(packed[:2], "big")))


def game(**differences: Any) -> Game:
    return cast(Game, Pennies(**differences))


def result(
    match: Match,
    return_low: float = 1.0,
    *,
    fault_seat: int | None = None,
    message: str = "",
    millis: int = 4,
    wall: str = "inline",
    season: int = 0,
    playings: int = 1,
) -> Result:
    returns = (return_low, -return_low) if match.repetition % 2 == 0 else (-return_low, return_low)
    return Result(
        match=match,
        returns=returns,
        termination=Termination.COMPLETED if fault_seat is None else Termination.CRASHED,
        fault_seat=fault_seat,
        fault_message=message,
        moves=bytes(int(digit) for digit in f"{match.repetition & 63:03b}01101"),
        wall=wall,
        seconds=millis / 1000,
        cpu_seconds=(millis / 2000, millis / 4000),
        season=season,
        playings=playings,
    )


def match(one: int, other: int, repetition: int, of: Game | None = None) -> Match:
    played = of or game()
    return Match.between(played.name, played.version, POLICIES[one], POLICIES[other], repetition)


SUMS = [
    *("matches", "total", "total_squares", "deals", "deal_squares", "deal_cross", "deal_sizes"),
    *("wins", "draws", "losses", "forfeits_low", "forfeits_high"),
]


def recomputed(has_deals: bool, results: Iterable[Result]) -> dict[tuple[str, str, int], Any]:
    """The tallies by definition: (low, high, half) to the columns of `SUMS` and milliseconds."""
    clusters: dict[tuple[str, str, int], list[Result]] = defaultdict(list)
    for one in results:
        number = one.match.deal if has_deals else one.match.repetition
        clusters[one.match.low, one.match.high, number].append(one)
    tallies: dict[tuple[str, str, int], Any] = defaultdict(lambda: [0] * (len(SUMS) + 1))
    for (low, high, number), deal in clusters.items():
        lows = [
            one.returns[one.match.seats.index(low)] if low != high else one.return_low
            for one in deal
        ]
        seats = [one.match.repetition % 2 for one in deal]
        faults = [one.fault_seat for one in deal]
        terms = (
            len(deal), sum(lows), sum(x * x for x in lows),
            1, sum(lows) ** 2, sum(lows) * len(deal), len(deal) ** 2,
            sum(x > 0 for x in lows), sum(x == 0 for x in lows), sum(x < 0 for x in lows),
            sum(fault == seat for fault, seat in zip(faults, seats, strict=True)),
            sum(fault == 1 - seat for fault, seat in zip(faults, seats, strict=True)),
            sum(round(one.seconds * 1000) for one in deal),
        )  # fmt: skip
        sums = tallies[low, high, number % 2]
        tallies[low, high, number % 2] = [a + b for a, b in zip(sums, terms, strict=True)]
    return dict(tallies)


def stored_tallies(store: MatchStore, played: Game) -> dict[tuple[str, str, int], Any]:
    return {
        (row["low"], row["high"], row["half"]): [
            *(row[name] for name in SUMS), round(row["seconds"] * 1000)
        ]
        for row in store.pair_stats(played.name, played.version).to_pylist()
    }  # fmt: skip
