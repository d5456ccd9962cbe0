"""Audits: whoever does not repeat is found, by whatever way of playing, and its code stays out."""

from dataclasses import replace
from itertools import pairwise

import pytest

from arena import Enrolled, Rejection
from arena.audit import compare
from arena.conduct import in_words
from arena.games.rrps.game import RRPS
from arena.plan import bout_of
from arena.store import Verdict
from arena.submission import prepare
from arena.values import Match, Result, Termination
from registry.values import Status

HONEST = (
    "import random\n\nclass Agent:\n    def act(self, observation):\n"
    "        return random.choice(['ROCK', 'PAPER', 'SCISSORS'])\n"
)
LEAKS = '''import math


class Agent:
    """Counts its throws in a module that all its matches of a worker share."""

    def act(self, observation):
        math.thrown = getattr(math, "thrown", 0) + 1
        return ["ROCK", "PAPER", "SCISSORS"][math.thrown % 7 % 3]
'''
ADDRESSES = '''class Agent:
    """Goes by where its objects are in memory, but only after a while."""

    def __init__(self):
        self.throws = 0

    def act(self, observation):
        self.throws += 1
        return ["ROCK", "PAPER", "SCISSORS"][id(object()) // 16 % 3 if self.throws > 500 else 0]
'''
OF_THE_BOX = '''class Agent:
    """Goes by where its box has a type of Python's: all matches in there show it the same."""

    def __init__(self):
        self.throws = 0

    def act(self, observation):
        self.throws += 1
        return ["ROCK", "PAPER", "SCISSORS"][(hash(int) >> self.throws % 32) % 3]
'''
ORDINARY = {
    "ties": """
class Agent:
    def __init__(self):
        self.seen = []

    def act(self, observation):
        self.seen.append(observation["opponent_action"])
        return max(set(self.seen), key=self.seen.count) or "PAPER"
""",
    "tuples-with-none": """
class Agent:
    def __init__(self):
        self.seen = set()

    def act(self, observation):
        self.seen.add((None, observation["opponent_action"]))
        moves = [theirs for _, theirs in self.seen if theirs] + ["ROCK"]
        return moves[0]
""",
    "no-seeds": """
import random
import numpy as np

class Agent:
    def __init__(self):
        self.rng, self.numbers = random.Random(), np.random.default_rng()

    def act(self, observation):
        number = self.rng.randrange(3) + int(self.numbers.integers(3)) + np.random.randint(3)
        return ["ROCK", "PAPER", "SCISSORS"][number % 3]
""",
    "clocks": """
import random
import time
from datetime import datetime

class Agent:
    def __init__(self):
        self.rng = random.Random(datetime.now().isoformat())

    def act(self, observation):
        until, number = time.perf_counter() + 0.002, 0
        while time.perf_counter() < until:
            number += self.rng.randrange(3)
        return ["ROCK", "PAPER", "SCISSORS"][number % 3]
""",
    "cycles": """
import random
import weakref

class Idea:
    def __init__(self):
        self.me = self

class Agent:
    def __init__(self):
        self.alive = weakref.WeakValueDictionary()

    def act(self, observation):
        idea = Idea()
        self.alive[random.random()] = idea
        return ["ROCK", "PAPER", "SCISSORS"][len(self.alive) % 3]
""",
    "hungry": """
import random

class Agent:
    memory = {}

    def __init__(self):
        self.table = bytearray(random.randbytes(1 << 20) * 40)

    def act(self, observation):
        Agent.memory[observation["opponent_action"]] = len(Agent.memory)
        return ["ROCK", "PAPER", "SCISSORS"][self.table[random.randrange(40 << 20)] % 3]
""",
}
"""What people and language models write, and what could be taken for a cheat."""


@pytest.fixture
def everything_is_audited(monkeypatch):
    monkeypatch.setattr("arena.seeds.AUDIT_SHARE", 1.0)


def digests(arena, *names):
    return [arena.policy(f"house/{name}", "rrps").digest for name in names]


def registered(arena, name, source):
    """Past the trial, as if it had behaved there."""
    return arena.home.registry.submit(prepare(RRPS, source, name=name)).version.digest


def test_honest_policies_repeat(arena, everything_is_audited):
    honest = registered(arena, "me/honest", HONEST)
    wanted = {(honest, bot): 4 for bot in digests(arena, "rockbot", "greenberg", "randbot")}
    report = arena.play_pairs("rrps", wanted)
    assert report.audited == report.played == 12
    assert report.suspicions == ()
    assert {one.verdict for one in arena.home.store.audits()} == {Verdict.SAME}


@pytest.mark.parametrize("shared", [True, False])
def test_ordinary_programs_repeat_in_another_box(new_arena, everything_is_audited, shared):
    arena = new_arena()
    ours = [
        registered(arena, f"me/{name}", source)
        for name, source in ORDINARY.items()
        # When the collector runs depends on all instances of a worker; see sandbox/README.md.
        if not (shared and name == "cycles")
    ]
    wanted = dict.fromkeys(pairwise(ours), 4)
    report = arena.play_pairs("rrps", wanted, shared=shared)
    assert report.audited == report.played == 4 * len(wanted)
    assert report.suspicions == ()
    assert (report.forfeits, report.inconclusive) == (0, 0)
    arena.close()  # and with it the box; what comes now is played in another one
    stored = [arena.match(row.id).result for row in arena.matches("rrps", limit=None)]
    again = arena.runner.play_again(RRPS, stored)
    assert [result.moves for result in again] == [result.moves for result in stored]


def test_the_sample_is_secret_and_small(arena):
    honest = registered(arena, "me/honest", HONEST)
    seeds = arena.home.seeds()
    (rock,) = digests(arena, "rockbot")
    matches = [Match.between("rrps", 1, honest, rock, n) for n in range(4_000)]
    chosen = [match for match in matches if seeds.audits(match)]
    assert 30 < len(chosen) < 110
    arena.reveal_season()
    again = [match for match in matches if arena.home.seeds().audits(match)]
    assert chosen != again, "another key, another sample"


def test_whoever_ends_a_request_early_owes_its_audits(arena, everything_is_audited):
    suspect = registered(arena, "me/addresses", ADDRESSES)
    honest = registered(arena, "me/honest", HONEST)
    (rock,) = digests(arena, "rockbot")

    class Enough(Exception):
        pass

    def until_the_first(done, wanted):
        raise Enough

    for one in (suspect, honest):
        with pytest.raises(Enough):
            arena.play_pairs("rrps", {(one, rock): 2}, progress=until_the_first)
    stored = {row.id for row in arena.matches("rrps", limit=None)}
    assert len(stored) == 4 and not arena.home.store.audits()
    arena.runner.settle()
    assert {one.match.id for one in arena.home.store.audits()} == stored
    assert arena.policy(suspect, "rrps").status is Status.QUARANTINED
    assert arena.policy(honest, "rrps").status is Status.QUALIFIED
    arena.runner.settle()  # owed once
    assert len(arena.home.store.audits()) == 4


@pytest.mark.parametrize("shared", [True, False])
def test_who_goes_by_addresses_is_quarantined_with_evidence(arena, everything_is_audited, shared):
    suspect = registered(arena, "me/addresses", ADDRESSES)
    (rock,) = digests(arena, "rockbot")
    report = arena.play_pairs("rrps", {(suspect, rock): 4}, shared=shared)
    assert {one.digest for one in report.suspicions} == {suspect}
    assert report.quarantined == (suspect,)
    version = arena.policy(suspect, "rrps")
    assert version.status is Status.QUARANTINED
    assert "from move 1000" in version.status_reason or "from move 1" in version.status_reason
    found = arena.home.store.audits(of=suspect)
    assert found and {one.verdict for one in found} == {Verdict.DIFFERENT}
    conduct = arena.conduct(suspect, "rrps")
    assert conduct.audits.different == len(found)
    assert (conduct.played.sandboxed, conduct.played.shared) == (4, 4 if shared else 0)
    told = in_words(conduct)
    assert ("a process shared with others" in told["matches"]) is shared
    assert found[0].match.id[:12] in told["finding 1"]


@pytest.mark.parametrize("matches", [2, 24])  # in this process, and in workers
def test_who_goes_by_what_a_box_has_in_common_is_found_in_another(
    arena, everything_is_audited, matches
):
    suspect = registered(arena, "me/of-the-box", OF_THE_BOX)
    honest = registered(arena, "me/honest", HONEST)
    (rock,) = digests(arena, "rockbot")
    report = arena.play_pairs("rrps", {(suspect, rock): 2 + matches, (honest, rock): matches})
    assert (report.audited, report.quarantined) == (report.played, (suspect,))
    assert len(report.suspicions) == report.played - matches


def test_a_stored_match_is_verified_in_another_box(arena):
    suspect = registered(arena, "me/of-the-box", OF_THE_BOX)
    arena.play_pairs("rrps", {(suspect, *digests(arena, "rockbot")): 2})
    stored = [arena.match(row.id).result for row in arena.matches("rrps", suspect)]
    again = arena.runner.play_again(RRPS, stored)
    assert [one.moves for one in again] != [one.moves for one in stored]


def test_who_leaks_between_its_matches_is_found_where_workers_are_shared(
    arena, everything_is_audited
):
    leaks = registered(arena, "me/leaks", LEAKS)
    wanted = {(leaks, bot): 4 for bot in digests(arena, "rockbot", "pibot")}
    report = arena.play_pairs("rrps", wanted, shared=True)
    assert {one.digest for one in report.suspicions} == {leaks}


def test_a_process_for_each_match_leaves_nothing_to_leak(arena, everything_is_audited):
    leaks = registered(arena, "me/leaks", LEAKS)
    wanted = {(leaks, bot): 4 for bot in digests(arena, "rockbot", "pibot")}
    report = arena.play_pairs("rrps", wanted)
    assert report.suspicions == ()
    moves = {arena.match(row.id).result.moves[:40] for row in arena.matches("rrps", leaks)}
    assert len(moves) <= 4, "the same throws in every match, against two bots in two seats"


@pytest.mark.parametrize("source", [ADDRESSES, OF_THE_BOX])
def test_a_trial_finds_what_does_not_repeat(arena, source):
    found = arena.submit(source, "rrps", "me/addresses")
    assert isinstance(found, Rejection)
    assert found.kind == "does-not-repeat"
    assert "random" in found.message
    assert arena.policies("rrps", author="me") == ()


def test_another_layout_does_not_lift_a_quarantine(arena, everything_is_audited):
    suspect = registered(arena, "me/leaks", LEAKS)
    (rock,) = digests(arena, "rockbot")
    arena.play_pairs("rrps", {(suspect, rock): 4}, shared=True)
    for edited in (
        "# nothing to see here\n" + LEAKS,
        LEAKS.replace(
            '"""Counts its throws in a module that all its matches of a worker share."""', "pass"
        ),
        LEAKS.replace("observation", "seen"),
    ):
        again = arena.submit(edited, "rrps", "me/other")
        assert isinstance(again, Rejection)
        assert again.kind == "quarantined"
        assert "me/leaks@1" in again.message
    assert isinstance(arena.submit(HONEST, "rrps", "me/honest"), Enrolled)


def test_an_attack_in_an_annotation_takes_nobody_along(arena, everything_is_audited):
    """A program with another's code and a patch where Python runs what no digest once counted."""
    framer = registered(
        arena,
        "mallory/framer",
        HONEST.replace(
            "observation",
            "observation: setattr(random, 'choice', lambda throws: throws[id([]) // 64 % 3])",
        ),
    )
    victim = registered(arena, "me/honest", HONEST)
    (rock,) = digests(arena, "rockbot")
    report = arena.play_pairs("rrps", {(framer, rock): 12, (victim, rock): 2}, shared=False)
    assert report.quarantined == (framer,)
    assert arena.policy(victim, "rrps").status is Status.QUALIFIED


def test_every_version_of_the_code_is_quarantined_at_once(arena, everything_is_audited):
    first = registered(arena, "me/leaks", LEAKS)
    second = registered(arena, "me/twin", LEAKS + "\n\n# another file, the same code\n")
    (rock,) = digests(arena, "rockbot")
    report = arena.play_pairs("rrps", {(first, rock): 4}, shared=True)
    assert set(report.quarantined) == {first, second}


MATCH = Match("rrps", 1, "aa", "bb", 0)


def result(moves, termination=Termination.COMPLETED, fault_seat=None):
    return Result(MATCH, 1, (0.0, 0.0), termination, fault_seat, "", bytes(moves), "process", 0.1)


@pytest.fixture
def bout(arena):
    return bout_of(MATCH, arena.home.seeds(), lambda digest, seed: digest)


@pytest.mark.parametrize(
    ("again", "verdict", "suspect"),
    [
        (result([0, 1] * 1000), Verdict.SAME, None),
        (result([0, 1, 2, 1] + [0, 1] * 998), Verdict.DIFFERENT, "aa"),
        (result([0, 1, 0, 2] + [0, 1] * 998), Verdict.DIFFERENT, "bb"),
        (result([0, 1] * 10, Termination.TIMED_OUT, 1), Verdict.INCONCLUSIVE, None),
        (result([0, 1] * 9 + [0, 2], Termination.TIMED_OUT, 1), Verdict.DIFFERENT, "bb"),
        (result([0, 1] * 10, Termination.OUT_OF_MEMORY, 0), Verdict.DIFFERENT, "aa"),
        (result([0, 1] * 10, Termination.CRASHED, 1), Verdict.DIFFERENT, "bb"),
        (result([0, 1] * 10, Termination.DIED, 1), Verdict.INCONCLUSIVE, None),
    ],
)
def test_an_own_error_in_the_second_playing_is_a_difference(bout, again, verdict, suspect):
    stored = result([0, 1] * 1000)
    found = compare(RRPS, bout, stored, again)
    assert (found.verdict, found.suspect) == (verdict, suspect)
    other = compare(RRPS, bout, again, stored)
    assert other.verdict is verdict


@pytest.mark.parametrize(
    ("first", "second", "suspect"),
    [
        # Seat 0 is looked at first: where seat 1 is named, seat 0 had answered.
        ((Termination.CRASHED, 1), (Termination.CRASHED, 0), "aa"),
        ((Termination.TIMED_OUT, 1), (Termination.ILLEGAL_ACTION, 0), "aa"),
        ((Termination.CRASHED, 1), (Termination.TIMED_OUT, 0), None),
        ((Termination.CRASHED, 1), (Termination.ILLEGAL_ACTION, 1), "bb"),
        ((Termination.CRASHED, 1), (Termination.DIED, 1), None),
    ],
)
def test_who_errs_in_the_same_throw_is_not_blamed_for_the_other(bout, first, second, suspect):
    verdict = Verdict.DIFFERENT if suspect else Verdict.INCONCLUSIVE
    one, other = (result([0, 1] * 10, *ended) for ended in (first, second))
    for found in (compare(RRPS, bout, one, other), compare(RRPS, bout, other, one)):
        assert (found.verdict, found.suspect) == (verdict, suspect)


def test_a_process_that_dies_every_time_did_not_die_of_a_full_machine(bout):
    stored = result([0, 1] * 1000)
    dead = compare(RRPS, bout, stored, result([0, 1] * 10, Termination.DIED, 1), last=True)
    late = compare(RRPS, bout, stored, result([0, 1] * 10, Termination.TIMED_OUT, 1), last=True)
    assert (dead.verdict, dead.suspect) == (Verdict.DIFFERENT, "bb")
    assert late.verdict is Verdict.INCONCLUSIVE


def test_two_kinds_of_wall_prove_nothing_but_what_comes_out_the_same(bout):
    stored = result([0, 1] * 1000)
    other = replace(result([0, 2] * 1000), wall="gvisor")
    assert compare(RRPS, bout, stored, other).verdict is Verdict.INCONCLUSIVE
    alike = replace(stored, wall="gvisor")
    assert compare(RRPS, bout, stored, alike).verdict is Verdict.SAME
    together = replace(other, wall=f"{stored.wall}+lockstep")
    assert compare(RRPS, bout, stored, together).verdict is Verdict.DIFFERENT
