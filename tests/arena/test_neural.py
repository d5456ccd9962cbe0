"""Networks as policies: exact whatever computes them, and nothing but sound weights gets in."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import time
import tracemalloc
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from arena import Arena
from arena.bouts import BoutHandler, play_in_box
from arena.cli import main
from arena.enrol import Enrolled
from arena.games import GAMES, Game
from arena.kinds import exact_network
from arena.kinds.exact_network import UNIT, draw
from arena.kinds.host import host_policy
from arena.kinds.mixture import payload_of as mixture_of
from arena.kinds.neural import (
    KIND,
    NeuralCrew,
    architecture_of,
    file_of,
    network_of,
    payload_of,
    tensors_of,
    weights_of,
)
from arena.kinds.weights_file import MOST_BYTES, WeightsFile, read, written
from arena.plan import Bout, Job, Player, Route
from arena.rejection import Rejection
from arena.values import Match, Termination
from registry.values import Submission
from sandbox.choose import WallChoice, open_wall
from sandbox.values import Limits
from tests.arena.at_the_table import at_random, play
from tests.arena.networks import random_file, random_payload

with_networks = pytest.mark.parametrize(
    "game", [one for one in GAMES.values() if one.tensors], ids=lambda game: game.name
)
RRPS, LEDUC = GAMES["rrps"], GAMES["leduc"]


def crew_moves(game: Game, payload: str, width: int, ticks: int) -> list[bytes]:
    """What a network answers in each match of a width to the same made-up messages."""
    tensors = tensors_of(game)
    crew, rng = NeuralCrew(game, payload, [7] * width), np.random.default_rng(3)
    field = tensors.field(1)
    said = []
    field.begin(np.array([0]), [5])
    for _ in range(ticks):
        told = field.messages[0, 0] if tensors.asks(field.messages[0])[0] else field.messages[0, 1]
        said.append(crew.replies(np.repeat(told[None], width, axis=0)))
        legal = np.flatnonzero(tensors.legal(told[None])[0])
        both = np.full((1, 2), legal[rng.integers(len(legal))], dtype=np.uint8)
        field.advance(np.array([0]), both)
    return [column.tobytes() for column in np.array(said).T]


@with_networks
def test_a_match_comes_out_alike_at_every_width(game: Game) -> None:
    """Large weights and a wide layer, where a sum in single precision would depend on its order."""
    payload = random_payload(game, 1, (256, 128), scale=0.5)
    alone = crew_moves(game, payload, 1, 150)
    assert set(crew_moves(game, payload, 7, 150)) == set(alone)
    assert set(crew_moves(game, payload, 64, 150)) == set(alone)
    assert len(set(alone[0])) > 1


@with_networks
def test_sums_are_exact(game: Game) -> None:
    """A layer in tiles against whole numbers of Python, with the largest weights there may be."""
    payload = random_payload(game, 2, (64, 32), scale=5.0)
    layer = network_of(game, payload).core
    rows = np.random.default_rng(1).uniform(-64, 64, (71, layer.weight.shape[1]))
    rows = np.rint(rows / UNIT) * UNIT
    found = layer(rows)
    assert found.shape == (71, 128)
    for row in range(0, 71, 14):
        for column in range(0, 128, 17):
            exact = Fraction(float(layer.bias[column])) + sum(
                Fraction(a) * Fraction(b)
                for a, b in zip(rows[row].tolist(), layer.weight[column].tolist(), strict=True)
            )
            assert Fraction(float(found[row, column])) == exact


def test_a_layer_is_the_same_in_tiles_of_every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every output is computed once, where the tiles do not fit into rows and outputs either."""
    layer = network_of(LEDUC, random_payload(LEDUC, 2, (64, 32), scale=5.0)).core
    rows = np.rint(np.random.default_rng(1).uniform(-64, 64, (71, 64)) / UNIT) * UNIT
    whole = layer(rows)
    monkeypatch.setattr(exact_network, "_ROWS", 7)
    monkeypatch.setattr(exact_network, "_BLOCK", 64 * 7 * 5)
    assert np.array_equal(layer(rows), whole)
    assert layer(rows[:0]).shape == (0, 128)


def test_curves_are_right_and_the_same_everywhere() -> None:
    sigmoid, tanh = exact_network._curves()
    likely = exact_network._likelihoods()
    points = np.arange(-8 * 1024, 8 * 1024 + 1) / 1024
    assert np.abs(sigmoid - 1 / (1 + np.exp(-points))).max() <= UNIT / 2 + 1e-12
    assert np.abs(tanh - np.tanh(points)).max() <= UNIT / 2 + 1e-12
    assert np.abs(likely / 2**30 - np.exp(-np.arange(len(likely)) / 1024)).max() < 1e-9
    bytes_of_all = b"".join(table.astype("<f8").tobytes() for table in (sigmoid, tanh, likely))
    assert hashlib.sha256(bytes_of_all).hexdigest()[:16] == "237bfb0b67b47408"


def test_draws_follow_the_softmax_of_legal_actions() -> None:
    logits = np.tile(np.array([[1.0, 0.0, 3.0]]), (40_000, 1))
    legal = np.tile(np.array([[True, True, False]]), (40_000, 1))
    drawn = draw(logits, legal, np.random.default_rng(4).random(40_000))
    assert abs((drawn == 0).mean() - 1 / (1 + math.exp(-1))) < 0.01
    edge = draw(logits[:1], legal[:1], np.array([1.0 - 2**-53]))
    assert edge.tolist() == [1]


@with_networks
def test_networks_are_entrants_like_others(game: Game, arena: Arena) -> None:
    """They pass a trial, meet everybody, also in a mixture, and repeat move by move."""
    entrant = Submission(game=game.name, name="ada/net", kind=KIND, payload=random_payload(game, 5))
    (entered,) = arena.enter(game, [entrant])
    assert isinstance(entered, Enrolled) and len(entered.trial) == 2
    version, others = entered.version, arena.policies(game)
    python = next(one for one in others if one.kind == "python")
    ours = next(one for one in others if one.kind in ("native", "tabular"))
    pairs = {(version.digest, one): 6 for one in (python.digest, ours.digest, version.digest)}
    arena.play_pairs(game, pairs)
    rows = arena.matches(game, version.ref, limit=None)
    assert len(rows) >= 18 and {row.termination.value for row in rows} == {"completed"}
    assert all(arena.replay(row.id).same for row in rows[:6])
    mixed = mixture_of({version.digest: 0.5, ours.digest: 0.5})
    mixture = arena.register(
        Submission(game=game.name, name="ada/mixed", kind="mixture", payload=mixed)
    )
    assert arena.play_pairs(game, {(mixture.digest, version.digest): 4}).played == 4


@with_networks
def test_a_crew_plays_as_the_author_contract_does(game: Game) -> None:
    """Many matches together, and one by one behind observations: the same moves."""
    one, two = (Player(f"{n}" * 32, KIND, random_payload(game, n)) for n in (1, 2))
    players = {player.digest: player for player in (one, two)}
    bouts = tuple(
        Bout(
            Match(game.name, game.version, one.digest, two.digest, number),
            1,
            (one.digest, two.digest)[:: 1 - 2 * (number % 2)],
            number,
            (10 + number, 20 + number),
        )
        for number in range(5)
    )
    moves = [
        [
            result.moves
            for result in BoutHandler().run(Job(route, game.name, bouts, players)).results
        ]
        for route in (Route.LOCKSTEP, Route.INLINE)
    ]
    assert moves[0] == moves[1] and len(set(moves[0])) == 5


def six_matches(route: Route, one: Player, two: Player) -> Job:
    """A job of rock-paper-scissors; seats change from match to match."""
    bouts = tuple(
        Bout(
            Match(RRPS.name, RRPS.version, one.digest, two.digest, number),
            1,
            (one.digest, two.digest)[:: 1 - 2 * (number % 2)],
            number,
            (10 + number, 20 + number),
        )
        for number in range(6)
    )
    return Job(route, RRPS.name, bouts, {one.digest: one, two.digest: two})


def test_a_network_is_on_the_clock_and_its_opponent_is_not() -> None:
    """Each seat has its share in lockstep; in a box matches do not hold what networks compute."""
    network = Player("1" * 32, KIND, random_payload(RRPS, 5, (512, 300)))
    (bot,) = (one.payload for one in RRPS.house() if one.name == "house/rockbot")
    before = time.thread_time()
    results = BoutHandler().run(
        six_matches(Route.LOCKSTEP, network, Player("2" * 32, "native", bot))
    )
    used = time.thread_time() - before
    seats = [one.cpu_seconds[:: 1 - 2 * (n % 2)] for n, one in enumerate(results.results)]
    own, others = zip(*seats, strict=True)
    assert 0.5 * used < sum(own) < used
    assert max(own) < 1.01 * min(own) and set(others) == {0.0}  # all are asked for every throw

    program = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"
    wall = open_wall(WallChoice("process"))
    try:
        started, before = time.perf_counter(), time.thread_time()
        job = six_matches(Route.BOX, network, Player("3" * 32, "python", program))
        boxed = play_in_box(RRPS, job, wall, Limits())
        lasted, used = time.perf_counter() - started, time.thread_time() - before
    finally:
        wall.close()
    held = sum(one.seconds for one in boxed.results)
    assert {one.termination for one in boxed.results} == {Termination.COMPLETED}
    assert sum(own) / 2 < lasted - held < used


def test_a_request_pays_for_networks(arena: Arena) -> None:
    """They play outside the sandbox, and hold a processor like those within."""
    payload = random_payload(RRPS, 5, (16, 8))
    entrant = Submission(game="rrps", name="ada/net", kind=KIND, payload=payload)
    digest = arena.register(entrant).digest
    bots = [one.digest for one in arena.policies(RRPS) if one.kind == "native"][:2]
    free = arena.play_pairs(RRPS, {(bots[0], bots[1]): 2}, processor_seconds=0.001)
    assert free.left == 0 and free.held_seconds == 0
    wanted = {(digest, bot): 200 for bot in bots}
    report = arena.play_pairs(RRPS, wanted, processor_seconds=0.001)
    assert report.played > 0 and report.left > 0
    assert 0 < report.processor_seconds <= report.held_seconds


@with_networks
def test_moves_do_not_depend_on_who_plays_beside(game: Game) -> None:
    payload, tables = random_payload(game, 6), []
    for seeds in ([9], [8, 9, 10]):
        players = [
            player
            for seed in seeds
            for player in (host_policy(game, KIND, payload, seed), at_random(game, seed))
        ]
        tables.append(play(game, seeds, players).moves(seeds.index(9)))
    assert tables[0] == tables[1]


def corrupted(file: bytes, **changes: Any) -> bytes:
    """The same file with another header entry."""
    length = int.from_bytes(file[:8], "little")
    header = json.loads(file[8 : 8 + length])
    for name, change in changes.items():
        name = name.replace("__", ".")
        if change is None:
            header.pop(name)
        else:
            header[name] = {**header.get(name, {}), **change}
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + file[8 + length :]


def with_array(name: str, array: Any) -> bytes:
    file = read(random_file(RRPS, 1))
    return written(WeightsFile(file.header, {**file.arrays, name: array}))


def with_hidden(hidden: str) -> bytes:
    file = read(random_file(RRPS, 1))
    return written(WeightsFile({**file.header, "hidden": hidden}, file.arrays))


GOOD = random_file(RRPS, 1)
HOSTILE = "\ud800\x1b[2J\n"
BAD = {
    "empty": (b"", "header"),
    "cut off": (GOOD[:-1], "bytes"),
    "longer": (GOOD + b"x", "follow the last"),
    "no header": (b"\xff" * 64, "header"),
    "header no JSON": ((4).to_bytes(8, "little") + b"{{{{", "not JSON"),
    "header nested": ((9000).to_bytes(8, "little") + b"[" * 9000, "not JSON"),
    "header a list": ((2).to_bytes(8, "little") + b"[]", "not a JSON object"),
    "a pickle": (b"\x80\x04\x95" + bytes(80), "header"),
    "type": (corrupted(GOOD, policy__bias={"dtype": "F64"}), "I16 or F32"),
    "shape": (corrupted(GOOD, policy__bias={"shape": [4]}), "should have"),
    "negative shape": (corrupted(GOOD, policy__bias={"shape": [-3]}), "whole numbers"),
    "huge shape": (corrupted(GOOD, policy__bias={"shape": [10**30]}), "whole numbers"),
    "overlap": (corrupted(GOOD, policy__bias={"data_offsets": [0, 12]}), "in none of them, or in"),
    "missing": (corrupted(GOOD, policy__bias=None), "in none of them, or in|follow"),
    "not a number": (with_array("policy.bias", np.full(3, np.nan, "<f4")), "not finite"),
    "infinite": (with_array("policy.bias", np.full(3, np.inf, "<f4")), "not finite"),
    "large": (with_array("policy.bias", np.full(3, 8.0, "<f4")), "below 8"),
    "least": (with_array("policy.bias", np.full(3, -32768, "<i2")), "-32767"),
    "another shape": (with_array("policy.bias", np.zeros(4, "<f4")), "must be"),
    "one too many": (with_array("value.bias", np.zeros(1, "<f4")), "too many"),
    "hostile name": (with_array(HOSTILE, np.zeros(1, "<f4")), r"arrays '\\ud800\\x1b\[2J\\n'"),
    "hostile name, cut": (
        corrupted(with_array(HOSTILE, np.zeros(1, "<f4")), **{HOSTILE: {"shape": [2]}}),
        r"'\\ud800\\x1b\[2J\\n' should have",
    ),
    "too slow": (with_hidden("1,1,1,700"), "3,922,808 multiplications; 1,048,576"),
    "another game": (random_file(LEDUC, 1), "game in the file's header"),
    "too large": (bytes(MOST_BYTES + 1), "allowed"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_file_is_refused_with_a_reason(what: str) -> None:
    data, reason = BAD[what]
    with pytest.raises(ValueError, match=reason) as refused:
        payload_of(RRPS, data)
    assert str(refused.value).isprintable()  # a terminal is not to obey it, and UTF-8 has it


@pytest.mark.parametrize(
    "hidden", ["", "8", "16,-8", "16,2048", "1,1,1,1,1", "0,8", "16,8,", "٣,8", "16,8;"]
)
def test_a_header_must_say_what_the_arrays_are(hidden: str) -> None:
    with pytest.raises(ValueError):
        payload_of(RRPS, with_hidden(hidden))


def test_every_flipped_byte_of_a_header_is_refused_or_harmless() -> None:
    """Nothing but a `ValueError` comes of a file that was altered at random."""
    rng = np.random.default_rng(8)
    length = 8 + int.from_bytes(GOOD[:8], "little")
    refused = 0
    for _ in range(400):
        data = bytearray(GOOD)
        data[rng.integers(length)] ^= 1 << rng.integers(8)
        try:
            payload_of(RRPS, bytes(data))
        except ValueError:
            refused += 1
    assert refused > 300


def test_a_payload_is_canonical_and_holds_its_file() -> None:
    """Weights as numbers, and the units they are rounded to, are one version."""
    payload = payload_of(RRPS, GOOD)
    assert payload_of(RRPS, file_of(payload)) == payload
    file = read(file_of(payload))
    reordered = dict(reversed(list(file.arrays.items())))
    assert payload_of(RRPS, written(WeightsFile(file.header, reordered))) == payload
    architecture, arrays = weights_of(RRPS, payload)
    assert architecture == architecture_of(RRPS, (16, 8))
    assert payload_of(RRPS, with_hidden("016,08")) == payload
    given = read(GOOD).arrays["core.weight"]
    assert np.abs(arrays["core.weight"] - given).max() <= UNIT / 2


def test_networks_are_kept_ready_but_not_many_and_not_their_text() -> None:
    """A process that plays hundreds of networks keeps a few."""
    texts = [random_payload(RRPS, seed, (256, 128)) for seed in range(20)]
    first = network_of(RRPS, texts[0])
    assert network_of(RRPS, "".join(texts[0])) is first
    tracemalloc.start()
    for text in texts:
        network_of(RRPS, text)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 10 * 8 * architecture_of(RRPS, (256, 128)).products


@pytest.mark.parametrize(
    "payload",
    [
        '{"safetensors":1}',
        '{"safetensors":"?"}',
        '{"safetensors":"ABCD"}',
        '{"safetensors":"","x":1}',
        json.dumps({"safetensors": base64.b64encode(GOOD).decode()}),
    ],
)
def test_a_bad_payload_is_not_played(payload: str) -> None:
    """Not even a sound file whose weights were not rounded: its sums would not be exact."""
    with pytest.raises(ValueError):
        host_policy(RRPS, KIND, payload, 1)


def test_the_safetensors_library_reads_and_writes_the_same_files() -> None:
    if not os.environ.get("ARENA_REQUIRE_RL"):
        pytest.importorskip("safetensors", reason="safetensors is not installed (make setup-rl)")
    from safetensors import numpy as library

    theirs = library.load(GOOD)
    ours = read(GOOD)
    assert {name: array.tolist() for name, array in theirs.items()} == {
        name: array.tolist() for name, array in ours.arrays.items()
    }
    again = library.save(dict(theirs), metadata=dict(ours.header))
    assert payload_of(RRPS, again) == payload_of(RRPS, GOOD)


def test_a_file_is_handed_in_like_a_program(home: Path, tmp_path: Path) -> None:
    """By the command, and a bad one is a rejection that leaves nothing behind."""

    def arena_command(*words: str) -> Any:
        return CliRunner().invoke(main, [*words, "--home", str(home)])

    good, bad = tmp_path / "net.safetensors", tmp_path / "bad.safetensors"
    good.write_bytes(GOOD)
    bad.write_bytes(GOOD[:-1])
    hostile = tmp_path / "hostile.safetensors"
    hostile.write_bytes(BAD["hostile name"][0])
    told = ["--game", "rrps", "--name", "ada/net"]
    refused = arena_command("submit", str(bad), *told)
    assert refused.exit_code == 1 and "bad-weights" in refused.output
    refused = arena_command("submit", str(hostile), *told, "--json")
    assert refused.exit_code == 1 and "bad-weights" in refused.output
    assert arena_command("submit", str(tmp_path / "no.safetensors"), *told).exit_code == 1
    assert "ada/net" not in arena_command("list", "--game", "rrps").output
    assert arena_command("check", str(good), "--game", "rrps").exit_code == 0
    taken = arena_command("submit", str(good), *told)
    assert taken.exit_code == 0, taken.output
    assert "ada/net@1" in arena_command("list", "--kind", "neural").output
    shown = arena_command("show", "ada/net", "--game", "rrps", "--source").output
    assert "LSTM 8" in shown and "safetensors" not in shown
    with Arena(home) as arena:
        assert isinstance(arena.submit(GOOD, "rrps", "bob/same"), Enrolled)
        assert isinstance(arena.submit(GOOD, "leduc", "bob/other"), Rejection)
        assert isinstance(arena.submit(GOOD, "kuhn", "bob/other"), Rejection)
