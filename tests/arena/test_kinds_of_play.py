"""Trial, rated play and audit: the arena asks the wall for the same, whichever of them it is.

That a policy cannot tell matches apart from inside a box is held by
`tests/sandbox/test_one_kind_of_play.py`; here it is what the arena puts into the box.
"""

import json
import random
from dataclasses import dataclass, field

import pytest

from arena import Enrolled, Rejection
from arena.games.rrps.game import RRPS
from arena.source_check import Reading
from arena.submission import prepare
from arena.values import Match
from sandbox.choose import open_wall
from sandbox.values import Limits

PLAIN = (
    "import random\n\nclass Agent:\n    def act(self, observation):\n"
    "        return random.choice(['ROCK', 'PAPER', 'SCISSORS'])\n"
)
LOOKS = '''import hashlib
import json
import random
import time
from datetime import datetime
from random import _os as os


def room():
    hoard = []
    try:
        while True:
            hoard.append(bytes(1 << 22))
    except MemoryError:
        return len(hoard)


def attempt(look):
    try:
        return repr(look())
    except BaseException as error:
        return type(error).__name__


class Agent:
    """Looks at everything that might say what it is being played for."""

    instances = 0

    def __init__(self):
        Agent.instances += 1
        sys = os.sys
        self.own = [hashlib.sha256(repr(random.getstate()).encode()).hexdigest()]
        self.around = {
            "clocks": [time.time(), time.perf_counter(), datetime.now().isoformat()],
            "modules": sorted(sys.modules),
            "globals": sorted(globals()),
            "arguments": [sys.argv, sys.orig_argv, sorted(os.environ.items())],
            "numbers": [attempt(look) for look in (os.getpid, os.getuid, os.getcwd, os.cpu_count)],
            "hashes": [hash("x"), hash(None), hash((None, 1.5))],
            "instances": Agent.instances,
            "recursion": sys.getrecursionlimit(),
            "room": room(),
        }

    def act(self, observation):
        self.own.append(observation)
'''
TELLS = (
    LOOKS
    + """        if len(self.own) > 3:
            report = {"own": self.own, "around": self.around}
            raise ValueError("REPORT" + json.dumps(report, sort_keys=True))
        return "ROCK"
"""
)
ANSWERS = (
    LOOKS
    + """        text = json.dumps([self.own[-9:], self.around], sort_keys=True)
        number = int(hashlib.sha256(text.encode()).hexdigest(), 16)
        return ["ROCK", "PAPER", "SCISSORS"][number % 3]
"""
)


@dataclass
class Watched:
    """A wall, and what was asked of it."""

    wall: object
    asked: list

    @property
    def name(self):
        return self.wall.name

    @property
    def core(self):
        return self.wall.core

    @property
    def is_crowded(self):
        return self.wall.is_crowded

    def play(self, block, external=None):
        outcomes = self.wall.play(block, external)
        self.asked.append((block, outcomes))
        return outcomes

    def close(self):
        self.wall.close()


@dataclass
class Walls:
    """All walls that are opened, and what was asked of any of them."""

    opened: list = field(default_factory=list)
    asked: list = field(default_factory=list)

    def open(self, choice, core):
        self.opened.append(Watched(open_wall(choice, core), self.asked))
        return self.opened[-1]

    def take(self):
        """What was asked since the last call."""
        asked = list(self.asked)
        self.asked.clear()
        return asked


@pytest.fixture
def watched(monkeypatch):
    """Everything is played by this process, behind walls that are watched, and audited."""
    walls = Walls()
    monkeypatch.setattr("arena.worker_walls.open_wall", walls.open)
    monkeypatch.setattr("arena.runner.SMALL", 10_000)
    monkeypatch.setattr("arena.seeds.AUDIT_SHARE", 1.0)
    return walls


@pytest.fixture
def unchecked(monkeypatch):
    """The static check, which is no promise, lets everything pass."""
    monkeypatch.setattr("arena.submission.read_program", lambda *_: Reading(None, "", ""))


def seats(block, match):
    """Who sits where, with which seed: external seats have no program."""
    return tuple(
        (block.programs[seat.program] if seat.program >= 0 else None, seat.seed)
        for seat in match.seats
    )


def played(asked):
    """All matches that the wall was asked for, as it saw them."""
    return [(match.deal_seed, seats(block, match)) for block, _ in asked for match in block.matches]


def told(asked):
    """Reports of the policy that tells them, by the seeds of its match."""
    found = {}
    for block, outcomes in asked:
        for match, outcome in zip(block.matches, outcomes, strict=True):
            report = json.loads(outcome.fault.message.rpartition("REPORT")[2])
            found.setdefault((match.deal_seed, seats(block, match)), []).append(report)
    return found


def rock(arena):
    return arena.policy("house/rockbot", "rrps").digest


def test_the_wall_is_asked_for_the_same(arena, watched):
    submission = prepare(RRPS, PLAIN, name="me/plain")
    (entered,) = arena.enter("rrps", [submission], opponents=[rock(arena)])
    assert isinstance(entered, Enrolled)
    trial = watched.take()
    ours, starter = entered.version.digest, arena.policy("starter/rrps", "rrps").digest
    report = arena.play_pairs("rrps", {(ours, rock(arena)): 8, (ours, starter): 8})
    assert report.audited == report.played == 14
    both = watched.take()
    one, other = watched.opened
    assert one.core == other.core, "they never play at the same time"
    matches = played(both)
    assert sorted(matches, key=repr) == sorted(2 * list(dict.fromkeys(matches)), key=repr)
    assert not set(played(trial)) & set(matches), "the trial's matches are stored"
    requests = {
        (block.rules, block.isolate, block.limits, len(match.seats))
        for block, _ in (*trial, *both)
        for match in block.matches
    }
    assert len(requests) == 1
    sources = {PLAIN, arena.policy("starter/rrps", "rrps").payload}
    assert {source for block, _ in (*trial, *both) for source in block.programs} == sources


def test_a_trial_is_the_beginning_of_rated_play(new_arena, watched):
    """Who had no trial gets the same matches, seeds and all, when rated play begins."""
    tried, untried = new_arena("tried"), new_arena("untried")
    submission = prepare(RRPS, PLAIN, name="me/plain")
    assert isinstance(tried.enter("rrps", [submission], opponents=[rock(tried)])[0], Enrolled)
    trial = played(watched.take())
    digest = untried.home.registry.submit(submission).version.digest
    untried.play_pairs("rrps", {(digest, rock(untried)): 2})
    rated = played(watched.take())
    assert set(trial) == set(rated)
    assert (len(trial), len(rated)) == (3, 4), "one is played again at once, both in the audit"


def test_who_was_killed_before_its_trial_was_stored_has_it_stored_later(new_arena):
    """The same matches, and once: a program is registered before its trial's matches are stored."""
    whole, killed = new_arena("whole"), new_arena("killed")
    submission = prepare(RRPS, PLAIN, name="me/plain")
    digest = killed.home.registry.submit(submission).version.digest
    for _ in range(2):
        for arena in (whole, killed):
            assert isinstance(arena.enter("rrps", [submission])[0], Enrolled)
    stored, later = (
        {row.id: arena.match(row.id).result.moves for row in arena.matches("rrps", digest)}
        for arena in (whole, killed)
    )
    assert stored == later
    assert len(stored) == 2


def test_a_policy_sees_the_same(new_arena, watched, unchecked):
    arena = new_arena(limits=Limits(message_chars=50_000))
    submission = prepare(RRPS, TELLS, name="me/tells")
    (entered,) = arena.enter("rrps", [submission], opponents=[rock(arena)])
    assert isinstance(entered, Rejection), "it tells by a fault"
    in_trial = told(watched.take())
    ours = arena.home.registry.submit(submission).version.digest
    plain = arena.home.registry.submit(prepare(RRPS, PLAIN, name="me/plain")).version.digest
    arena.play_pairs("rrps", {(ours, rock(arena)): 4, (ours, plain): 4})
    rated = told(watched.take())
    assert {len(reports) for reports in rated.values()} == {2}, "each was audited"
    assert in_trial.keys() <= rated.keys()
    for found in (rated, in_trial):
        for match, reports in found.items():
            assert all(report == rated[match][0] for report in reports)
    around = [report["around"] for reports in rated.values() for report in reports]
    assert all(one == around[0] for one in around), "matches differ in seeds alone"
    assert len({reports[0]["own"][0] for reports in rated.values()}) == 8, "and in those they do"


def test_who_answers_by_all_that_it_sees_repeats_its_moves(new_arena, monkeypatch, unchecked):
    """In the trial, in rated play and in audits, in boxes of two workers."""
    monkeypatch.setattr("arena.seeds.AUDIT_SHARE", 1.0)
    arena = new_arena(workers=2)
    entered = arena.submit(ANSWERS, "rrps", "me/answers")
    assert isinstance(entered, Enrolled), entered
    others = [rock(arena), arena.policy("starter/rrps", "rrps").digest]
    report = arena.play_pairs("rrps", {(entered.version.digest, other): 8 for other in others})
    assert report.audited == report.played > 12
    assert (report.suspicions, report.inconclusive, report.forfeits) == ((), 0, 0)


def test_a_policys_randomness_does_not_tell_whether_it_will_be_audited(arena):
    """Bits of its seed, and its first draws, are as frequent in the sample as elsewhere."""
    seeds = arena.home.seeds()
    audited, ones = 0, [0] * 66
    for number in range(40_000):
        match = Match.between("rrps", 1, "aa", "bb", number)
        if not seeds.audits(match):
            continue
        audited += 1
        seed = seeds.of(match).seats[number % 2]
        stream = random.Random(seed)
        draws = [stream.random() < 0.5 for _ in range(3)]
        for at, bit in enumerate([seed >> place & 1 for place in range(63)] + draws):
            ones[at] += bit
    assert audited > 400
    deviation = (audited / 4) ** 0.5
    assert max(abs(count - audited / 2) for count in ones) < 4.5 * deviation
