"""Decisions a second of IMPALA, against a plain loop over OpenSpiel with the same network.

    python benchmarks/impala_speed.py --game rrps --opponent rockbot --seconds 20

Both train the same network by the same rule (V-trace, the published settings of the game) against
the same opponent, one after the other.  The plain loop is what one would write first: one match of
the engine at a time, a forward pass for each decision, a gradient step when a batch of unrolls is
there.  In Leduc hold'em its matches are hands one after the other, and its opponent always calls.
Compare the two rates of one run, and no rates of different runs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyspiel
import torch

from arena.games import GAMES
from arena.games.protocol import Game
from arena.kinds.neural import architecture_of
from oracle.impala.environments import Episodes
from oracle.impala.learner import Learner
from oracle.impala.net import RecurrentNet, fresh, log_policy
from oracle.impala.opponents import crew_of, drawn
from oracle.impala.training import Training, usual_training
from oracle.impala.vtrace import vtrace
from oracle.values import Opponent

SEED = 1
HANDS = 100


class Decision(NamedTuple):
    """One point of a plain loop: what is seen there, and what the decision before has won."""

    seen: list[float]
    legal: list[int]
    won: float
    over: bool


def lockstep_rate(game: Game, opponent: str, training: Training, seconds: float) -> float:
    """Decisions a second of our learner."""
    (found,) = [one for one in game.house() if one.name == f"house/{opponent}"]
    met = Opponent("d", opponent, found.payload, 1.0, found.kind)
    rng, device = np.random.default_rng(SEED), torch.device(training.device)
    generator = torch.Generator(device).manual_seed(SEED)
    crew = crew_of(game, met, training.environments, generator, device)
    net = fresh(architecture_of(game, training.hidden), rng).to(device)
    episodes = Episodes(game, [crew], [1.0], training.environments, rng)
    learner = Learner(net, episodes, training, generator)
    learner.round()
    before, started = learner.decisions, time.perf_counter()
    while time.perf_counter() - started < seconds:
        learner.round()
    return (learner.decisions - before) / (time.perf_counter() - started)


def throws(opponent: str) -> Iterator[Decision]:
    """The learner's decisions in repeated rock-paper-scissors; it is sent its actions."""
    game = pyspiel.load_game("repeated_game(stage_game=matrix_rps(),num_repetitions=1000)")
    while True:
        state = game.new_initial_state()
        bot = pyspiel.make_roshambo_bot(1, opponent)
        won = 0.0
        while not state.is_terminal():
            action = yield Decision(state.observation_tensor(0), [0, 1, 2], won, False)
            state.apply_actions([action, bot.step(state)])
            won = state.rewards()[0]
        yield Decision(state.observation_tensor(0), [0, 1, 2], won, True)


def hands(opponent: str) -> Iterator[Decision]:
    """The same in hands of Leduc hold'em, a hundred to a match, against one who always calls."""
    if opponent != "AlwaysCall":
        raise SystemExit("the plain loop of this game knows AlwaysCall alone")
    game, rng = pyspiel.load_game("leduc_poker(suit_isomorphism=true)"), np.random.default_rng(SEED)
    state = game.new_initial_state()
    while True:
        won = 0.0
        for number in range(HANDS):
            me, state = number % 2, game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    cards, chances = zip(*state.chance_outcomes(), strict=True)
                    state.apply_action(int(rng.choice(cards, p=chances)))
                elif state.current_player() == me:
                    seen = state.information_state_tensor(me)
                    state.apply_action((yield Decision(seen, state.legal_actions(), won, False)))
                    won = 0.0
                else:
                    state.apply_action(1)
            won += state.returns()[me]
        yield Decision(state.information_state_tensor(0), [1], won, True)


def plain_rate(game: Game, opponent: str, training: Training, seconds: float) -> float:
    """Decisions a second of one match at a time, with gradient steps of the same size."""
    loop = throws(opponent) if game.bots else hands(opponent)
    net = fresh(architecture_of(game, training.hidden), np.random.default_rng(SEED))
    net = net.to(training.device)
    optimiser = torch.optim.Adam(net.parameters(), lr=training.learning_rate)
    generator = torch.Generator(training.device).manual_seed(SEED)
    state = net.initial(1, torch.device(training.device))
    point, batch, decisions, started = next(loop), [], 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        unroll, start = [], state
        for _ in range(training.unroll):
            inputs, legal = as_tensors(game, net, point, training.device)
            with torch.no_grad():
                logits, _, state = net(inputs[None], state)
                logs = log_policy(logits[0], legal)
                action = int(drawn(logs, generator)[0])
            point = loop.send(action)
            unroll.append((inputs, legal, action, logs[0, action], point.won, point.over))
            if point.over:
                state = net.initial(1, torch.device(training.device))
                point = next(loop)
        decisions += training.unroll
        batch.append((unroll, start, as_tensors(game, net, point, training.device)[0]))
        if len(batch) == training.batch:
            improve(net, optimiser, batch, training)
            batch = []
    return decisions / (time.perf_counter() - started)


def as_tensors(game: Game, net: RecurrentNet, point: Decision, device: str) -> Any:
    """What is seen, filled up with zeros to the size of the network's inputs."""
    inputs = torch.zeros(1, net.architecture.inputs)
    inputs[0, : len(point.seen)] = torch.tensor(point.seen)
    legal = torch.zeros(1, len(game.actions), dtype=torch.bool)
    legal[0, point.legal] = True
    return inputs.to(device), legal.to(device)


def improve(net: RecurrentNet, optimiser: Any, batch: list[Any], training: Training) -> None:
    """The same gradient step as our learner's, on a batch of unrolls."""
    device = training.device

    def column(place: int) -> Any:
        return torch.tensor([[step[place] for step in unroll] for unroll, _, _ in batch]).T

    inputs = torch.stack(
        [torch.cat([*(step[0] for step in unroll), last]) for unroll, _, last in batch], dim=1
    )
    legal = torch.stack([torch.cat([step[1] for step in unroll]) for unroll, _, _ in batch], dim=1)
    actions, behaviour = column(2).to(device), column(3).to(device)
    rewards, over = column(4).to(device), column(5).to(device)
    start = tuple(torch.cat([state[part] for _, state, _ in batch]) for part in (0, 1))
    logits, values, _ = net(inputs, start)
    logs_of_all = log_policy(logits[:-1], legal)
    logs = logs_of_all.gather(-1, actions[..., None])[..., 0]
    discounts = training.discount * (~over).float()
    ratios = (logs - behaviour).detach()
    last = values[-1].detach()
    targets = vtrace(ratios, discounts, rewards.float(), values[:-1].detach(), last)
    entropy = -(logs_of_all.exp() * logs_of_all.masked_fill(~legal, 0.0)).sum(-1)
    loss = -(logs * targets.advantages) - training.entropy_cost * entropy
    loss = loss + training.baseline_cost * (targets.values - values[:-1]).square() / 2
    optimiser.zero_grad(set_to_none=True)
    loss.sum().backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), training.max_gradient_norm)
    optimiser.step()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", choices=["rrps", "leduc"], default="rrps")
    parser.add_argument("--opponent", default="rockbot")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--environments", type=int, default=0, help="0: the usual number")
    told = parser.parse_args()
    torch.set_num_threads(1)
    game = GAMES[told.game]
    training = usual_training(game, device=told.device)
    training = replace(training, environments=told.environments or training.environments)
    plain = plain_rate(game, told.opponent, training, told.seconds)
    ours = lockstep_rate(game, told.opponent, training, told.seconds)
    print(f"{training}, {training.environments} environments, against {told.opponent}")
    print(f"plain loop over OpenSpiel: {plain:,.0f} decisions a second")
    print(f"lockstep:                  {ours:,.0f} decisions a second, {ours / plain:.1f} times")


if __name__ == "__main__":
    main()
