"""Audits: honest policies pass, one that carries knowledge between its matches is found."""

from arena.audit import audit, audit_newest, sample
from arena.games.rrps import RRPS
from arena.home import open_home
from arena.play import PlayOptions, play_pairs
from arena.submission import prepare
from registry.values import Status
from sandbox.choose import WallChoice
from sandbox.values import Limits

PROCESS = WallChoice("process")
HONEST = (
    "import random\n\nclass Agent:\n    def act(self, observation):\n"
    "        return random.choice(['ROCK', 'PAPER', 'SCISSORS'])\n"
)
LEAKS = '''import math


class Agent:
    """Counts its throws in a module that all its matches of a block share."""

    def act(self, observation):
        math.thrown = getattr(math, "thrown", 0) + 1
        return ["ROCK", "PAPER", "SCISSORS"][math.thrown % 7 % 3]
'''


def register(home, name, source):
    return home.registry.submit(prepare(RRPS, source, name=name)).version.digest


def test_honest_policies_pass(tmp_path):
    home = open_home(tmp_path / "home")
    honest = register(home, "me/honest", HONEST)
    rock = home.registry.get("rrps", "house/rockbot").digest
    report = play_pairs(home, RRPS, [(honest, rock)], PlayOptions(6, 1, PROCESS))
    audited = audit_newest(home, RRPS, report.played, PROCESS)
    assert audited.audited == 1
    assert audited.differences == ()


def test_a_policy_that_leaks_between_its_matches_is_quarantined(tmp_path):
    home = open_home(tmp_path / "home")
    leaks = register(home, "me/leaks", LEAKS)
    bots = [home.registry.get("rrps", f"house/{name}").digest for name in ("rockbot", "pibot")]
    play_pairs(home, RRPS, [(leaks, bot) for bot in bots], PlayOptions(4, 1, PROCESS))
    rows = home.store.matches("rrps", 1)
    matches = [row.match for row in rows]
    report = audit(home, RRPS, matches, PROCESS, Limits())
    assert report.audited == 8
    assert report.differences
    assert {one.suspect for one in report.differences} == {leaks}
    version = home.registry.get("rrps", leaks)
    assert version.status is Status.QUARANTINED
    assert "differently" in version.status_reason


def test_the_sample_is_of_lockstep_matches_and_reproducible(tmp_path):
    home = open_home(tmp_path / "home")
    honest = register(home, "me/honest", HONEST)
    names = ("rockbot", "pibot", "copybot")
    digests = [home.registry.get("rrps", f"house/{name}").digest for name in names]
    pairs = [(honest, digests[0]), (digests[1], digests[2])]
    play_pairs(home, RRPS, pairs, PlayOptions(4, 1, PROCESS))
    rows = home.store.matches("rrps", 1)
    chosen = sample(rows, 5)
    assert chosen == sample(rows, 5)
    assert all(honest in match.seats for match in chosen)
