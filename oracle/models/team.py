"""Several models that write for one run, and a bandit that says whose turn it is.

Thompson sampling (Thompson 1933, doi:10.1093/biomet/25.3-4.285; Agrawal and Goyal 2012,
arXiv:1111.1797).  The chance that a model's draft becomes one of the best of its task has a
uniform prior; each draft draws from what the tasks before it, and the drafts that it is told of,
made of that, and the model with the highest draw writes it.  A draft is told of nothing that may
or may not be there yet (`oracle.team_writer`), so whose turn it is does not depend on which call is
answered first, and a run that goes on asks whom it would have asked.  What a call costs is not
weighed.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from oracle.models.prices import Price
from oracle.models.protocol import Model, Reply, Request


@dataclass(frozen=True, slots=True)
class Standing:
    """What came of a model's drafts.

    Attributes:
      tried: drafts.
      kept: those that became (one of) the best of their task when they were tried.
    """

    tried: int = 0
    kept: int = 0


Standings = Callable[[str], Mapping[str, Standing]]
"""From a task ("k03") to the standing of each model after all tasks before it, by name."""


class Team:
    """Models that take turns; to whoever asks, it is one model."""

    def __init__(self, models: Sequence[Model], seed: int, standings: Standings) -> None:
        """Gathers them.

        Args:
          models: at least two, each of another name.
          seed: of the draws.
          standings: what each did in the tasks before.
        """
        self._models = tuple(models)
        self._seed = seed
        self._standings = standings
        self._known: dict[str, Mapping[str, Standing]] = {}
        self._shown: dict[tuple[str, str], Mapping[str, bool]] = {}
        self._authors: dict[tuple[str, str], str] = {}
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The names of all."""
        return ",".join(model.name for model in self._models)

    @property
    def price(self) -> Price | None:
        """None: each has its own."""
        return None

    def turn(self, key: str) -> Model:
        """Who answers a call; the repairs of a draft are its author's.

        What belongs to no draft, such as the description of an opponent, is the first one's.

        Args:
          key: of the call, such as "k03/a02/r1".
        """
        task, _, rest = key.partition("/")
        draft = rest.partition("/")[0]
        if task == "describe":
            return self._models[0]
        rng = random.Random(f"{self._seed}/turn/{task}/{draft}")
        standings = self._standing(task, draft)

        def drawn(model: Model) -> float:
            known = standings.get(model.name, Standing())
            return rng.betavariate(1 + known.kept, 1 + known.tried - known.kept)

        found = max(self._models, key=drawn)
        with self._lock:
            self._authors[task, draft] = found.name
        return found

    def learn(self, task: str, draft: str, kept: Mapping[str, bool]) -> None:
        """What a task showed before a draft of it is written.

        Args:
          task: such as "k03".
          draft: its key.
          kept: keys of the drafts before it that it may know of, and whether each became the best.
        """
        with self._lock:
            self._shown[task, draft] = kept

    def generate(self, request: Request) -> Reply:
        """Asks the one whose turn it is; see `oracle.models.protocol.Model`."""
        return self.turn(request.key).generate(request)

    def close(self) -> None:
        """Ends the connections of all."""
        for model in self._models:
            model.close()

    def _standing(self, task: str, draft: str) -> Mapping[str, Standing]:
        """What each did in the tasks before, and in the drafts that this one is told of."""
        before = self._before(task)
        with self._lock:
            shown = self._shown.get((task, draft), {})
            authors = [(self._authors.get((task, key)), kept) for key, kept in shown.items()]
        tried = Counter(author for author, _ in authors)
        kept = Counter(author for author, kept in authors if kept)
        return {
            name: Standing(known.tried + tried[name], known.kept + kept[name])
            for name in {model.name for model in self._models}
            for known in [before.get(name, Standing())]
        }

    def _before(self, task: str) -> Mapping[str, Standing]:
        with self._lock:
            if task not in self._known:
                self._known[task] = self._standings(task)
            return self._known[task]
