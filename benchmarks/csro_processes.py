"""The `csro` command as a process that can be killed, and what its runs leave behind.

Part of csro_kills.py and csro_faults.py; it prints nothing by itself.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from arena.store import MatchStore
from population.records import RunState
from population.runs import FILE, Runs

CSRO = Path(sys.executable).parent / "csro"
SEED_KEY = bytes(32).hex()
"""Of every home: under the same key equal runs play equal matches."""
LEDGER = ("initial", "sigma", "accepted", "u", "attempts", "mixture")
"""What two equal runs have in common: everything but names and times."""


class Broken(Exception):
    """The command failed where it should not have; the message holds what it said."""


@dataclass(frozen=True)
class Run:
    """A run of CSRO through the command line.

    Attributes:
      home: its folder.
      name: what it is called.
      game: what it plays.
      options: of `csro run`, without game, name and home.
      environment: beside this process's own.
    """

    home: Path
    name: str
    game: str
    options: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def log(self) -> Path:
        """What the last process said."""
        return self.home.parent / f"{self.home.name}-{self.name}.log"

    def process(self) -> subprocess.Popen[bytes]:
        """Starts the run, or goes on with it where it was stored."""
        begun = (self.home / FILE).exists() and self.name in {one.name for one in self._runs.all()}
        words = ["resume", self.name] if begun else ["run", "--game", self.game, *self.options]
        if not begun:
            words += ["--name", self.name, "--seed-key", SEED_KEY]
        with open(self.log, "wb") as log:
            return subprocess.Popen(
                [CSRO, *words, "--home", str(self.home)],
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.environment},
                start_new_session=True,
            )

    def to_the_end(self) -> float:
        """Runs until it is finished; returns the seconds.

        Raises:
          Broken: the command fails.
        """
        started = time.perf_counter()
        self.ended(self.process())
        return time.perf_counter() - started

    def ended(self, process: subprocess.Popen[bytes]) -> None:
        """Waits for a process of this run.

        Raises:
          Broken: it fails, or the run is not finished after it.
        """
        code = process.wait()
        if code != 0 or self._runs.get(self.name).state is not RunState.FINISHED:
            raise Broken(f"csro ended with status {code} and said:\n{self.log.read_text()}")

    def killed(self, process: subprocess.Popen[bytes]) -> bool:
        """Kills a process of this run; False where the run was finished by then.

        Raises:
          Broken: it failed by itself.
        """
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        if process.wait() == -signal.SIGKILL:
            return True
        self.ended(process)
        return False

    def progress(self) -> str:
        """How much is stored."""
        done = len(self._runs.iterations(self.name)) if (self.home / FILE).exists() else 0
        played = len(self.matches())
        return f"{done} iterations and {played} matches stored"

    def ledger(self) -> dict[str, list[object]]:
        """Everything that an equal run has too, by its parts."""
        record, iterations = self._runs.get(self.name), self._runs.iterations(self.name)
        return {
            "initial": [record.initial],
            "sigma": [*((one.k, one.sigma) for one in iterations), record.final],
            "accepted": [(one.k, one.accepted) for one in iterations],
            "u": [(one.k, one.u, one.stderr) for one in iterations],
            "attempts": [(one.k, attempt) for one in iterations for attempt in one.attempts],
            "mixture": [record.mixture],
        }

    def matches(self) -> list[tuple[object, ...]]:
        """All stored matches of the home, in the order of their ids: what was played, not when."""
        path = self.home / "matches.duckdb"
        if not path.exists():
            return []
        with MatchStore(path).reading() as connection:
            rows: list[tuple[object, ...]] = connection.execute(_MATCHES, [self.game]).fetchall()
        return rows

    def doubled(self) -> int:
        """Matches that are stored, or counted into the sums of a pair, more often than once."""
        rows = self.matches()
        twice = len(rows) - len({row[0] for row in rows})
        with MatchStore(self.home / "matches.duckdb").reading() as connection:
            # Of every stored match; what people read leaves out those that chose a candidate.
            (summed,) = connection.execute("select sum(matches) from tallies").fetchall()[0]
        return twice + abs(int(summed) - len(rows))

    @property
    def _runs(self) -> Runs:
        return Runs(self.home)


_MATCHES = """
select m.id, m.repetition, m.return_low, m.termination, m.fault_seat, m.fault_message, m.moves,
       l.digest, h.digest
from matches as m join pairs as p using (pair) join games as g using (game)
join policies as l on l.policy = p.low join policies as h on h.policy = p.high
where g.name = ? order by m.id
"""


def compared(one: Run, other: Run) -> bool:
    """Prints how many entries of two runs' ledgers are equal; returns whether all are."""
    left, right = one.ledger(), other.ledger()
    same = True
    for part in LEDGER:
        size = max(len(left[part]), len(right[part]))
        equal = sum(a == b for a, b in zip(left[part], right[part], strict=False))
        same &= equal == size
        print(f"  {part:9} {equal:4} of {size:4} equal")
    return same
