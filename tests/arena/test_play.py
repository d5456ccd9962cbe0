"""Round robins: resumable, the same whatever happens on the way, and never doubled."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from arena.errors import UsageFault
from arena.games import game as game_named
from arena.games.rrps import RRPS
from arena.home import open_home
from arena.play import PlayOptions, pairs_among, play, play_pairs
from arena.submission import prepare
from arena.values import Termination
from sandbox.choose import WallChoice

PROCESS = WallChoice("process")
BOTS = ("randbot", "switchbot", "markov5", "copybot", "rockbot", "freqbot2", "pibot", "rotatebot")

ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"
RANDOM = (
    "import random\n\nclass Agent:\n    def act(self, observation):\n"
    "        return random.choice(['ROCK', 'PAPER', 'SCISSORS'])\n"
)
CRASHES = (
    "class Agent:\n    def __init__(self):\n        self.throws = 0\n\n"
    "    def act(self, observation):\n        self.throws += 1\n"
    "        if self.throws > 300 and observation['opponent_action'] == 'PAPER':\n"
    "            raise RuntimeError('paper!')\n        return 'ROCK'\n"
)


def register(home, name, source):
    submission = prepare(RRPS, source, name=name)
    version, _ = home.registry.submit(submission)
    return version.digest


def digests(home, names):
    return [home.registry.get("rrps", f"house/{name}").digest for name in names]


def table_of(home, game="rrps"):
    """Everything that was played, comparable between homes: ids, returns, ends and moves."""
    stored = {}
    for row in home.store.matches(game, 1):
        result = home.store.get(row.id)
        stored[row.id] = (result.returns, result.termination, result.fault_seat, result.moves)
    return stored


def test_playing_twice_plays_nothing_and_more_plays_the_rest(tmp_path):
    home = open_home(tmp_path / "home")
    chosen = digests(home, BOTS[:3])
    first = play(home, RRPS, PlayOptions(2, 1), only=chosen)
    assert (first.played, first.skipped) == (6, 0)
    again = play(home, RRPS, PlayOptions(2, 1), only=chosen)
    assert (again.played, again.skipped) == (0, 6)
    more = play(home, RRPS, PlayOptions(3, 1), only=chosen)
    assert (more.played, more.skipped) == (3, 6)


def test_results_do_not_depend_on_company_workers_or_blocks(tmp_path):
    tables = []
    for place, workers, isolate, company in (
        ("a", 1, False, BOTS[:2]),
        ("b", 2, False, BOTS[:5]),
        ("c", 1, True, BOTS[:2]),
    ):
        home = open_home(tmp_path / place)
        chosen = [register(home, "me/random", RANDOM), register(home, "me/crashes", CRASHES)]
        options = PlayOptions(3, workers, PROCESS, isolate)
        play(home, RRPS, options, only=[*chosen, *digests(home, company)])
        tables.append(table_of(home))
    a, b, c = tables
    assert a == c
    assert {key: b[key] for key in a} == a
    assert len(b) > len(a)


def test_a_crash_is_a_forfeit_with_a_message(tmp_path):
    home = open_home(tmp_path / "home")
    crashes = register(home, "me/crashes", CRASHES)
    (paper,) = digests(home, ["rotatebot"])
    report = play_pairs(home, RRPS, [(crashes, paper)], PlayOptions(2, 1, PROCESS))
    assert report.forfeits == 2
    for row in home.store.matches("rrps", 1):
        assert row.termination is Termination.CRASHED
        assert row.seats[row.fault_seat] == crashes
        assert row.returns[row.fault_seat] < -650
        assert "paper!" in row.fault_message
        assert "line 8" in row.fault_message


def test_leduc_mixes_tables_and_python(tmp_path):
    home = open_home(tmp_path / "home")
    leduc = game_named("leduc")
    source = (
        "class RepeatedLeducPokerBot:\n    def restart(self, player_id):\n        pass\n\n"
        "    def act(self, obs):\n        return obs['player_view']['legal_actions'][-1]\n\n"
        "    def receive_outcome(self, obs):\n        pass\n"
    )
    version, _ = home.registry.submit(prepare(leduc, source, name="me/raises"))
    report = play(home, leduc, PlayOptions(4, 1, PROCESS))
    assert report.played == 6 * 4
    assert report.forfeits == 0
    assert set(report.walls) == {"inline", next(w for w in report.walls if "process" in w)}
    assert version.digest in {d for row in home.store.matches("leduc", 1) for d in row.seats}


def test_a_mixture_plays_through_its_members(tmp_path):
    from arena.kinds.mixture import payload_of
    from registry.values import Submission

    home = open_home(tmp_path / "home")
    rock, rotate, copy = digests(home, ["rockbot", "rotatebot", "copybot"])
    payload = payload_of({rock: 0.5, rotate: 0.5})
    mixture, _ = home.registry.submit(Submission("rrps", "me/mixed", "mixture", payload))
    play_pairs(home, RRPS, [(mixture.digest, copy)], PlayOptions(40, 2))
    returns = set()
    for row in home.store.matches("rrps", 1):
        own = row.returns[row.seats.index(mixture.digest)]
        returns.add(own)
    assert len(returns) > 1, "both members should have been drawn in 40 matches"


def test_pairs():
    class Entrant:
        def __init__(self, digest):
            self.digest = digest

    everyone = [Entrant(d) for d in "dbca"]
    assert pairs_among(everyone, []) == [
        ("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d"),
    ]  # fmt: skip
    assert pairs_among(everyone, ["b"]) == [("a", "b"), ("b", "c"), ("b", "d")]
    assert pairs_among(everyone, ["d", "a", "d"]) == [("a", "d")]
    assert pairs_among(everyone, ["b", "b"]) == pairs_among(everyone, ["b"])
    assert pairs_among(everyone[:1], []) == []


def test_asking_for_no_match_is_refused(tmp_path):
    home = open_home(tmp_path / "home")
    with pytest.raises(UsageFault, match="at least 1"):
        play(home, RRPS, PlayOptions(0))


def arena_play(home, *more):
    only = [word for name in BOTS for word in ("--only", f"house/{name}")]
    command = [sys.executable, "-m", "arena", "play", "--game", "rrps", "--json", *only, *more]
    return subprocess.Popen(
        [*command, "--home", str(home)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def finished(process):
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0, out
    return json.loads(out)


def test_killed_at_random_moments_and_resumed(tmp_path):
    """What a reader has seen is never lost, nothing is doubled, and the end is the same."""
    whole = open_home(tmp_path / "whole")
    play(whole, RRPS, PlayOptions(24, 2), only=digests(whole, BOTS))
    home = open_home(tmp_path / "killed")
    rng = random.Random(7)
    seen: set[str] = set()
    kills = 0
    while kills < 5:
        process = arena_play(home.path, "--matches", "24", "--workers", "2")
        moment = time.monotonic() + rng.uniform(0.5, 3.0)
        while time.monotonic() < moment and process.poll() is None:
            seen |= {row.id for row in home.store.matches("rrps", 1)}
            time.sleep(0.02)
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        kills += 1
        assert seen <= {row.id for row in home.store.matches("rrps", 1)}
    finished(arena_play(home.path, "--matches", "24"))
    assert table_of(home) == table_of(whole)
    stats = [h.store.pair_stats("rrps", 1).drop(["seconds"]).to_pylist() for h in (home, whole)]
    assert stats[0] == stats[1]


def test_two_players_a_submit_and_a_reader_at_once(tmp_path):
    home = open_home(tmp_path / "home")
    policy = tmp_path / "rock.py"
    policy.write_text(ROCK)
    arena = [sys.executable, "-m", "arena"]
    at = ["--home", str(home.path), "--json", "--game", "rrps"]
    players = [arena_play(home.path, "--matches", "8", "--workers", "1") for _ in range(2)]
    submit = subprocess.Popen(
        [*arena, "submit", str(policy), "--name", "me/rock", "--sandbox", "process", *at],
        stdout=subprocess.PIPE,
        text=True,
    )
    readers = 0
    while any(player.poll() is None for player in players):
        board = subprocess.run([*arena, "leaderboard", *at], capture_output=True, text=True)
        assert board.returncode == 0, board.stderr
        readers += bool(json.loads(board.stdout)["rows"])
    assert readers
    assert finished(submit)["status"] == "qualified"
    reports = [finished(player) for player in players]
    pairs = len(BOTS) * (len(BOTS) - 1) // 2
    assert sum(report["played"] for report in reports) == pairs * 8
    assert len(home.store.matches("rrps", 1)) == pairs * 8
