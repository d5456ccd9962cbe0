"""What the first newcomers of runs reach alone: the rest of a run is what is above that.

Runs of one variant that differ in their seed may begin with the very same program.  It is one
program then, however many runs found it: its figures count once, and what is over seeds elsewhere
is over distinct programs here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from arena.games.protocol import Game
from population.records import RunRecord
from population.scores import Measured, Ours, Scores, over_seeds

TITLE = "its first newcomer"


@dataclass(frozen=True, slots=True)
class Newcomers:
    """The first newcomers of the runs of one variant.

    Attributes:
      runs: whose first newcomers were measured.
      of: runs that were measured.
      ours: figures over the distinct programs; of a single one, with its interval over matches.
    """

    runs: int
    of: int
    ours: Ours

    @property
    def programs(self) -> int:
        """How many distinct ones these are."""
        return self.ours.seeds

    def __str__(self) -> str:
        one = "" if self.programs == 1 else "s"
        told = f"{self.runs} of {self.of}" if self.runs < self.of else f"{self.of}"
        return f"{self.programs} distinct program{one} in {told} run{'' if self.of == 1 else 's'}"


def first_newcomer(joined: Iterable[str], record: RunRecord) -> str | None:
    """Digest of the program that joined first; None where none has."""
    return next((digest for digest in joined if digest != record.initial), None)


def newcomers(runs: Iterable[tuple[RunRecord, Measured]], game: Game) -> Newcomers | None:
    """What the first newcomers of finished, measured runs reach; None where none was measured."""
    found: dict[str, Scores] = {}
    measured = number = 0
    for record, known in runs:
        number += 1
        digest = first_newcomer(record.final.weights if record.final else (), record)
        scores = known.of({digest: 1.0}) if digest else None
        if digest and scores:
            measured += 1
            found[digest] = scores
    if not found:
        return None
    return Newcomers(measured, number, over_seeds(list(found.values()), game))
