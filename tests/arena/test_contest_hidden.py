"""Who can be in a hidden population, and what becomes of who cannot any more."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from arena.contest.final import begun, counting
from arena.contest.issuing import issue
from arena.contest.playing import play_again
from arena.contest.reading import facts_in
from arena.contest.verification import verify
from arena.errors import UsageFault
from arena.games import GAMES
from arena.kinds.mixture import payload_of
from arena.submission import prepare
from registry import Status
from registry.values import Submission
from tests.arena.contests import FIRST, OTHER, PROCESS, SECOND, SECRET, play_final

SOON = timedelta(minutes=10)


def put(arena, name, kind, payload):
    made = Submission("kuhn", name, kind, payload, status=Status.CANDIDATE)
    if kind == "python":
        made = prepare(GAMES["kuhn"], payload, name=name, status=Status.CANDIDATE)
    return arena.home.registry.submit(made, reserved=True).version


def mixture(arena, name, *refs):
    members = [arena.policy(ref, "kuhn").digest for ref in refs]
    return put(arena, name, "mixture", payload_of(dict.fromkeys(members, 1 / len(members))))


def entered(arena):
    for name, source in (("ada/x", FIRST), ("bob/y", SECOND)):
        assert arena.submit(source, "kuhn", name).created


def certified(arena, name):
    """The certificate of a tournament that is over, which has to hold."""
    play_final(arena.home, name, arena.home.registry.tournament(name).closes)
    document = issue(arena.home, name)
    assert not [one.problem for one in verify(document) if one.problem]
    return document


def test_who_could_not_play_or_not_be_played_again_is_not_taken(new_arena):
    arena = new_arena()
    registry, closes = arena.home.registry, datetime.now(UTC) + SOON
    put(arena, "agent/llm", "llm", '{"x":1}')
    put(arena, "csro/k01", "python", OTHER)
    mixture(arena, "csro/mix", "csro/k01", "house/AlwaysPass")
    bad = put(arena, "csro/k02", "python", SECRET)
    registry.set_status(bad.digest, Status.QUARANTINED, "does not repeat")
    for ref, said in (
        ("agent/llm", "of kind llm, .* Name a policy of kind python"),
        ("csro/mix", "csro/k01@1 is not the house's.* Name its members instead"),
        ("csro/k02@1", r"in quarantine \(does not repeat\).*arena reinstate"),
    ):
        with pytest.raises(UsageFault, match=f"{ref}.* cannot be hidden.*{said}"):
            arena.office.announce("spring", "kuhn", None, closes, hidden=["house/AlwaysPass", ref])
    kept = put(arena, "operator/old-x", "python", FIRST)
    registry.set_status(kept.digest, Status.QUARANTINED, "does not repeat")
    with pytest.raises(UsageFault, match="operator/old-x@1 cannot be hidden"):
        arena.office.announce("spring", "kuhn", None, closes, secret=[("x", FIRST)])
    assert registry.tournaments() == ()


def test_what_is_taken_is_played_again_from_the_certificate_alone(new_arena):
    arena = new_arena()
    mixed = mixture(arena, "csro/mix", "house/AlwaysPass", "house/AlwaysBet")
    put(arena, "csro/k01", "python", OTHER)
    closes = datetime.now(UTC) + SOON
    hidden = ["house/AlwaysPass", mixed.ref, "csro/k01"]
    arena.office.announce("spring", "kuhn", None, closes, matches=2, hidden=hidden)
    entered(arena)
    document = certified(arena, "spring")
    assert len(document["hidden"]) == 3 and not document["disqualified"]
    (finding,) = play_again(
        facts_in(document), 14, chance=random.Random(1), workers=1, wall=PROCESS
    )
    assert finding.problem == ""


def test_a_final_comes_to_its_end_whoever_drops_out_of_the_hidden_ones(new_arena):
    """Once it has begun it keeps every other final waiting."""
    arena = new_arena()
    registry, began = arena.home.registry, datetime.now(UTC)
    asked = put(arena, "agent/llm", "llm", '{"x":1}')  # announced when everything was taken
    first, second = (
        put(arena, f"csro/k0{n}", "python", one) for n, one in enumerate((OTHER, SECRET))
    )
    hidden = [asked.digest, first.digest, second.digest]
    registry.announce("spring", "kuhn", began, began + SOON, matches=2, hidden=hidden)
    registry.announce("summer", "kuhn", began, began + SOON, matches=2, hidden=[asked.digest])
    entered(arena)
    registry.set_status(first.digest, Status.QUARANTINED, "does not repeat")
    _, _, pairs = begun(arena.home, "spring", began + SOON)
    assert len(pairs) == 1 + 2 * 1
    play_final(arena.home, "spring", began + SOON)
    registry.set_status(first.digest, Status.CANDIDATE, "looked at it")
    with pytest.raises(UsageFault, match="let  arena tournament final spring  go on"):
        issue(arena.home, "spring")
    registry.set_status(second.digest, Status.QUARANTINED, "nor does this")
    document = certified(arena, "spring")
    assert [one["names"] for one in document["hidden"]] == [["csro/k00@1"]]
    assert [(one["ref"], one["reason"]) for one in document["disqualified"]] == [
        ("agent/llm@1", "it is played by asking a language model"),
        ("csro/k01@1", "nor does this"),
    ]
    # Nobody is left of its population: its entrants are measured against each other.
    document = certified(arena, "summer")
    assert not document["hidden"] and len(document["matches"]) == 2


def test_a_certificate_names_the_kept_name_where_a_run_tried_the_same(new_arena):
    arena = new_arena()
    registry, began = arena.home.registry, datetime.now(UTC)
    secret = [("shy", SECRET)]
    arena.office.announce("spring", "kuhn", None, began + SOON, matches=2, secret=secret)
    entered(arena)
    tried = put(arena, "csro/ada-k01", "python", SECRET)
    assert [one.ref for one in tried.credits] == ["csro/ada-k01@1", "operator/spring-shy@1"]
    assert len(counting(arena.home, registry.tournament("spring"))) == 2
    document = certified(arena, "spring")
    assert [one["names"] for one in document["hidden"]] == [["operator/spring-shy@1"]]
