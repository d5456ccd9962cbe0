"""Whose turn it is: no author's flood holds another one up for longer than a slice."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.home import open_home
from dashboards.budgets import Plan, PlayingTime, duration, told, too_slow
from dashboards.settings import Settings, Submitting
from dashboards.submissions import SubmissionQueue
from dashboards.tickets import Stage, Ticket
from dashboards.turns import in_order
from tests.dashboards.queues import OPPONENTS, ScriptedArena, entry, opened, until_over, wait

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def ticket(number: int, author: str) -> Ticket:
    name = f"{author}/x" if author else ""
    return Ticket(number, f"{number:032x}", "leduc", author, name, Stage.WAITING, NOW, NOW)


authors = st.lists(st.sampled_from(["", "ada", "bob", "eve"]), max_size=12)


@given(authors, st.dictionaries(st.sampled_from(["ada", "bob"]), st.floats(0, 9)), st.booleans())
def test_everybody_gets_a_turn_before_anybody_gets_two(
    who: list[str], used: dict[str, float], check_next: bool
) -> None:
    tickets = [ticket(number, author) for number, author in enumerate(who)]
    order = in_order(reversed(tickets), used, check_next=check_next)
    assert sorted(one.number for one in order) == list(range(len(who)))
    rounds = [one.author for one in order if one.author]
    several = len({*rounds})
    assert len({*rounds[:several]}) == several
    first_round = [used.get(author, 0.0) for author in rounds[:several]]
    assert first_round == sorted(first_round)
    for author in {*who}:
        numbers = [one.number for one in order if one.author == author]
        assert numbers == sorted(numbers)
    if "" in who and rounds:
        assert (order[0].author == "") is check_next
        assert (order[1].author == "") is not check_next


def scripted(
    home: Path, seconds: dict[str, float], budget: PlayingTime | None = None, matches: int = 4
):
    arena = ScriptedArena(open_home(home), seconds)
    settings = Settings(
        home, submitting=Submitting.ANY_WALL, matches=matches, budget=budget or PlayingTime()
    )
    queue = SubmissionQueue(settings, arena, arena.now)
    wait(lambda: queue.opening.open is not None)
    return arena, queue


def test_a_flood_delays_the_next_author_by_one_slice(home: Path) -> None:
    names = [f"flood/{number}" for number in range(5)]
    arena, queue = scripted(home, dict.fromkeys(names, 10.0) | {"ada/one": 1.0})
    first = queue.submit(entry(names[0]))
    tickets = [first.ticket]
    tickets += [queue.submit(entry(name), first.token).ticket for name in names[1:]]
    assert arena.reached.wait(60)
    ada = queue.submit(entry("ada/one")).ticket
    waiting = queue.ticket(ada)
    assert waiting is not None
    assert queue.ahead_of(waiting) == 1  # the slice at hand
    arena.gate.set()
    for one in (*tickets, ada):
        assert until_over(queue, one).stage is Stage.DONE
    queue.leave()
    # The slice at hand, then all of ada's, who uses less than the flood in every single slice.
    assert arena.slices[:5] == ["flood/0", "ada/one", "ada/one", "ada/one", "flood/0"]
    assert len(arena.slices) == 6 * 3


def test_checks_and_submissions_take_turns(home: Path) -> None:
    arena, queue = scripted(home, {"ada/one": 1.0}, matches=8)
    mine = queue.submit(entry("ada/one")).ticket
    assert arena.reached.wait(60)
    checks = [queue.submit(entry("")).ticket for _ in range(4)]
    arena.gate.set()
    for one in (mine, *checks):
        assert until_over(queue, one).stage is Stage.DONE
    queue.leave()
    assert arena.slices[:8] == ["ada/one", "", "ada/one", "", "ada/one", "", "ada/one", ""]
    assert queue.used_today(queue.ticket(checks[0])) == 0.0


def test_a_budget_ends_a_submission_between_deals(home: Path) -> None:
    deal = 2 * OPPONENTS * 1.0
    arena, queue = scripted(
        home, {"ada/one": 1.0}, PlayingTime(2 + 2.5 * deal, 1_000.0), matches=100
    )
    arena.gate.set()
    over = until_over(queue, queue.submit(entry("ada/one")).ticket)
    assert (over.stage, over.reached, over.played) == (Stage.DONE, 4, 4 * OPPONENTS)
    assert over.spent == pytest.approx(2 + 2 * deal)
    said = [event.text for event in queue.log(over)]
    assert any("enough for no other deal: 4 with each" in text for text in said), said
    queue.leave()


def test_who_used_up_the_day_goes_on_tomorrow(home: Path) -> None:
    deal = 2 * OPPONENTS * 1.0
    arena, queue = scripted(home, {"ada/one": 1.0}, PlayingTime(1_000.0, 2 + 1.5 * deal), matches=4)
    arena.gate.set()
    one = queue.submit(entry("ada/one")).ticket
    wait(lambda: queue.waits_for_tomorrow(queue.ticket(one)))
    assert queue.ticket(one).stage is Stage.PLAYING
    slices = len(arena.slices)
    arena.moment = arena.moment.replace(day=2, hour=0)
    over = until_over(queue, one)
    assert (over.stage, over.played) == (Stage.DONE, 4 * OPPONENTS)
    assert len(arena.slices) > slices
    queue.leave()


def test_the_real_arena_is_fair_too(new_home) -> None:
    home = new_home()
    queue = opened(home, matches=4)
    slow = "sum(range(20_000))"
    first = queue.submit(entry("flood/0", line=slow))
    names = [f"flood/{number}" for number in range(1, 4)]
    others = [queue.submit(entry(name, line=slow), first.token).ticket for name in names]
    tickets = [first.ticket, *others]
    wait(lambda: queue.ticket(first.ticket).tries == 1)
    ada = queue.submit(entry("ada/quick")).ticket
    for one in (*tickets, ada):
        over = until_over(queue, one)
        assert (over.stage, over.played) == (Stage.DONE, 4 * OPPONENTS), over
    queue.leave()
    mine = queue.log(queue.ticket(ada))
    came = next(event.at for event in mine if event.text == "taken in")
    tried = next(event.at for event in mine if event.text.startswith("registered"))
    ended = [
        event.at
        for one in tickets
        for event in queue.log(queue.ticket(one))
        if event.text.startswith(("registered", "played"))
    ]
    assert len(ended) == 4 * 3
    assert sum(came < at < tried for at in ended) <= 1


def test_plans_say_the_numbers() -> None:
    plan = Plan(match_seconds=18.0, opponents=43, wanted=8, allowed=1_800.0)
    assert plan.needed == 18.0 * 43 * 8
    assert plan.matches == 2
    assert told(plan, 0.018, "throw") == (
        "about 18 ms a throw: 43 opponents x 8 matches need 1.7 h; it may use 30 minutes: so "
        "2 matches with each are played"
    )
    tight = Plan(18.0, 43, 8, 900.0)
    assert tight.matches == 0
    said = too_slow(tight, 0.018, "throw")
    assert "18 ms a throw" in said
    assert "26 minutes" in said
    assert "15 minutes" in said
    roomy = Plan(0.1, 43, 8, 900.0)
    assert roomy.matches == 8
    assert "34 s, of 15 minutes" in told(roomy, 0.0001, "throw")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (0.00004, "40 µs"),
        (0.018, "18 ms"),
        (2.54, "2.5 s"),
        (90, "90 s"),
        (1_800, "30 minutes"),
        (7_200, "2 h"),
        (6_192, "1.7 h"),
    ],
)
def test_durations_have_the_unit_that_suits(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@given(
    st.floats(1e-6, 1e4),
    st.integers(1, 60),
    st.integers(1, 100),
    st.floats(0.0, 1e6),
)
def test_a_plan_never_exceeds_what_is_allowed(
    seconds: float, opponents: int, wanted: int, allowed: float
) -> None:
    plan = Plan(seconds, opponents, wanted, allowed)
    assert 0 <= plan.matches <= wanted
    assert plan.matches * opponents * seconds <= allowed * (1 + 1e-9)
    if plan.matches < wanted:
        assert plan.matches % 2 == 0
