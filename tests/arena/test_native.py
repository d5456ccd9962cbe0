"""The engine's bots: same seed, same play, whatever else the process does."""

from __future__ import annotations

import hashlib
import itertools
import math
import os
import random
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable

import pytest
from scipy.stats import chisquare

from arena.games.rrps.bots import NativeAgent, bot_names
from arena.games.rrps.game import RRPS
from arena.kinds import native
from arena.kinds.protocol import PolicyFactory
from arena.plan import Bout
from arena.values import Match, Termination

BOTS = bot_names()
RING = [(bot, BOTS[(number + 17) % len(BOTS)]) for number, bot in enumerate(BOTS)]
"""43 pairs in which each bot plays twice."""
FIRST = {"my_action": None, "opponent_action": None}


def play(pair: tuple[str, str], repetition: int = 0) -> bytes:
    match = Match(RRPS.name, RRPS.version, *pair, repetition)
    bout = Bout(match, 1, pair, 0, (5 + repetition, 6 + repetition))
    payloads = (native.payload_of(pair[0]), native.payload_of(pair[1]))
    result = native.play(RRPS, bout, payloads)
    assert result.termination is Termination.COMPLETED
    assert result.returns == RRPS.score(0, result.moves, None)
    assert (result.wall, result.match, result.season) == ("native", match, 1)
    return result.moves


def digests(pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    return {pair: hashlib.sha256(play(pair)).hexdigest() for pair in pairs}


def test_there_are_43_bots() -> None:
    assert len(BOTS) == 43
    assert list(BOTS) == sorted(BOTS)


def test_the_same_match_has_the_same_moves() -> None:
    forward = digests(RING)
    backward = digests(reversed(RING))
    assert forward == backward
    assert play(("randbot", "randbot"), 0) != play(("randbot", "randbot"), 1)


def test_the_same_match_has_the_same_moves_in_another_process() -> None:
    """The other process plays in another order and fills fresh memory with other bytes."""
    code = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("here", {__file__!r})
here = importlib.util.module_from_spec(spec)
spec.loader.exec_module(here)
for pair, digest in here.digests(reversed(here.RING)).items():
    print(*pair, digest)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "MALLOC_PERTURB_": "173", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = (line.split() for line in done.stdout.splitlines())
    assert {(one, two): digest for one, two, digest in lines} == digests(RING)


def test_moves_do_not_depend_on_a_stream_that_somebody_else_uses() -> None:
    before = play(RING[0])
    agent = NativeAgent("randbot", 1)
    agent.act(FIRST)
    assert play(RING[0]) == before


class Duel:
    """Two agents at one table, throw by throw."""

    def __init__(self, pair: tuple[str, str], seed: int) -> None:
        agents = [NativeAgent(bot, seed + seat) for seat, bot in enumerate(pair)]
        self.table = RRPS.table([0])
        self.seats = [RRPS.seat(agent) for agent in agents]

    def throw(self) -> None:
        messages = self.table.messages()
        replies = (seat.reply(messages[n : n + 1]) for n, seat in enumerate(self.seats))
        self.table.advance(bytes(replies))

    def moves(self) -> bytes:
        assert self.table.fault(0) is None
        return self.table.moves(0)


def test_agents_play_alone_as_they_play_among_others() -> None:
    alone = {}
    for pair in RING:
        duel = Duel(pair, 5)
        while not duel.table.done:
            duel.throw()
        alone[pair] = duel.moves()
    crowd = {(pair, seed): Duel(pair, seed) for pair in RING for seed in (5, 6)}
    while not all(duel.table.done for duel in crowd.values()):
        for duel in crowd.values():
            duel.throw()
    assert {pair: crowd[pair, 5].moves() for pair in RING} == alone
    assert crowd[RING[0], 5].moves() != crowd[RING[0], 6].moves()


def agent_moves(pair: tuple[str, str], seed: int) -> bytes:
    duel = Duel(pair, seed)
    while not duel.table.done:
        duel.throw()
    return duel.moves()


def total(moves: bytes) -> float:
    return RRPS.score(0, moves, None)[0]


def draws_nothing(pair: tuple[str, str]) -> bool:
    return len({play(pair, number) for number in range(8)}) == 1


def test_a_bot_that_draws_nothing_plays_as_it_does_in_the_engines_loop() -> None:
    same = 0
    for bot in BOTS:
        pair = (bot, "freqbot2")
        if draws_nothing(pair):
            assert agent_moves(pair, 5) == play(pair), bot
            same += 1
    assert same >= 8


def test_a_bot_that_draws_fares_as_it_does_in_the_engines_loop() -> None:
    """Its throws differ, because every throw has a seed of its own; its results do not."""
    for bot in BOTS:
        pair = (bot, "freqbot2")
        if draws_nothing(pair):
            continue
        loop = [total(play(pair, n)) for n in range(12)]
        agent = [total(agent_moves(pair, 2 * n)) for n in range(12)]
        spread = math.sqrt((statistics.variance(loop) + statistics.variance(agent)) / 12)
        assert abs(statistics.mean(loop) - statistics.mean(agent)) < 5 * spread + 5, bot


def test_nobody_predicts_the_next_random_throw_from_those_before() -> None:
    """Libc's generator is r[i] = r[i - 3] + r[i - 31]: with one stream, thirds add up."""
    throws = agent_moves(("randbot", "rockbot"), 11)[0::2]
    sums = Counter((throws[n] - throws[n - 3] - throws[n - 31]) % 3 for n in range(31, len(throws)))
    assert chisquare([sums[n] for n in range(3)]).pvalue > 1e-4
    halves = [
        Counter(
            throws[n] for n in range(31, len(throws)) if (throws[n - 3], throws[n - 31]) == pair
        )
        for pair in itertools.product(range(3), repeat=2)
    ]
    assert all(chisquare([half[n] for n in range(3)]).pvalue > 1e-5 for half in halves)


def test_an_agent_is_not_stepped_past_its_end() -> None:
    agent = NativeAgent("greenberg", 1)
    observation = dict(FIRST)
    for _ in range(RRPS.length):
        observation = {"my_action": agent.act(observation), "opponent_action": "ROCK"}
    with pytest.raises(ValueError, match="thrown them all"):
        agent.act(observation)


def test_an_agent_refuses_observations_out_of_order() -> None:
    agent = NativeAgent("iocainebot", 1)
    with pytest.raises(ValueError, match="only there"):
        agent.act({"my_action": "ROCK", "opponent_action": "ROCK"})
    mine = agent.act(FIRST)
    with pytest.raises(ValueError, match="only there"):
        agent.act(FIRST)
    assert agent.act({"my_action": mine, "opponent_action": "PAPER"}) in RRPS.actions


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        ("", "JSON"),
        ("[1]", '"bot" and "engine"'),
        ('{"bot":"rockbot"}', '"bot" and "engine"'),
        ('{"bot":"rockbot","engine":"gnubg"}', "no native engine 'gnubg'"),
        ('{"bot":"gorilla","engine":"open_spiel"}', "no bot 'gorilla'"),
        ('{"bot":["rockbot"],"engine":"open_spiel"}', "no bot"),
    ],
)
def test_a_wrong_payload_is_refused(payload: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        native.native_policy(RRPS, payload, 1)


def test_payloads_are_canonical() -> None:
    assert native.payload_of("rockbot") == '{"bot":"rockbot","engine":"open_spiel"}'
    assert native.bot_of(RRPS, native.payload_of("zq_move")) == "zq_move"
    factory: PolicyFactory = native.native_policy
    assert factory(RRPS, native.payload_of("rockbot"), 1).act(FIRST) == "ROCK"


def test_large_seeds_are_taken() -> None:
    seed = random.Random(1).getrandbits(63)
    assert NativeAgent("randbot", seed).act(FIRST) == NativeAgent("randbot", seed).act(FIRST)
