"""The file of runs: what is stored comes back, and files of older programs still open."""

from __future__ import annotations

import os
import sqlite3
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from arena.analysis.stationary import Ceiling
from oracle.end import End, Ended
from oracle.models.journal import SqliteJournal
from oracle.models.protocol import Reply, Request
from oracle.values import Against, Attempt, Failure, Rejected, Score
from population.errors import RunsUnusable
from population.exploits import kept_exploits
from population.limits import keep, kept
from population.oracles import Spending
from population.records import Effort, Iteration, Sigma
from population.runs import FILE, Runs
from population.schema import VERSION
from tests.population.small_run import small_config
from tests.unprivileged import in_child, reachable_folder

SCORE = Score(1.5, 0.25, (Against("a" * 32, 1.5, 0.25, 8, forfeited=1, weight=1.0),))
REFUSED = Failure(Rejected.NO_CODE, "no code in the reply")
ATTEMPTS = (
    Attempt(0, "", "k01/a00/r2", "", None, REFUSED, False, repairs=2),
    Attempt(1, "a" * 32, "k01/a01/r1", "b" * 32, SCORE, None, True, repairs=1),
    Attempt(2, "a" * 32, "", "c" * 32, replace(SCORE, stopped=True), None, False),
)


END = End((Ended.REACHED, Ended.NOISE), Ceiling(7.5, 0.5, exact=False, decisions=99))


def iteration(k: int, end: End | None = END) -> Iteration:
    sigma = Sigma({"a" * 32: 1.0}, 0.0, "nash", {"slack": 2.0})
    parts, effort = SCORE.against, Effort(matches=8)
    return Iteration(k, sigma, "b" * 32, SCORE.u, SCORE.stderr, ATTEMPTS, effort, end, parts)


def test_iterations_come_back_as_they_were_stored(tmp_path: Path) -> None:
    Runs(tmp_path).start("run", small_config(1))
    Runs(tmp_path).add("run", iteration(1))
    assert Runs(tmp_path).iterations("run") == (iteration(1),)


def test_a_file_without_later_columns_is_read_and_written(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    runs.start("run", small_config(1))
    runs.add("run", iteration(1))
    with sqlite3.connect(tmp_path / FILE) as connection:  # as the first programs made it
        connection.execute("alter table attempt drop column repairs")
        connection.execute("alter table attempt drop column stopped")
        connection.execute("alter table run drop column limits")
        connection.execute("alter table iteration drop column ended")
        connection.execute("alter table iteration drop column against")
        connection.execute("alter table exploit drop column ended")
    connection.close()
    again = Runs(tmp_path)
    assert [attempt.repairs for attempt in again.iterations("run")[0].attempts] == [0, 0, 0]
    assert [one.fate for one in again.iterations("run")[0].attempts][2] == "not kept"
    assert [one.fate for one in ATTEMPTS] == ["rejected", "kept", "given up"]
    assert (again.iterations("run")[0].end, again.iterations("run")[0].against) == (None, ())
    again.add("run", iteration(2))
    assert Runs(tmp_path).iterations("run")[1] == iteration(2)
    assert (again.done("run"), again.done("nobody")) == (2, 0)
    given = Spending(max_cost=1.0)
    assert kept(again, "run", given) == given
    assert keep(again, "run", given) == kept(Runs(tmp_path), "run", Spending()) == given


@pytest.mark.parametrize("old", [False, True])
def test_a_lost_file_of_runs_is_an_error_and_no_silent_beginning(tmp_path: Path, old: bool) -> None:
    assert Runs(tmp_path).all() == ()  # no run yet, so nothing to lose
    (tmp_path / FILE).unlink()
    Runs(tmp_path).start("run", small_config(1))
    if old:  # an earlier program left no mark; looking at its runs does
        (tmp_path / FILE).with_suffix(".mark").unlink()
        assert len(Runs(tmp_path).all()) == 1
    for lose in ((tmp_path / FILE).unlink, (tmp_path / FILE).touch):
        lose()
        with pytest.raises(RunsUnusable, match="is gone or empty: put it back"):
            Runs(tmp_path)
    (tmp_path / FILE).with_suffix(".mark").unlink()
    assert Runs(tmp_path).all() == ()


def test_a_file_of_a_newer_program_is_refused(tmp_path: Path) -> None:
    Runs(tmp_path)
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute(f"pragma user_version = {VERSION + 1}")
    connection.close()
    with pytest.raises(RunsUnusable, match="update policy-arena"):
        Runs(tmp_path)


@pytest.mark.parametrize("ending", ["", "-wal", "-journal"])
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path, ending: str) -> None:
    os.mkfifo(tmp_path / f"{FILE}{ending}")
    with pytest.raises(RunsUnusable, match="is a named pipe"):
        Runs(tmp_path)


def test_the_file_of_runs_is_its_owners_alone(tmp_path: Path) -> None:
    Runs(tmp_path)
    file = tmp_path / FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o644)  # as an earlier program left it
    Runs(tmp_path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_read_only_home_without_the_latest_columns_can_be_read() -> None:
    with reachable_folder() as folder:
        runs = Runs(folder)
        runs.start("run", small_config(1))
        runs.add("run", iteration(1))
        with sqlite3.connect(folder / FILE) as connection:
            connection.execute("alter table iteration drop column ended")
            connection.execute("alter table iteration drop column against")
            connection.execute("alter table exploit drop column ended")
        connection.close()
        (folder / FILE).chmod(0o444)
        folder.chmod(0o555)
        before = (replace(iteration(1, None), against=()),)
        assert in_child(lambda: Runs(folder).iterations("run") == before) == "True"
        assert in_child(lambda: kept_exploits(Runs(folder), "a" * 32)) == "()"


def test_a_read_only_home_can_be_read_but_not_written() -> None:
    with reachable_folder() as folder:
        runs = Runs(folder)
        runs.start("run", small_config(1))
        runs.add("run", iteration(1))
        request = Request("key", "prompt")
        SqliteJournal(folder / FILE, "run").store(request, "model", Reply("text"))
        (folder / FILE).chmod(0o444)
        folder.chmod(0o555)
        assert in_child(lambda: Runs(folder).iterations("run") == (iteration(1),)) == "True"
        told = in_child(lambda: SqliteJournal(folder / FILE, "run").calls()[0].reply.text)
        assert told == "text"
        written = in_child(lambda: Runs(folder).start("other", small_config(1)))
        assert written.startswith("RunsUnusable: ") and "readonly" in written
        worked_on = in_child(lambda: Runs(folder).working_on("run"))
        assert worked_on.startswith("RunsUnusable: ") and "is read-only" in worked_on
