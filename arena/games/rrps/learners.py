"""Learners that know no opponent, beside which published tables set what they propose."""

from __future__ import annotations

from pathlib import Path

from arena.games.parts import Learner
from arena.games.rrps.q_learning import Training, learned, rendered

_AS_THEIRS = "The same method; how theirs was trained is not published."
_CONTEXTUAL_REGRET = Path(__file__).with_name("contextual_regret.py")


class _QLearning:
    """From a seed to a program that plays a table of that recall."""

    def __init__(self, recall: int) -> None:
        self._training = Training(recall)

    def __call__(self, seed: int) -> str:
        return rendered(learned(self._training, seed))


def _contextual_regret(seed: int) -> str:
    return _CONTEXTUAL_REGRET.read_text(encoding="utf-8")


LEARNERS = (
    *(
        Learner(
            f"q-learning-r{recall}",
            f"Tabular Q-learning (recall {recall})",
            _QLearning(recall),
            trained=True,
            note=_AS_THEIRS if recall == 10 else "",
        )
        for recall in (1, 2, 3, 4, 5, 10)
    ),
    Learner(
        "contextual-regret",
        "Contextual regret matching",
        _contextual_regret,
        trained=False,
        beside="ContRM",
        note="Our own definition, as theirs is not published; it learns within a match only.",
    ),
)
