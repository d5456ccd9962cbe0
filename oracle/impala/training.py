"""What a training is told: frozen values, stored with a run.  Needs no PyTorch."""

from __future__ import annotations

from dataclasses import dataclass

from arena.errors import UsageFault
from arena.games.protocol import Game
from arena.kinds.host import FACTORIES
from arena.kinds.neural import tensors_of

STEPS = 2_000_000
"""Decisions of the learner in one training, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Training:
    """How a network is trained.

    The first six are what the CSRO paper's search found best for a game (`Game.tensors.learning`).
    The rest the paper does not say.  `discount`, `baseline_cost` and the clipping of importance
    weights at 1 are IMPALA's.  The optimiser is Adam, because with it one learning rate serves
    returns of any scale.

    Attributes:
      learning_rate: of Adam.
      hidden: widths of the layers; the LSTM is as wide as the last.
      unroll: decisions in a row that one gradient goes through.
      entropy_cost: weight of the entropy.
      batch: unrolls in a gradient step.
      max_gradient_norm: longer gradients are scaled down to it.
      steps: decisions of the learner in all, about: turns of a match that waits count as well.
      environments: matches that are played at once; a multiple of `batch`.  Each part of them is
        a gradient step, so the policy that acted is up to so many steps old: V-trace corrects that.
      discount: of what is won a decision later.
      baseline_cost: weight of the value's squared error.
      checkpoints: how often the network is scored in the arena on the way, the end included; the
        best of these is the answer.  Each is kept as a version, of 0.5 to 2 MB.
      device: of PyTorch, such as "cpu" or "cuda".
      threads: of PyTorch on a CPU.  Networks this small gain little from a second one, and on cores
        that others use as well two threads were thirty times slower than one.
    """

    learning_rate: float
    hidden: tuple[int, ...]
    unroll: int
    entropy_cost: float
    batch: int
    max_gradient_norm: float
    steps: int = STEPS
    environments: int = 64
    discount: float = 0.99
    baseline_cost: float = 0.5
    checkpoints: int = 1
    device: str = "cpu"
    threads: int = 1

    def __post_init__(self) -> None:
        least = {
            "unroll": self.unroll,
            "batch": self.batch,
            "steps": self.steps,
            "checkpoints": self.checkpoints,
            "threads": self.threads,
            "environments": self.environments,
        }
        for name, value in least.items():
            if value < 1:
                raise ValueError(f"{name} is {value}; it must be at least 1")
        if self.environments % self.batch:
            raise ValueError(
                f"{self.environments} environments are no multiple of a batch of {self.batch}"
            )
        if not 0.0 <= self.discount <= 1.0:
            raise ValueError(f"discount is {self.discount}; it must be in [0, 1]")

    def __str__(self) -> str:
        layers = "-".join(map(str, self.hidden))
        return (
            f"{self.steps:,} decisions, learning rate {self.learning_rate:g}, layers {layers}, "
            f"unroll {self.unroll}, batch {self.batch}, entropy cost {self.entropy_cost:g}, "
            f"on {self.device}" + (f", {self.checkpoints} checkpoints" * (self.checkpoints > 1))
        )

    @property
    def variant(self) -> str:
        """What tells trainings of one game apart, in few words: whatever a command may choose."""
        told = [f"{self.steps:,} decisions"]
        told += [f"{self.checkpoints} checkpoints"] if self.checkpoints > 1 else []
        told += [f"on {self.device}"] if self.device != "cpu" else []
        return ", ".join(told)

    @property
    def decisions_a_round(self) -> int:
        """Decisions between two looks at what the matches brought."""
        return self.environments * self.unroll

    @property
    def rounds(self) -> int:
        """Rounds of a whole training; at least one for each checkpoint."""
        return max(self.checkpoints, -(-self.steps // self.decisions_a_round))


def check_opponent(ref: str, kind: str) -> None:
    """Finds out whether networks can be trained against a policy of that kind.

    Raises:
      UsageFault: they cannot.
    """
    if kind not in FACTORIES:
        raise UsageFault(
            f"{ref} is of kind {kind}: networks are trained against policies of kind "
            f"{', '.join(sorted(FACTORIES))}, because a program of somebody else's runs in the "
            "sandbox alone, which is too slow for every decision of a training"
        )


def usual_training(
    game: Game, *, steps: int = STEPS, checkpoints: int = 1, device: str = "cpu"
) -> Training:
    """The published settings of a game, with four parts to a round of matches.

    Raises:
      ValueError: no networks play it.
    """
    found = tensors_of(game).learning
    return Training(
        learning_rate=found.learning_rate,
        hidden=found.hidden,
        unroll=found.unroll,
        entropy_cost=found.entropy_cost,
        batch=found.batch,
        max_gradient_norm=found.max_gradient_norm,
        steps=steps,
        environments=max(64, 2 * found.batch),
        checkpoints=checkpoints,
        device=device,
    )
