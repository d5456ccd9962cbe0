"""Networks as policies: exact whatever computes them, and nothing but sound weights gets in."""

from __future__ import annotations

import hashlib
import math
import time
from fractions import Fraction

import numpy as np
import pytest

from arena import Arena
from arena.bouts import BoutHandler, play_in_box
from arena.enrol import Enrolled
from arena.games import GAMES, Game
from arena.kinds import exact_network
from arena.kinds.exact_network import UNIT, draw
from arena.kinds.host import host_policy
from arena.kinds.mixture import payload_of as mixture_of
from arena.kinds.neural import (
    KIND,
    NeuralCrew,
    network_of,
    tensors_of,
)
from arena.plan import Bout, Chunk, Player, Route
from arena.values import Match, Termination
from registry.values import Submission
from sandbox.choose import WallChoice, open_wall
from sandbox.values import Limits
from tests.arena.at_the_table import at_random, play
from tests.arena.networks import random_payload

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
            for result in BoutHandler().run(Chunk(route, game.name, bouts, players)).results
        ]
        for route in (Route.LOCKSTEP, Route.INLINE)
    ]
    assert moves[0] == moves[1] and len(set(moves[0])) == 5


def six_matches(route: Route, one: Player, two: Player) -> Chunk:
    """A chunk of rock-paper-scissors; seats change from match to match."""
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
    return Chunk(route, RRPS.name, bouts, {one.digest: one, two.digest: two})


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
        chunk = six_matches(Route.BOX, network, Player("3" * 32, "python", program))
        boxed = play_in_box(RRPS, chunk, wall, Limits())
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
