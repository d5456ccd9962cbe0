"""A search within a budget of matches: what counts, who is served, and that it ends alike again."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from arena import Arena
from arena.errors import UsageFault
from arena.values import SELECTING
from oracle.alpha_evolve import AlphaEvolve, Evolution
from oracle.asking import ask
from oracle.attempts import digest_in
from oracle.best_of_n import BestOfN
from oracle.drafts import Draft
from oracle.early_stop import EarlyStop
from oracle.end import End, Ended
from oracle.values import Failure, Rejected, Score
from oracle.zero_shot import ZeroShot
from population.cli import main
from population.rationing import TRIAL, Rationed
from tests.oracle.stated_returns import Evaluation, ScriptedWriter, a_task, program

TASK = a_task(1.0)
FULL = 64
BROKEN = program(0.0, "broken", faulty=True)


class Counted(Evaluation):
    """Plays as the arena would, and counts what that takes."""

    def __init__(self) -> None:
        super().__init__(TASK)
        self.insight = None
        self.played: dict[str, int] = {}

    def needs(self, effort: float = 1.0) -> int:
        return int(FULL * effort)

    def digest(self, source: str) -> str:
        return "" if source == BROKEN else digest_in(TASK, source)

    def __call__(self, sources: Any, *, effort: float = 1.0) -> Any:
        for source in sources:
            matches = 0 if source == BROKEN else self.needs(effort)
            if source != TASK.opponents[0].source:
                self.played[source] = max(TRIAL + matches, self.played.get(source, 0))
        return super().__call__(sources, effort=effort)

    @property
    def total(self) -> int:
        return sum(self.played.values())


def rationed(budget: int) -> tuple[Rationed, Counted]:
    counted = Counted()
    return Rationed(counted, TASK, budget), counted  # type: ignore[arg-type]


def test_what_is_too_little_for_one_program_is_refused_with_the_least() -> None:
    with pytest.raises(UsageFault, match=r"65 matches are too few to score one .* takes 66: 2 of"):
        rationed(TRIAL + FULL - 1)
    rationed(TRIAL + FULL)


def test_trials_matches_and_more_effort_count_and_nothing_else_does() -> None:
    evaluate, counted = rationed(500)
    one, other = program(1.0, "one"), program(2.0, "other")
    evaluate([one, BROKEN], effort=0.25)
    assert evaluate.used == counted.total == TRIAL + 16 + TRIAL
    evaluate([one, other, BROKEN])
    assert evaluate.used == counted.total == 3 * TRIAL + 2 * FULL
    evaluate([one, other, BROKEN, TASK.opponents[0].source])
    assert evaluate.used == counted.total == 3 * TRIAL + 2 * FULL
    assert not evaluate.exceeded


def test_the_best_so_far_are_served_first_and_others_keep_their_score() -> None:
    evaluate, counted = rationed(3 * (TRIAL + 16) + 2 * 48 - 1)
    programs = [program(u, f"p{u:.0f}") for u in (1.0, 3.0, 2.0)]
    scores = evaluate([*programs, program(9.0, "late")], effort=0.25)
    assert [isinstance(one, Score) for one in scores] == [True, True, True, True]
    evaluate, counted = rationed(3 * (TRIAL + 16) + 2 * 48 - 1)
    evaluate(programs, effort=0.25)
    found = [one.against[0].matches for one in evaluate(programs) if isinstance(one, Score)]
    assert found == [16, 64, 16]
    assert evaluate.exceeded and evaluate.closed()
    (late,) = evaluate([program(9.0, "late")])
    assert isinstance(late, Failure) and late.kind is Rejected.UNPLAYED
    assert counted.total == evaluate.used <= evaluate.budget


class Dawdling(ScriptedWriter):
    """Is slow with one draft in three: those of one island, or every third one."""

    def __init__(self, slow: int) -> None:
        super().__init__(lambda draft: program(random.Random(draft.key).gauss(0, 9), draft.key))
        self._slow = slow

    def write(self, task: Any, draft: Draft) -> Draft:
        number = int(draft.key[1:2] if draft.key.startswith("i") else draft.key[1:])
        time.sleep(0.12 if number % 3 == self._slow else 0.0)
        written: Draft = super().write(task, draft)
        return written


@pytest.mark.parametrize("budget", [66, 150, 400])
def test_a_search_ends_alike_whichever_draft_is_written_first(budget: int) -> None:
    evolution = Evolution(islands=3, generations=3, drafts=2)
    for oracle in (
        lambda slow: AlphaEvolve(Dawdling(slow), evolution, workers=4),
        lambda slow: BestOfN(Dawdling(slow), 20, 4, EarlyStop()),
    ):
        answers = []
        for slow in range(3):
            evaluate, counted = rationed(budget)
            answers.append(ask(oracle(slow), TASK, evaluate))
            assert counted.total == evaluate.used <= budget
        assert answers[0].source
        assert answers[0].end == End((Ended.BUDGET,))
        assert answers[1:] == answers[:1] * 2


def test_a_search_that_needs_no_more_is_not_ended_by_its_budget() -> None:
    evaluate, _ = rationed(TRIAL + FULL)
    found = ask(ZeroShot(ScriptedWriter([program(5.0)])), TASK, evaluate)
    assert found.end == End((Ended.MADE,))
    evaluate, _ = rationed(TRIAL + FULL)
    drafts = [BROKEN, program(1.0, "never written"), program(2.0, "nor this")]
    writer = ScriptedWriter(drafts)
    found = ask(ZeroShot(writer), TASK, evaluate)
    assert (found.source, found.end, len(writer.asked)) == ("", End((Ended.BUDGET,)), 1)


def csro(home: Path, *words: str) -> Result:
    options = ("--game", "leduc", "--model", "grammar", "--sandbox", "process", "--workers", "1")
    return CliRunner().invoke(main, ["exploit", *words, *options, "--home", str(home)])


def test_the_command_keeps_to_its_budget_and_says_so(home: Path) -> None:
    few = ("--oracle", "best-of-n", "--drafts", "9", "--evaluation-matches", "8", "--matches", "12")
    told = csro(home, "house/AlwaysFold", *few, "--budget", "9")
    assert told.exit_code == 2
    assert "9 matches are too few to score one program, which takes 10" in told.stderr
    told = csro(home, "house/AlwaysFold", *few, "--budget", "20", "--json")
    assert told.exit_code == 0, told.stderr
    first = json.loads(told.stdout)
    assert first["ended"]["reasons"] == ["budget"]
    assert (first["budget"], first["matches"]) == (20, 12)
    assert 10 <= first["searched"] <= 20
    with Arena(home, sandbox="process") as arena:
        stored = arena.matches("leduc", "house/AlwaysFold", limit=None)
        choosing = [row for row in stored if row.match.repetition >= SELECTING]
        trials = {row.match.low + row.match.high for row in stored}
        assert len(choosing) + TRIAL * len(trials) == first["searched"]
    again = csro(home, "house/AlwaysFold", *few, "--budget", "20")
    assert again.exit_code == 0, again.stderr
    assert "the search ended: its matches were used up" in again.stdout
    words = f"it used {first['searched']} of 20 matches, beside the 12 that measured it"
    assert words in " ".join(again.stdout.split())
    assert f"among {first['tried']} attempts" in " ".join(again.stdout.split())
