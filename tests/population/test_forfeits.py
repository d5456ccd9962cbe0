"""What the author of a program is told that crashed: nothing of how a hidden opponent plays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from arena import Arena, game
from arena.audit import Suspicion
from arena.tally import PlayReport
from oracle.values import Failure, Opponent, Rejected, Score, Task
from population.evaluator import Evaluator, Lineage
from population.matches import Matches

SPY = '''import random


class Agent:
    """Throws rock, and in some matches crashes with all that it saw{but}."""

    def __init__(self):
        self.seen = ""
        self.crashes = random.random() < {chance}

    def act(self, observation):
        self.seen += (observation["opponent_action"] or "")[:1]
        if self.crashes and len(self.seen) == 900{condition}:
            raise RuntimeError("I saw " + self.seen)
        return "ROCK"
'''
AT_HIDDEN = SPY.format(chance=1.0, but=", but rock", condition=' and set(self.seen) != {"R"}')
AT_ALL = SPY.format(chance=0.4, but="", condition="")


def told(arena: Arena, *sources: str) -> list[str]:
    """Of programs that meet rockbot, whom they are told of, and two others, whom they are not."""
    played = game("rrps")

    def opponents(*refs: str) -> tuple[Opponent, ...]:
        targets = [arena.policy(ref, played) for ref in refs]
        return tuple(Opponent(one.digest, one.ref, "", 1.0 / len(refs)) for one in targets)

    hidden = opponents("house/greenberg", "house/randbot")
    task = Task(played, opponents("house/rockbot"), "", 1, "k01", hidden=hidden, hidden_share=0.5)
    evaluate = Evaluator(Matches(arena, played), task, "test/spy", 4, lambda source: Lineage())
    found = [one for one in evaluate(sources) if isinstance(one, Failure)]
    assert all(one.kind is Rejected.FAULTY for one in found)
    assert not any(one.digest[:6] in failure.reason for one in hidden for failure in found)
    return [one.reason for one in found if "trial match" not in one.reason]


def test_a_crash_against_a_hidden_opponent_tells_its_kind_and_its_line(arena: Arena) -> None:
    assert told(arena, AT_HIDDEN) == [
        "crashed against a hidden opponent: RuntimeError in line 14 "
        "(no more is told: others meet the same opponents)"
    ]


def test_where_a_shown_opponent_saw_a_crash_that_one_is_told(arena: Arena) -> None:
    """In the program's own words, and counted among matches with shown opponents alone."""
    sources = [AT_ALL + f"# {number}\n" * number for number in range(8)]  # some pass their trials
    found = told(arena, *sources)
    shown = [reason for reason in found if "hidden" not in reason]
    assert shown
    for reason in shown:
        count, _, rest = reason.removeprefix("crashed in ").partition(" of its matches, the first ")
        assert 1 <= int(count) <= 4
        assert rest.startswith("against house/rockbot@1: ")
        assert rest.endswith("RuntimeError: I saw " + "R" * 900)


class Auditor:
    """An arena whose audits catch one policy, once it was registered."""

    def __init__(self, arena: Arena, caught: str) -> None:
        self._arena, self._caught = arena, caught

    def __getattr__(self, name: str) -> Any:
        return getattr(self._arena, name)

    def play_pairs(self, *words: Any, **options: Any) -> PlayReport:
        report = self._arena.play_pairs(*words, **options)
        found = Suspicion(self._caught, "3", "at first it said what it had seen")
        return replace(report, suspicions=(found,), quarantined=(self._caught,))


def test_who_is_caught_not_to_repeat_does_not_join(arena: Arena) -> None:
    """It was registered before, as its trial repeated; a run that goes on would be refused it."""
    played = game("rrps")
    rock = arena.policy("house/rockbot", played)
    task = Task(played, (Opponent(rock.digest, rock.ref, "", 1.0),), "", 1, "k01")
    sources = [AT_HIDDEN + "# one\n", AT_HIDDEN + "# other\n"]
    evaluate = Evaluator(Matches(arena, played), task, "test/spy", 4, lambda source: Lineage())
    assert all(isinstance(one, Score) for one in evaluate(sources))
    auditing: Any = Auditor(arena, evaluate.digest(sources[0]))
    evaluate = Evaluator(Matches(auditing, played), task, "test/spy", 4, lambda source: Lineage())
    caught, other = evaluate(sources)
    assert isinstance(caught, Failure) and isinstance(other, Score)
    assert caught.kind is Rejected.FAULTY
    assert "did not come out the same when it was played again" in caught.reason
    assert "what it had seen" not in caught.reason
