"""Runs whose oracle trains networks: what they need, and where their answers come from."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from arena.errors import UsageFault
from arena.extras import install_command
from arena.games.protocol import Game
from arena.kinds.neural import tensors_of
from arena.tally import Progress, silent
from oracle.impala.training import Training, usual_training
from population.config import NETWORK, TRAINER, OracleChoice
from population.evaluator import Lineage

if TYPE_CHECKING:  # needs PyTorch
    from oracle.impala.oracle import Impala


class Upbringing:
    """What is registered about networks: the run, and what their training was."""

    def __init__(self, oracle: Impala, provenance: Mapping[str, object]) -> None:
        self._oracle = oracle
        self._provenance = MappingProxyType(dict(provenance))

    def lineage_of(self, source: str) -> Lineage:
        """See `population.oracles.Origins`."""
        return Lineage({**self._provenance, **self._oracle.account(source)})


def trained_choice(game: Game, **given: Any) -> OracleChoice:
    """The oracle that trains networks, with a game's usual settings but for those given.

    Raises:
      UsageFault: no networks play the game, or a setting makes no sense.
    """
    check_game(game)
    try:
        return OracleChoice(TRAINER, NETWORK, training=usual_training(game, **given))
    except ValueError as error:
        raise UsageFault(str(error)) from error


def check_game(game: Game) -> None:
    """Finds out whether networks play a game.

    Raises:
      UsageFault: they do not.
    """
    try:
        tensors_of(game)
    except ValueError as error:
        raise UsageFault(f"{error}: the oracle {TRAINER} cannot train for it") from error


def check_training(training: Training) -> str:
    """Finds out, before anything is stored or played, whether networks can be trained here.

    Returns:
      What is to be said of it.

    Raises:
      UsageFault: PyTorch is missing, or has no such device.
    """
    try:
        import torch
    except ImportError as error:
        raise UsageFault(
            f"the oracle {TRAINER} trains with PyTorch, which is not installed: "
            + install_command("rl")
        ) from error
    try:
        computed = torch.ones(1, device=torch.device(training.device)) + 1
        if computed.cpu().item() != 2:  # some devices, such as meta, hold no numbers
            raise RuntimeError("what it computes is wrong")
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise UsageFault(f"PyTorch cannot use the device {training.device!r}: {reason}") from error
    return f"{training}; PyTorch {torch.__version__}"


def trainer(run: str, training: Training, learns: Progress = silent) -> tuple[Impala, Upbringing]:
    """The oracle of a run, and what it can tell of its networks.

    `learns` is told of (decisions done, decisions to do) while it trains.
    """
    from oracle.impala.oracle import Impala

    oracle = Impala(training, learns)
    return oracle, Upbringing(oracle, {"run": run, "oracle": TRAINER, "model": NETWORK})
