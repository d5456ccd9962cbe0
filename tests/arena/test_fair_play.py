"""Cheats that once led the leaderboard, and what they win now: what they would win without.

Each plays for real, behind the process wall and behind gVisor, each seat by itself and in shared
workers.  Where a cheat could fail for a reason of its own, a control shows that it works as soon
as it is let in on the secret.  Listening to the opponent's thinking, and talking to other
workers, is tried in tests/sandbox/test_channels.py.
"""

import math
import os
import statistics

import pytest

from arena import Arena
from arena.store import Verdict
from registry import digest_of
from registry.values import Status, Submission
from sandbox.errors import SandboxError
from tests.conftest import SEED_KEY

STANDARD_ERRORS = 3.5
"""How far from fair is still fair: one honest test in two thousand is further."""

UNIFORM = """import random


class Agent:
    def act(self, observation):
        return random.choice(["ROCK", "PAPER", "SCISSORS"])
"""

ASTROLOGER = '''import hashlib
import random

TEXT = @@
KEYS = (b"", bytes.fromhex("@key@"), bytes(32), bytes(range(1, 33)))
OPPONENT = "@opponent@"
THROWS = ("ROCK", "PAPER", "SCISSORS")


def hashed(key, *what):
    text = "\\x1f".join(map(str, what)).encode()
    return hashlib.blake2b(text, key=key, digest_size=8)


def seeds_of(key, low, high, repetition):
    """The seeds of both seats, by the formula of the arena, which is public."""
    match = "\\x1f".join(map(str, ("match", "rrps", 1, low, high, repetition))).encode()
    name = hashlib.blake2b(match, digest_size=16).hexdigest()
    return [int.from_bytes(hashed(key, "seat", name, seat).digest(), "big") >> 1 for seat in (0, 1)]


def candidates():
    """Every match against the opponent, under every key: (seed of mine, seed of theirs)."""
    source = TEXT.replace("@" + "@", repr(TEXT), 1)
    start = hashlib.blake2b("\\x1f".join(("policy", "rrps", "python", "")).encode(), digest_size=16)
    start.update(source.encode())
    me = start.hexdigest()
    low, high = sorted((me, OPPONENT))
    for key in KEYS:
        for repetition in range(64):
            seats = (low, high) if repetition % 2 == 0 else (high, low)
            seeds = seeds_of(key, low, high, repetition)
            yield seeds[seats.index(me)], seeds[seats.index(OPPONENT)]


class Agent:
    """Reads in its own stream which match it is in, and knows what the opponent will throw."""

    def __init__(self):
        self.theirs = None
        state = random.getstate()
        for mine, theirs in candidates():
            if random.Random(mine).getstate() == state:
                self.theirs = random.Random(theirs)

    def act(self, observation):
        stream = random if self.theirs is None else self.theirs
        expected = stream.choice(THROWS)
        return THROWS[(THROWS.index(expected) + 1) % 3]
'''

TWINS = """import math

RANKS = "JQK"


class RepeatedLeducPokerBot:
    "Leaves its card where the other half of the deal looks for the opponent's; else it calls."

    def __init__(self):
        self.hand = 0

    def restart(self, player_id):
        self.me = player_id
        self.hand += 1

    def act(self, observation):
        notes = math.__dict__.setdefault("notes", {})
        mine = RANKS.index(observation["player_view"]["hand"])
        notes[self.hand, self.me] = mine
        theirs = notes.get((self.hand, 1 - self.me), mine)
        wish = "CALL" if theirs == mine else "RAISE" if mine > theirs else "FOLD"
        return wish if wish in observation["player_view"]["legal_actions"] else "CALL"

    def receive_outcome(self, observation):
        pass
"""

DODGER = '''import math


class Agent:
    """Counts throws in a module that its matches share; alone, it has no memory left."""

    def __init__(self):
        math.players = getattr(math, "players", 0) + 1
        self.throws = 0

    def act(self, observation):
        self.throws += 1
        if self.throws == 700 and math.players == 1:
            raise MemoryError
        math.thrown = getattr(math, "thrown", 0) + 1
        return ("ROCK", "PAPER", "SCISSORS")[math.thrown % 7 % 3]
'''

WANTS_IT_AGAIN = """import sys
import random


class Agent:
    def __init__(self):
        self.ahead = self.throws = 0
        self.mine = None

    def act(self, observation):
        theirs = observation["opponent_action"]
        wins = (("PAPER", "ROCK"), ("SCISSORS", "PAPER"), ("ROCK", "SCISSORS"))
        if theirs is not None and theirs != self.mine:
            self.ahead += 1 if (self.mine, theirs) in wins else -1
        self.throws += 1
        if self.throws == 900 and self.ahead < 0:
            frame = sys._getframe()
            while frame is not None:
                for value in frame.f_locals.values():
                    if isinstance(value, (list, bytearray)):
                        value.append(@code@)
                frame = frame.f_back
            raise KeyboardInterrupt
        self.mine = random.choice(("ROCK", "PAPER", "SCISSORS"))
        return self.mine
"""


@pytest.fixture(params=["process", pytest.param("gvisor", marks=pytest.mark.gvisor)])
def walled(request, new_home):
    """An arena behind each wall."""
    arena = Arena(new_home(), sandbox=request.param, workers=2)
    try:
        assert request.param in arena.wall
    except SandboxError as error:
        if os.environ.get("ARENA_TEST_REQUIRE_GVISOR") == "1" or request.param == "process":
            raise
        pytest.skip(f"gVisor is not available: {error}")
    yield arena
    arena.close()


def unchecked(arena, source, name, game="rrps"):
    """Registers what the static checks and the trial might refuse: the seal has to do it alone."""
    submission = Submission(game=game, name=name, kind="python", payload=source)
    return arena.home.registry.submit(submission).version.digest


def returns_of(arena, one, other, matches, **options):
    arena.play_pairs("rrps", {(one, other): matches}, **options)
    rows = arena.matches("rrps", one, against=other, limit=None)
    assert len(rows) == matches
    sign = 1 if one < other else -1
    return [sign * row.return_low for row in rows]


def is_fair(returns):
    """Whether the mean return is 0 within what chance does."""
    error = statistics.stdev(returns) / math.sqrt(len(returns))
    return abs(statistics.fmean(returns)) <= STANDARD_ERRORS * error


def astrologer(key, opponent):
    text = ASTROLOGER.replace("@key@", key.hex()).replace("@opponent@", opponent)
    return text.replace("@@", repr(text), 1)


def test_who_knows_the_formula_of_the_seeds_knows_nothing(walled):
    """Neither where each match has a worker of its own nor where matches share one."""
    uniform = walled.submit(UNIFORM, "rrps", "me/uniform").version.digest
    guesses = astrologer(bytes(range(100, 132)), uniform)
    cheat = walled.submit(guesses, "rrps", "me/astrologer").version.digest
    assert cheat == digest_of("rrps", "python", guesses), "it would have found itself"
    assert is_fair(returns_of(walled, cheat, uniform, 16))
    guesses += "\n"
    cheat = walled.submit(guesses, "rrps", "me/in-company").version.digest
    assert cheat == digest_of("rrps", "python", guesses), "it would have found itself"
    assert is_fair(returns_of(walled, cheat, uniform, 16, shared=True))


def test_who_has_the_key_knows_everything(arena):
    """The control: the very same program, let in on the secret."""
    uniform = arena.submit(UNIFORM, "rrps", "me/uniform").version.digest
    cheat = arena.submit(astrologer(SEED_KEY, uniform), "rrps", "me/astrologer").version.digest
    assert min(returns_of(arena, cheat, uniform, 4)) > 990
    arena.reveal_season()
    cheat = arena.submit(
        astrologer(SEED_KEY, uniform) + "\n", "rrps", "me/yesterday"
    ).version.digest
    assert is_fair(returns_of(arena, cheat, uniform, 12)), "the key of a season that is over"


def test_nobody_without_the_key_can_play_the_evaluation_at_home(new_home, tmp_path):
    """Two arenas with keys of their own deal differently to the same policies."""
    with Arena(tmp_path / "one", sandbox="process") as one, Arena(tmp_path / "two") as two:
        names = ("house/CFR+", "house/AlwaysCall")
        digests = [one.policy(name, "leduc").digest for name in names]
        for arena in (one, two):
            arena.play_pairs("leduc", {tuple(digests): 2})
        rows = [arena.matches("leduc", digests[0], against=digests[1]) for arena in (one, two)]
        assert [row.id for row in rows[0]] == [row.id for row in rows[1]]
        moves = [
            [arena.match(row.id).result.moves for row in found]
            for arena, found in zip((one, two), rows, strict=True)
        ]
        assert moves[0] != moves[1]


def halves_of(arena, policy, opponent, deals, **options):
    """What a policy won over both halves of each deal, in chips a match."""
    report = arena.play_pairs("leduc", {(policy, opponent): 2 * deals}, **options)
    assert (report.played, report.forfeits) == (2 * deals, 0)
    sign = 1 if policy < opponent else -1
    won = {}
    for row in arena.matches("leduc", policy, limit=None):
        won[row.match.deal] = won.get(row.match.deal, 0.0) + sign * row.return_low / 2
    assert len(won) == deals
    return list(won.values())


def test_a_match_has_nobody_to_exchange_cards_with(walled):
    """It never finds a note, so it calls like its opponent, and both halves cancel exactly."""
    twins = walled.submit(TWINS, "leduc", "me/twins").version.digest
    call = walled.policy("house/AlwaysCall", "leduc").digest
    assert halves_of(walled, twins, call, 6) == [0.0] * 6


def test_halves_of_a_deal_exchange_no_cards_where_matches_share_workers(walled):
    """It does find notes, but those of other deals: they help no more than invented ones."""
    deals = 48
    twins = unchecked(walled, TWINS, "me/twins", "leduc")
    invented = TWINS.replace("notes.get((self.hand, 1 - self.me), mine)", "random.randrange(3)")
    guesses = unchecked(walled, invented.replace("math", "random, math", 1), "me/guess", "leduc")
    call = walled.policy("house/AlwaysCall", "leduc").digest
    with_notes, without = (
        halves_of(walled, policy, call, deals, shared=True) for policy in (twins, guesses)
    )
    assert any(with_notes), "it found no note at all"
    gained = statistics.fmean(with_notes) - statistics.fmean(without)
    spread = math.hypot(statistics.stdev(with_notes), statistics.stdev(without))
    assert gained <= 3 * spread / math.sqrt(deals)


def test_who_plays_another_way_when_alone_is_found_by_its_audit(walled, monkeypatch):
    monkeypatch.setattr("arena.seeds.AUDIT_SHARE", 1.0)
    dodger = unchecked(walled, DODGER, "me/dodger")
    wanted = {(dodger, walled.policy(f"house/{n}", "rrps").digest): 4 for n in ("rockbot", "pibot")}
    report = walled.play_pairs("rrps", wanted, shared=True)
    assert report.inconclusive == 0
    assert dodger in report.quarantined
    assert walled.policy(dodger, "rrps").status is Status.QUARANTINED
    verdicts = {one.verdict for one in walled.home.store.audits(of=dodger)}
    assert verdicts == {Verdict.DIFFERENT}


@pytest.mark.parametrize("shared", [False, True])
def test_a_match_that_goes_badly_is_not_played_again(arena, shared):
    randbot = arena.policy("house/randbot", "rrps").digest
    for code in (240, 244, 255):
        cheat = unchecked(arena, WANTS_IT_AGAIN.replace("@code@", str(code)), f"me/again-{code}")
        report = arena.play_pairs("rrps", {(cheat, randbot): 12}, shared=shared)
        assert report.twice == 0
        assert report.forfeits > 0, "it was behind in none of 12 matches against randbot"
        returns = returns_of(arena, cheat, randbot, 12)
        assert statistics.fmean(returns) < 0, "a broken reply forfeits"
