"""Round robins: resumable, the same whatever happens on the way, and never doubled."""

import json
import subprocess
import sys

import pytest

from arena import Arena, Enrolled, Termination
from arena.errors import UsageFault
from arena.games.rrps.game import RRPS
from arena.home import Home
from arena.kinds.mixture import payload_of
from arena.schedule import pairs_among
from arena.submission import prepare
from registry.values import Submission

BOTS = ("randbot", "switchbot", "markov5", "copybot", "rockbot", "freqbot2", "pibot", "rotatebot")
HOUSE = tuple(f"house/{name}" for name in BOTS)

ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"
RANDOM = (
    "import random\n\nclass Agent:\n    def act(self, observation):\n"
    "        return random.choice(['ROCK', 'PAPER', 'SCISSORS'])\n"
)
DIES = (
    "import random\n\nclass Agent:\n    def act(self, observation):\n"
    "        if observation['opponent_action'] == 'PAPER':\n            random._os._exit(0)\n"
    "        return 'ROCK'\n"
)
CRASHES = (
    "class Agent:\n    def __init__(self):\n        self.throws = 0\n\n"
    "    def act(self, observation):\n        self.throws += 1\n"
    "        if self.throws > 300 and observation['opponent_action'] == 'PAPER':\n"
    "            raise RuntimeError('paper!')\n        return 'ROCK'\n"
)


def registered(arena, name, source):
    """Past the trial, which some of these would not survive."""
    return arena.home.registry.submit(prepare(RRPS, source, name=name)).version.digest


def digests(arena, names):
    return [arena.policy(f"house/{name}", "rrps").digest for name in names]


def table_of(arena, game="rrps", moves_of=64):
    """What was played, by id, comparable between homes; with the moves for a sample of the ids."""
    rows = {row.id: row for row in arena.matches(game, limit=None)}
    table = {key: (row.return_low, row.termination, row.fault_seat) for key, row in rows.items()}
    for key in sorted(rows)[:moves_of]:  # ids are hashes: the first are a sample
        table[key] = (*table[key], arena.match(key).result.moves)
    return table


def test_what_somebody_else_stored_meanwhile_is_told_apart(new_arena, monkeypatch):
    arena, keep, others = new_arena("home"), Home.keep, []

    def overtaken(home, game, results):
        if not others:
            others.append(None)  # the other's own matches are stored at once
            with Arena(arena.home.path, sandbox="process", workers=1) as other:
                others[:] = [other.play("rrps", 2, only=HOUSE[:2])]
        return keep(home, game, results)

    arena.play("rrps", 2, only=HOUSE[1:3])
    monkeypatch.setattr(Home, "keep", overtaken)
    report = arena.play("rrps", 2, only=HOUSE[:3])
    (other,) = others
    assert (other.played, other.meanwhile, other.skipped) == (2, 0, 0)
    assert (report.played, report.meanwhile, report.skipped) == (2, 2, 4)
    assert sum(report.walls.values()) == 4  # played here, whoever stored them
    title = report.sheet().title
    assert title.startswith("played 4 matches in ")
    assert ", 2 of them stored meanwhile by somebody else; 2 were stored already;" in title
    assert "somebody else" not in other.sheet().title


def test_playing_twice_plays_nothing_and_more_plays_the_rest(arena):
    first = arena.play("rrps", 2, only=HOUSE[:3])
    assert (first.played, first.skipped) == (6, 0)
    again = arena.play("rrps", 2, only=HOUSE[:3])
    assert (again.played, again.skipped) == (0, 6)
    more = arena.play("rrps", 3, only=HOUSE[:3])
    assert (more.played, more.skipped) == (3, 6)


def test_a_callback_that_raises_costs_those_who_play_next_nothing(new_arena):
    arena = new_arena(workers=2)

    def broken(done, wanted):
        raise RuntimeError("the bar broke")

    try:
        arena.play("rrps", 40, only=HOUSE[:3], progress=broken)
    except RuntimeError:  # while its traceback still holds what was under way
        report = arena.play("rrps", 40, only=HOUSE[:3])
    assert (report.played + report.skipped, report.left) == (120, 0)


def test_what_somebody_else_stored_meanwhile_is_not_left(new_arena):
    """Two play the same at once: one stores a match, and for neither it is still to be played."""
    arena, told, wanted = new_arena(), [], 120

    def meanwhile(done, wanted):
        if not told:
            with Arena(arena.home.path) as other:
                told.append(other.play("rrps", 40, only=HOUSE[:3]))
        told.append((done, wanted))

    late = arena.play("rrps", 40, only=HOUSE[:3], progress=meanwhile)
    assert told[0].played + late.played == wanted and told[0].played > 60
    assert (late.played + late.skipped, late.left) == (wanted, 0)
    assert told[-1] == (wanted, wanted)


def test_results_do_not_depend_on_company_workers_or_blocks(new_arena):
    tables = []
    for place, workers, shared, company in (
        ("a", 1, False, HOUSE[:2]),
        ("b", 2, False, HOUSE[:3]),
        ("c", 1, True, HOUSE[:2]),
    ):
        arena = new_arena(place, workers=workers)
        chosen = [registered(arena, "me/random", RANDOM), registered(arena, "me/crashes", CRASHES)]
        arena.play("rrps", 3, only=[*chosen, *company], shared=shared)
        tables.append(table_of(arena))
    a, b, c = tables
    assert a == c
    assert {key: b[key][:3] for key in a} == {key: a[key][:3] for key in a}
    assert len(b) > len(a)


def test_another_key_gives_other_matches(new_arena):
    tables = []
    for place in ("a", "b"):
        arena = new_arena(place)
        if place == "b":
            arena.reveal_season()
        chosen = registered(arena, "me/random", RANDOM)
        arena.play("rrps", 2, only=[chosen, *HOUSE[:2]])
        tables.append(table_of(arena))
    a, b = tables
    assert a.keys() == b.keys()
    assert a != b


def test_a_crash_is_a_forfeit_with_a_message(arena):
    crashes = registered(arena, "me/crashes", CRASHES)
    (paper,) = digests(arena, ["rotatebot"])
    report = arena.play_pairs("rrps", {(crashes, paper): 2})
    assert report.forfeits == 2
    for row in arena.matches("rrps", crashes):
        assert row.termination is Termination.CRASHED
        assert row.seats[row.fault_seat] == crashes
        assert row.returns[row.fault_seat] < -650
        assert "paper!" in row.fault_message
        assert "line 8" in row.fault_message


def test_a_process_that_dies_twice_has_forfeited(arena):
    """Once proves nothing: a machine that goes down kills as well (`test_cluster`)."""
    dies = registered(arena, "me/dies", DIES)
    report = arena.play_pairs("rrps", {(dies, digests(arena, ["rotatebot"])[0]): 2})
    assert (report.played, report.forfeits, report.twice, report.suspicions) == (2, 2, 2, ())
    for row in arena.matches("rrps", dies):
        assert row.termination is Termination.DIED
        assert row.seats[row.fault_seat] == dies


def test_leduc_mixes_tables_and_python(arena):
    source = (
        "class RepeatedLeducPokerBot:\n    def restart(self, player_id):\n        pass\n\n"
        "    def act(self, obs):\n        return obs['player_view']['legal_actions'][-1]\n\n"
        "    def receive_outcome(self, obs):\n        pass\n"
    )
    entered = arena.submit(source, "leduc", "me/raises")
    assert isinstance(entered, Enrolled)
    report = arena.play("leduc", 2)
    everybody = len(arena.policies("leduc"))
    assert report.played + report.skipped == everybody * (everybody - 1) // 2 * 2
    assert report.forfeits == 0
    assert set(report.walls) == {"inline", arena.wall}
    assert entered.version.digest in {d for row in arena.matches("leduc") for d in row.seats}


def test_a_mixture_plays_through_its_members(arena):
    rock, rotate, copy = digests(arena, ["rockbot", "rotatebot", "copybot"])
    payload = payload_of({rock: 0.5, rotate: 0.5})
    mixture = arena.register(Submission("rrps", "me/mixed", "mixture", payload)).digest
    arena.play_pairs("rrps", {(mixture, copy): 40})
    returns = set()
    for row in arena.matches("rrps", mixture, limit=None):
        returns.add(row.returns[row.seats.index(mixture)])
    assert len(returns) > 1, "both members should have been drawn in 40 matches"


def test_in_the_place_of_a_mixture_its_members_play(arena):
    rock, rotate, copy = digests(arena, ["rockbot", "rotatebot", "copybot"])
    payload = payload_of({rock: 0.75, rotate: 0.25})
    arena.register(Submission("rrps", "me/shared", "mixture", payload))
    report = arena.play("rrps", 8, only=["me/shared", "house/copybot", "house/rockbot"])
    # 6 and 4 of the members against each of the others, where rockbot does not meet itself, and
    # the 8 of the two that are no mixture, among which the first 6 are found again.
    assert report.played == 8 + 4 + 4
    assert not arena.matches("rrps", "me/shared")
    table = arena.payoffs("rrps", [copy, rock, arena.policy("me/shared", "rrps").digest])
    assert table.count[2, 0] == 11  # 1 / (0.75^2 / 8 + 0.25^2 / 4) = 11.6
    rotating = arena.payoffs("rrps", [rotate, copy]).mean[0, 1]
    assert table.mean[2, 0] == pytest.approx(0.75 * table.mean[1, 0] + 0.25 * rotating)


def test_pairs():
    assert pairs_among("dbca", []) == [
        ("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d"),
    ]  # fmt: skip
    assert pairs_among("dbca", ["b"]) == [("a", "b"), ("b", "c"), ("b", "d")]
    assert pairs_among("dbca", ["d", "a", "d"]) == [("a", "d")]
    assert pairs_among("dbca", ["b", "b"]) == pairs_among("dbca", ["b"])
    assert pairs_among("d", []) == []


def test_asking_for_no_match_is_refused(arena):
    with pytest.raises(UsageFault, match="at least 1"):
        arena.play("rrps", 0)
    pair = tuple(digests(arena, BOTS[:2]))
    for first in (-1, 10**30):
        with pytest.raises(UsageFault, match="cannot be counted from"):
            arena.play_pairs("rrps", {pair: 1}, first=first)


def test_what_is_longer_than_an_id_is_none(arena):
    with pytest.raises(UsageFault, match="32 at most"):
        arena.match("ab" * 20)


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


def test_two_players_a_submit_and_a_reader_at_once(arena, tmp_path):
    home = arena.home
    policy = tmp_path / "rock.py"
    policy.write_text(ROCK)
    command = [sys.executable, "-m", "arena"]
    at = ["--home", str(home.path), "--json", "--game", "rrps"]
    players = [arena_play(home.path, "--matches", "4", "--workers", "1") for _ in range(2)]
    submit = subprocess.Popen(
        [*command, "submit", str(policy), "--name", "me/rock", "--sandbox", "process", *at],
        stdout=subprocess.PIPE,
        text=True,
    )
    readers = 0
    while any(player.poll() is None for player in players):
        board = subprocess.run([*command, "leaderboard", *at], capture_output=True, text=True)
        assert board.returncode == 0, board.stderr
        readers += bool(json.loads(board.stdout)["rows"])
    assert readers
    assert finished(submit)["status"] == "qualified"
    reports = [finished(player) for player in players]
    pairs = len(BOTS) * (len(BOTS) - 1) // 2
    assert sum(report["played"] for report in reports) == pairs * 4
    among = set(digests(arena, BOTS))
    stored = [row for row in arena.matches("rrps", limit=None) if set(row.seats) <= among]
    assert len(stored) == pairs * 4
