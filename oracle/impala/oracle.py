"""The oracle: trains a network against sigma, and answers with the best of its checkpoints."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import numpy as np
import torch

from arena.kinds.neural import KIND, architecture_of
from arena.tally import Progress, silent
from oracle.end import End, Ended
from oracle.impala.environments import Episodes
from oracle.impala.learner import Diverged, Learner
from oracle.impala.net import fresh, payload
from oracle.impala.opponents import crew_of
from oracle.impala.training import Training
from oracle.rations import ration_of
from oracle.values import (
    Attempt,
    Candidate,
    Evaluate,
    Failure,
    OracleExhausted,
    Rejected,
    Response,
    Score,
    Task,
)
from registry import digest_of

POINTS = 20
"""Of the curve of returns that is kept of a training."""


class Impala:
    """Trains anew for each task, from a network whose policy is uniform.

    Whom the learner meets is drawn from sigma in each match.  All random choices follow from the
    task's seed, so on one machine a training that is repeated gives the same network; another
    machine, device or number of threads adds in another order, and so may give another one.
    """

    name = "impala"

    def __init__(self, training: Training, learns: Progress = silent) -> None:
        """Gets ready; see `Training`.  `learns` is told of (decisions done, decisions to do)."""
        self._training, self._learns = training, learns
        self._accounts: dict[str, Mapping[str, Any]] = {}

    def account(self, source: str) -> Mapping[str, Any]:
        """What is registered about a network of a training: settings, decisions and returns.

        `returns` is the curve: decisions so far, mean return of the matches since the point before
        in the game's unit, its standard error (None for one match), and how many these were.
        """
        return self._accounts.get(source, {})

    def respond(self, task: Task, evaluate: Evaluate) -> Response:
        """Answers a task; see `oracle.values.Oracle`.

        A training that diverges ends with a failed attempt; the checkpoints before it count.

        Raises:
          OracleExhausted: no checkpoint could be scored.
          UsageFault: an opponent is of a kind that networks are not trained against.
        """
        with _threads(self._training.threads):
            return self._respond(task, evaluate)

    def _respond(self, task: Task, evaluate: Evaluate) -> Response:
        learner, episodes = self._learner(task)
        curve = _Curve(episodes)
        found: list[tuple[str, Attempt]] = []
        best, ration = -math.inf, ration_of(evaluate)
        for number in range(self._training.checkpoints):
            if ration is not None and number and ration.closed():
                break
            try:
                self._train(learner, curve, number)
            except Diverged as error:
                found.append(("", _diverged(number, learner, error)))
                break
            source = payload(task.game, learner.net)
            self._accounts[source] = self._told(task, learner, curve)
            (result,) = evaluate([source])
            score = result if isinstance(result, Score) else None
            kept = score is not None and score.u > best
            best = max(best, score.u) if score else best
            attempt = Attempt(
                number=number,
                parent="",
                call="",
                digest=digest_of(task.game.name, KIND, source),
                score=score,
                failure=None if isinstance(result, Score) else result,
                kept=kept,
            )
            found.append((source, attempt))
        return _response(found)

    def _train(self, learner: Learner, curve: _Curve, number: int) -> None:
        """Goes on to a checkpoint, by its number."""
        training = self._training
        rounds = _share(training.rounds, training.checkpoints, number)
        before = training.rounds * number // training.checkpoints
        every = max(1, training.rounds // POINTS)
        for done in range(1, rounds + 1):
            learner.round()
            # Turns that wait count here, so that what is done comes to what is to do.
            size = training.decisions_a_round
            self._learns((before + done) * size, training.rounds * size)
            if done % every == 0 or done == rounds:
                curve.point(learner.decisions)

    def _learner(self, task: Task) -> tuple[Learner, Episodes]:
        training, game = self._training, task.game
        device = torch.device(training.device)
        rng = np.random.default_rng(task.seed)
        generator = torch.Generator(device).manual_seed(task.seed % 2**63)
        crews = [
            crew_of(game, one, training.environments, generator, device) for one in task.opponents
        ]
        weights = [one.weight for one in task.opponents]
        net = fresh(architecture_of(game, training.hidden), rng).to(device)
        episodes = Episodes(game, crews, weights, training.environments, rng)
        return Learner(net, episodes, training, generator), episodes

    def _told(self, task: Task, learner: Learner, curve: _Curve) -> Mapping[str, Any]:
        settings = asdict(self._training)
        settings["hidden"] = list(self._training.hidden)
        return {
            "architecture": str(learner.net.architecture),
            "training": settings,
            "training_seed": str(task.seed),
            "decisions": learner.decisions,
            "returns": [list(point) for point in curve.points],
            "trained_with": f"PyTorch {torch.__version__} on {platform.machine()}",
        }


@contextmanager
def _threads(number: int) -> Iterator[None]:
    """So many threads for PyTorch meanwhile: in the whole process, which knows no other way."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class _Curve:
    """What a learner returned as it learned."""

    def __init__(self, episodes: Episodes) -> None:
        self._episodes, self._told = episodes, 0
        self.points: list[tuple[int, float, float | None, int]] = []

    def point(self, decisions: int) -> None:
        """Adds the matches that ended since the last point, unless there are none."""
        fresh_ones = self._episodes.returns[self._told :]
        if not fresh_ones:
            return
        self._told += len(fresh_ones)
        error, number = None, len(fresh_ones)
        if number > 1:
            error = round(float(np.std(fresh_ones, ddof=1)) / math.sqrt(number), 2)
        self.points.append((decisions, round(float(np.mean(fresh_ones)), 2), error, number))


def _share(total: int, parts: int, number: int) -> int:
    """The size of one of nearly equal parts."""
    return total * (number + 1) // parts - total * number // parts


def _diverged(number: int, learner: Learner, error: Diverged) -> Attempt:
    """The attempt that a training ended with."""
    reason = f"{error} after {learner.decisions:,} decisions; a smaller learning rate may help"
    return Attempt(
        number=number,
        parent="",
        call="",
        digest="",
        score=None,
        failure=Failure(Rejected.DIVERGED, reason),
        kept=False,
    )


def _response(found: list[tuple[str, Attempt]]) -> Response:
    attempts = tuple(attempt for _, attempt in found)
    failure = attempts[-1].failure
    diverged = failure is not None and failure.kind is Rejected.DIVERGED
    end = End((Ended.DIVERGED if diverged else Ended.MADE,))
    scored = [(a.score.u, source, a) for source, a in found if a.score is not None]
    if not scored:
        raise OracleExhausted("no checkpoint of the training could be scored", attempts, end)
    _, source, attempt = max(scored, key=lambda one: one[0])
    assert attempt.score is not None
    best = Candidate(source, attempt.digest, attempt.score, parent="", call="")
    return Response(best, attempts, end)
