"""Finals that are killed in the middle and resumed, and one that is played beside a server."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from arena import Arena
from arena.contest.verification import verify
from arena.home import FINALS, open_home
from arena.home_marker import MATCHES
from arena.remote import RemoteArena
from arena.store import MatchStore
from registry.rights import Role
from tests.arena.contests import FIRST, SECOND, SECRET
from tests.arena.serving import served
from tests.arena.test_server_crash import Program

ROOT = Path(__file__).parents[2]
ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"
MATCHES_A_PAIR = 24
PAIRS = 3
"""Two entrants, and each of them against the hidden one."""


def slowed(source):
    """A Kuhn policy that takes some milliseconds for each move, so that a final has a middle."""
    first = source.index("    def act(self, observation):\n") + len(
        "    def act(self, observation):\n"
    )
    return f"{source[:first]}        sum(range(30_000))\n{source[first:]}"


def opened(office, submit):
    """A tournament that has closed, with two entrants and one in hiding."""
    closes = datetime.now(UTC) + timedelta(days=1)
    secret = [("shy", slowed(SECRET))]
    office.announce("spring", "kuhn", None, closes, matches=MATCHES_A_PAIR, secret=secret)
    for name, source in (("ada", FIRST), ("bob", SECOND)):
        assert submit(slowed(source), "kuhn", f"{name}/x").created
    office.move_closing("spring")


def stored(home):
    """Matches of the final that are stored; 0 while it has not begun."""
    (place,) = list((home / FINALS).glob("spring-*")) or [None]
    if place is None or not (place / MATCHES).exists():
        return 0
    return sum(one.matches for one in MatchStore(place / MATCHES).counts())


def in_the_middle(home):
    """Waits until a part of the final is stored."""
    deadline = time.monotonic() + 120
    while stored(home) < 4:
        assert time.monotonic() < deadline, "no match of the final was stored"
        time.sleep(0.05)
    assert stored(home) < PAIRS * MATCHES_A_PAIR, "it was too fast to be killed in the middle"


def good(document):
    """Whether a certificate holds, and is of the whole final."""
    problems = [one.problem for one in verify(document) if one.problem]
    assert not problems, problems
    return len(document["matches"]) == PAIRS * MATCHES_A_PAIR


def command(*words):
    """A command of ours as a process."""
    return subprocess.Popen(
        [sys.executable, "-m", "arena", *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "ARENA_SANDBOX": "process"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_final_that_was_killed_goes_on_and_its_certificate_holds(new_home):
    home = new_home()
    with Arena(home, sandbox="process", workers=1) as arena:
        opened(arena.office, arena.submit)
    with command("tournament", "final", "spring", "--home", home, "--workers", 1) as killed:
        in_the_middle(home)
        killed.send_signal(signal.SIGKILL)
    assert killed.returncode == -signal.SIGKILL
    before = stored(home)
    with Arena(home, sandbox="process", workers=2) as arena:
        report = arena.office.final("spring")
        assert report.skipped == before and 0 < report.played == PAIRS * MATCHES_A_PAIR - before
        document = arena.office.certify("spring")
    assert good(document)


def test_a_server_that_is_killed_in_a_final_goes_on_with_it(new_home):
    home = new_home()
    registry = open_home(home).registry
    token = registry.add_accounts([("boss", Role.OPERATOR)])["boss"]
    registry.close()
    with (
        Program(home) as server,
        RemoteArena(f"http://127.0.0.1:{server.port}", token, timeout=60) as boss,
    ):
        opened(boss.office, boss.submit)
        reports = []
        final = threading.Thread(target=lambda: reports.append(boss.office.final("spring")))
        final.start()
        in_the_middle(home)
        server.kill()
        before = stored(home)
        server.start()
        final.join(120)
        (report,) = reports
        assert report.skipped >= before > 0
        assert report.played + report.skipped == PAIRS * MATCHES_A_PAIR
        assert good(boss.office.certify("spring"))
        frozen = [one.what for one in boss.office.events(subject="spring")]
        assert frozen.count("tournament.frozen") == frozen.count("tournament.certified") == 1


def test_a_final_is_played_by_the_command_while_a_server_has_the_home(new_home, tmp_path):
    home = new_home()
    with (
        served(home) as there,
        RemoteArena(there.address, there.tokens["boss"]) as boss,
        RemoteArena(there.address, there.tokens["ada"]) as ada,
    ):
        opened(boss.office, boss.submit)
        file = tmp_path / "spring.json"
        with command("tournament", "final", "spring", "--home", home, "--workers", 1) as final:
            in_the_middle(home)
            # Meanwhile the server takes in and plays, in the season that was opened beside it.
            assert ada.submit(slowed(FIRST) + "# late\n", "kuhn", "ada/late").created
            assert boss.play("kuhn", 2).played > 0
            said = final.communicate(timeout=120)
        assert final.returncode == 0, said
        assert [one.ref for one in boss.office.counting("spring")] == ["ada/x@1", "bob/x@1"]
        with command(
            "tournament",
            "certificate",
            "spring",
            "--home",
            home,
            "--sources",
            "--out",
            file,
            "--json",
        ) as issuing:
            said = issuing.communicate(timeout=120)
        assert issuing.returncode == 0, said
        document = json.loads(file.read_text())
        assert good(document)
        # What the server says of it afterwards is what the command did.
        assert ada.office.tournament("spring").certificate == document["digest"]
        assert ada.seasons()[document["season"]["number"] - 1].key is not None
        assert ada.submit(ROCK, "rrps", "ada/rock").created
        assert boss.play("kuhn", 4).played > 0
