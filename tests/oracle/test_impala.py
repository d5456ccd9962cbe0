"""IMPALA: its arithmetic against plain loops, and what it learns against known results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from arena.analysis.exact import best_response_value
from arena.errors import UsageFault
from arena.games import GAMES
from arena.kinds.neural import NeuralCrew, architecture_of, tensors_of
from arena.kinds.tabular import states_of
from arena.readable import _point
from oracle.impala.training import Training, usual_training
from oracle.values import (
    Against,
    Failure,
    Opponent,
    OracleExhausted,
    Rejected,
    Response,
    Score,
    Task,
)
from tests.arena.networks import random_payload
from tests.oracle.torch_or_skip import need_torch

need_torch()

import torch  # noqa: E402

from oracle.impala.environments import Episodes  # noqa: E402
from oracle.impala.learner import Learner  # noqa: E402
from oracle.impala.net import fresh, loaded, log_policy, payload  # noqa: E402
from oracle.impala.opponents import SeatCrew, crew_of, drawn  # noqa: E402
from oracle.impala.oracle import Impala, _Curve  # noqa: E402
from oracle.impala.vtrace import vtrace  # noqa: E402

RRPS, LEDUC = GAMES["rrps"], GAMES["leduc"]
SMALL = replace(
    usual_training(RRPS, steps=40_000, checkpoints=2),
    hidden=(32, 32),
    learning_rate=0.001,
    environments=16,
)
BOTH = pytest.mark.parametrize("game", [RRPS, LEDUC], ids=lambda game: game.name)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def house(name: str, weight: float = 1.0) -> Opponent:
    """A house entrant of any game as an opponent."""
    (found,) = [
        one for game in GAMES.values() for one in game.house() if one.name == f"house/{name}"
    ]
    return Opponent(name * 8, name, found.payload, weight, found.kind)


def learner_against(
    training: Training, opponents: Sequence[Opponent], game: Any, seed: int = 1
) -> tuple[Learner, Episodes]:
    rng, device = np.random.default_rng(seed), torch.device("cpu")
    generator = torch.Generator().manual_seed(seed)
    crews = [crew_of(game, one, training.environments, generator, device) for one in opponents]
    net = fresh(architecture_of(game, training.hidden), rng)
    weights = [one.weight for one in opponents]
    episodes = Episodes(game, crews, weights, training.environments, rng)
    return Learner(net, episodes, training, generator), episodes


def plain_vtrace(
    ratios: Any, discounts: Any, rewards: Any, values: Any, last: float
) -> list[float]:
    """The sum of the definition, for one match, term by term."""
    after, found = [*values[1:], last], []
    for s in range(len(values)):
        total = values[s]
        for t in range(s, len(values)):
            factor = math.prod(discounts[i] * min(1.0, ratios[i]) for i in range(s, t))
            delta = rewards[t] + discounts[t] * after[t] - values[t]
            total += factor * min(1.0, ratios[t]) * delta
        found.append(total)
    return found


def test_vtrace_is_the_sum_that_defines_it() -> None:
    rng = np.random.default_rng(1)
    steps, width = 9, 4
    logs, rewards, values = (rng.normal(size=(steps, width)) for _ in range(3))
    discounts = np.where(rng.random((steps, width)) < 0.2, 0.0, 0.9)
    last = rng.normal(size=width)
    found = vtrace(*(torch.from_numpy(one) for one in (logs, discounts, rewards, values, last)))
    for column in range(width):
        expected = plain_vtrace(
            np.exp(logs[:, column]),
            discounts[:, column],
            rewards[:, column],
            values[:, column],
            last[column],
        )
        assert np.allclose(found.values[:, column], expected)
        following = np.array([*expected[1:], last[column]])
        wanted = np.minimum(1.0, np.exp(logs[:, column])) * (
            rewards[:, column] + discounts[:, column] * following - values[:, column]
        )
        assert np.allclose(found.advantages[:, column], wanted)


def test_on_policy_vtrace_is_the_return_of_n_steps() -> None:
    """With equal policies the targets are discounted sums of rewards and the last value."""
    rng = np.random.default_rng(2)
    rewards, values, last = rng.normal(size=(6, 1)), rng.normal(size=(6, 1)), rng.normal(size=1)
    ones = torch.zeros(6, 1, dtype=torch.float64)
    found = vtrace(ones, ones + 0.9, *(torch.from_numpy(x) for x in (rewards, values, last)))
    expected = last[0]
    for t in range(5, -1, -1):
        expected = rewards[t, 0] + 0.9 * expected
        assert found.values[t, 0].item() == pytest.approx(expected)


@BOTH
def test_a_network_that_is_kept_plays_as_it_was_trained(game: Any) -> None:
    """The exact network of the arena, and PyTorch's with the same weights, along a match."""
    text = random_payload(game, 3, (32, 16), scale=0.4)
    net, tensors = loaded(game, text), tensors_of(game)
    crew = NeuralCrew(game, text, [1])
    field, rng = tensors.field(1), np.random.default_rng(5)
    field.begin(np.array([0]), [4])
    state, last = net.initial(1, torch.device("cpu")), np.zeros((1, len(game.actions)))
    exact, gaps = (np.zeros((1, 16)), np.zeros((1, 16))), []
    for _ in range(120):
        told = field.messages[0][tensors.asks(field.messages[0])][:1]
        inputs = np.hstack([tensors.see(told), last])
        with torch.no_grad():
            logits, _, state = net(torch.from_numpy(inputs.astype(np.float32))[None], state)
        found, *exact = crew._network(inputs, *exact)
        gaps.append(np.abs(found - logits[0].numpy()).max())
        legal = np.flatnonzero(tensors.legal(told)[0])
        action = int(rng.choice(legal))
        last = np.eye(len(game.actions))[[action]]
        field.advance(np.array([0]), np.full((1, 2), action, dtype=np.uint8))
    assert 0 < max(gaps) < 0.02
    assert payload(game, net) == text


@BOTH
def test_a_new_network_is_uniform_and_its_generator_is_its_own(game: Any) -> None:
    torch_before = torch.random.get_rng_state()
    net = fresh(architecture_of(game, (8,)), np.random.default_rng(1))
    again = fresh(architecture_of(game, (8,)), np.random.default_rng(1))
    assert payload(game, net) == payload(game, again)
    assert torch.equal(torch.random.get_rng_state(), torch_before)
    inputs = torch.ones(1, 1, net.architecture.inputs)
    logits, values, _ = net(inputs, net.initial(1, torch.device("cpu")))
    assert logits.abs().max() == 0 and values.abs().max() == 0


def test_illegal_actions_are_never_drawn() -> None:
    logs = log_policy(torch.zeros(20_000, 3), torch.tensor([[True, True, False]]))
    found = drawn(logs, torch.Generator().manual_seed(1))
    assert abs((found == 0).float().mean().item() - 0.5) < 0.02 and found.max() == 1


class Replayed(SeatCrew):
    """An opponent whose every reply is noted by match."""

    def __init__(self, *told: Any) -> None:
        super().__init__(*told)
        self.said: dict[int, list[int]] = {}

    def begin(self, matches: Any, seeds: Any) -> None:
        super().begin(matches, seeds)
        self.said |= {match: [] for match in matches.tolist()}

    def replies(self, matches: Any, messages: Any) -> Any:
        found = super().replies(matches, messages)
        for match, reply in zip(matches.tolist(), found.tolist(), strict=True):
            self.said[match].append(reply)
        return found


@BOTH
def test_what_is_won_on_the_way_adds_up_to_the_returns(game: Any) -> None:
    """Rewards of a learner that acts at random, over matches that end at different times."""
    name = "rockbot" if game is RRPS else "CFR+"
    opponent = house(name)
    crew = Replayed(game, opponent.kind, opponent.source)
    rng = np.random.default_rng(3)
    episodes = Episodes(game, [crew], [1.0], 5, rng)
    assert sorted(episodes.renew()) == [0, 1, 2, 3, 4]
    total, ended = np.zeros(5), 0
    while ended < 5:
        sight = episodes.sight()
        assert (sight.legal.any(axis=1)).all()
        actions = np.array([rng.choice(np.flatnonzero(row)) for row in sight.legal])
        total += episodes.step(actions) * (game.most / game.length)
        ended = len(episodes.returns)
    assert sorted(np.rint(total)) == sorted(episodes.returns)
    assert not episodes.sight().playing.any()
    assert set(crew.said) == {0, 1, 2, 3, 4} and all(crew.said.values())


def test_it_beats_rockbot() -> None:
    """More than nine of ten throws, with the published settings, in a few seconds."""
    training = usual_training(RRPS)
    learner, episodes = learner_against(training, [house("rockbot")], RRPS)
    while learner.decisions < 500_000 and np.mean(episodes.returns[-64:] or [0.0]) < 920:
        learner.round()
    assert np.mean(episodes.returns[-64:]) > 900


def test_it_approaches_the_best_response_to_alwayscall() -> None:
    """Within a quarter of the 146.67 chips a match that are possible, in a short training.

    A smaller network than the published one and more gradient steps, so that it takes seconds;
    what it has reached is an average over 256 matches in which it still learned.  By 250,000
    decisions seeds 1 and 2 were at 132 and 138.
    """
    opponent = house("AlwaysCall")
    assert LEDUC.states is not None
    best = best_response_value(LEDUC.states, states_of(LEDUC.states, opponent.source))
    training = replace(
        usual_training(LEDUC),
        hidden=(64,),
        learning_rate=0.002,
        entropy_cost=0.02,
        unroll=20,
        batch=16,
        environments=32,
    )
    learner, episodes = learner_against(training, [opponent], LEDUC)
    while learner.decisions < 250_000 and np.mean(episodes.returns[-256:] or [0.0]) < 0.8 * best:
        learner.round()
    assert len(episodes.returns) > 256
    assert 0.75 * best < np.mean(episodes.returns[-256:]) < best + 10


def scored(sources: Sequence[str], *, effort: float = 1.0) -> tuple[Score | Failure, ...]:
    """Made-up scores that follow from the source."""
    return tuple(
        Score(len(set(source[-2000:])) / 10, 1.0, (Against("d", 0.0, 1.0, 4),))
        for source in sources
    )


def task_against(*opponents: Opponent) -> Task:
    return Task(RRPS, opponents, "", 5, "k01", kind="neural")


def test_an_answer_is_a_network_with_an_account_of_its_training() -> None:
    oracle = Impala(SMALL)
    found = oracle.respond(task_against(house("rockbot")), scored)
    assert isinstance(found, Response) and len(found.attempts) == 2
    assert found.best.score.u == max(one.score.u for one in found.attempts if one.score)
    told = oracle.account(found.best.source)
    assert told["training"]["learning_rate"] == 0.001 and told["decisions"] <= 40_000
    assert "LSTM 32" in told["architecture"]
    points = oracle.account(found.best.source)["returns"]
    assert points and all(len(point) == 4 for point in points)


def test_training_tells_how_far_it_is() -> None:
    told: list[tuple[int, int]] = []
    tiny = replace(SMALL, steps=3_200, checkpoints=2)
    Impala(tiny, lambda done, wanted: told.append((done, wanted))).respond(
        task_against(house("rockbot")), scored
    )
    done = [one for one, _ in told]
    assert len(done) == tiny.rounds and done == sorted(set(done))
    assert {wanted for _, wanted in told} == {done[-1]} and done[-1] >= 3_200


def test_the_same_task_gives_the_same_network() -> None:
    """So a run that is resumed goes on as it would have."""
    tiny = replace(SMALL, steps=3_200, checkpoints=1)
    opponents = (house("rockbot", 0.5), house("copybot", 0.5))
    first = Impala(tiny).respond(task_against(*opponents), scored)
    again = Impala(tiny).respond(task_against(*opponents), scored)
    other = Impala(tiny).respond(replace(task_against(*opponents), seed=6), scored)
    assert first == again and first.best.source != other.best.source


def test_checkpoints_that_cannot_play_are_passed_over() -> None:
    failure = Failure(Rejected.DUPLICATE, "known")

    def refuse(sources: Sequence[str], *, effort: float = 1.0) -> tuple[Failure, ...]:
        return (failure,)

    tiny = replace(SMALL, steps=320, checkpoints=1)
    with pytest.raises(OracleExhausted) as raised:
        Impala(tiny).respond(task_against(house("rockbot")), refuse)
    assert [one.failure for one in raised.value.attempts] == [failure]


@BOTH
def test_a_training_that_diverges_is_a_failed_attempt(game: Any) -> None:
    """With steps as large as these no weight stays finite."""
    wild = replace(SMALL, steps=3_200, learning_rate=1e30)
    opponent = house("rockbot" if game is RRPS else "AlwaysCall")
    with pytest.raises(OracleExhausted) as raised:
        Impala(wild).respond(Task(game, (opponent,), "", 5, "k01", kind="neural"), scored)
    (attempt,) = raised.value.attempts
    assert attempt.failure is not None and attempt.failure.kind is Rejected.DIVERGED
    assert "not finite after" in attempt.failure.reason and attempt.score is None


class Watched(Impala):
    """Lets a test at the network in training."""

    def _learner(self, task: Task) -> tuple[Learner, Episodes]:
        self.learner, episodes = super()._learner(task)
        return self.learner, episodes


def test_checkpoints_before_a_divergence_count() -> None:
    oracle = Watched(replace(SMALL, steps=3_200, checkpoints=3))

    def spoil(sources: Sequence[str], *, effort: float = 1.0) -> tuple[Score | Failure, ...]:
        found = scored(sources)
        with torch.no_grad():
            oracle.learner.net.core.weight_hh_l0[0, 0] = math.nan
        return found

    found = oracle.respond(task_against(house("rockbot")), spoil)
    assert isinstance(found, Response)
    first, second = found.attempts
    assert found.best.digest == first.digest and first.score is not None
    assert second.failure is not None and second.failure.kind is Rejected.DIVERGED


def test_one_match_has_no_standard_error() -> None:
    _, episodes = learner_against(SMALL, [house("rockbot")], RRPS)
    curve = _Curve(episodes)
    episodes.returns.append(10.0)
    curve.point(20)
    episodes.returns += [1.0, 3.0, 8.0]
    curve.point(40)
    curve.point(60)
    assert curve.points == [(20, 10.0, None, 1), (40, 4.0, 2.08, 3)]
    alone, several = (_point(point) for point in curve.points)
    assert alone.endswith("+10.0  (1 match)") and several.endswith("+4.0 ± 2.1  (3 matches)")


def test_programs_are_refused_as_opponents() -> None:
    program = Opponent("d", "ada/rock", "class Agent: ...", 1.0)
    with pytest.raises(UsageFault, match="ada/rock is of kind python"):
        Impala(SMALL).respond(task_against(program), scored)


@pytest.mark.parametrize(
    "changed", [{"steps": 0}, {"environments": 30}, {"discount": 1.5}, {"threads": 0}]
)
def test_settings_that_make_no_sense_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        replace(SMALL, **changed)


def test_published_settings_are_the_defaults() -> None:
    rrps, leduc = usual_training(RRPS), usual_training(LEDUC)
    assert (rrps.learning_rate, rrps.hidden, rrps.unroll, rrps.batch) == (1e-4, (256, 128), 20, 16)
    assert (leduc.learning_rate, leduc.hidden, leduc.unroll) == (1e-3, (512, 256), 40)
    assert (leduc.batch, leduc.entropy_cost, rrps.entropy_cost) == (64, 0.01, 0.001)
    assert rrps.max_gradient_norm == leduc.max_gradient_norm == 40
    assert usual_training(RRPS, steps=1, checkpoints=3).rounds == 3
