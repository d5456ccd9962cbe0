"""The command that starts a run like a stored one."""

from __future__ import annotations

from shlex import quote

from arena.analysis.meta_strategy import DEFAULT_SOLVER
from arena.games import game as game_named
from oracle.impala.training import usual_training
from population.config import TRAINER, RunConfig
from population.measuring import measuring_for


def command_of(config: RunConfig) -> str:
    """What starts a run like that; "" where no command does.

    Prices, limits and the pace at which a model is asked change no run and are left out.
    """
    oracle = config.oracle
    usual = measuring_for(config.game, hidden_share=config.hidden_share)
    of_now = config.afresh and config.common_cards and config.frugal
    of_now = of_now and config.credulous and config.yardsticks and config.halving
    of_now = of_now and config.fine_classes
    if oracle.custom or not of_now or config.matches.hidden != usual.hidden:
        return ""  # its author's own script; a program of before
    options = _training_told(config) if oracle.training else _writing_told(config)
    if options is None:
        return ""
    options |= {"--iterations": config.iterations, "--seed": config.seed}
    rare = (
        ("--meta-solver", config.solver, DEFAULT_SOLVER),
        ("--initial", config.initial if "@" in config.initial else config.begins, ""),
        ("--payoff-matches", config.matches.payoff, usual.payoff),
        ("--evaluation-matches", config.matches.evaluation, usual.evaluation),
        ("--hidden-share", config.pool.hidden_share, 0.0),
    )
    options |= {name: value for name, value, default in rare if value != default}
    said = [f"{name} {quote(str(one))}" for name, one in options.items() if one is not None]
    return " ".join(["csro run", *said])


def _writing_told(config: RunConfig) -> dict[str, object]:
    """Options of a run whose oracle writes programs."""
    oracle = config.oracle
    asking, idle = oracle.asking, oracle.idle_options()
    options: dict[str, object] = {"--game": config.game, "--model": oracle.model}
    options["--oracle"] = oracle.name
    told: dict[str, dict[str, object]] = {
        "opponents": {"--opponents": oracle.opponents},
        "shown": {"--filter": oracle.shown},
        "refinements": {"--refinements": oracle.refinements},
        "drafts": {"--drafts": oracle.drafts},
        "asking": {
            "--temperature": asking.temperature,
            "--max-output-tokens": asking.max_output_tokens,
            "--thinking": asking.thinking,
        },
    }
    for name, words in told.items():
        if name not in idle:
            options.update(words)
    return options


def _training_told(config: RunConfig) -> dict[str, object] | None:
    """Options of a run whose oracle trains networks; None where no option tells its settings."""
    training, game = config.oracle.training, game_named(config.game)
    assert training is not None
    steps, checkpoints, device = training.steps, training.checkpoints, training.device
    if usual_training(game, steps=steps, checkpoints=checkpoints, device=device) != training:
        return None
    options = {"--steps": steps, "--checkpoints": checkpoints, "--device": device}
    return {"--game": config.game, "--oracle": TRAINER, **options}
