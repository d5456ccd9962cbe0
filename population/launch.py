"""A run of CSRO, whoever begins it; and one from Python, with an oracle that somebody wrote."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from arena.analysis.meta_strategy import DEFAULT_SOLVER
from arena.errors import UsageFault
from arena.games import game as game_named
from arena.games.protocol import Game
from arena.local import Arena
from arena.remote import RemoteArena
from arena.seam import AnyArena
from oracle.asking import AnyOracle, identity
from population.config import CUSTOM, OracleChoice, RunConfig
from population.csro import Csro, Result
from population.errors import UnknownRun
from population.evaluator import Lineage
from population.keeping import runs_against
from population.logbook import Logbook, Silent, Watcher, at_work
from population.matches import Matches
from population.measuring import measuring_for
from population.members import settled
from population.records import RunState
from population.report.facts import result_of
from population.runs import Runs


def carry_out(
    runs: Runs,
    name: str,
    config: RunConfig,
    oracle: AnyOracle,
    lineage_of: Callable[[str], Lineage],
    matches: Matches,
    watcher: Watcher | None = None,
) -> Result:
    """Runs CSRO, or goes on from what is stored of the run.

    Args:
      runs: where the run is kept; it was started.
      name: of the run.
      config: what it is.
      oracle: writes best responses.
      lineage_of: where a program's author says what it was made from.
      matches: plays them.
      watcher: told how it goes on.
    """
    log = Logbook(name, config.iterations, runs, matches, watcher or Silent())
    return Csro(name, config, oracle, lineage_of, matches, log).run()


def run_csro(
    arena: AnyArena,
    game: Game | str,
    oracle: AnyOracle,
    *,
    name: str,
    iterations: int = 20,
    seed: int = 0,
    solver: str = DEFAULT_SOLVER,
    initial: str = "",
    payoff_matches: int | None = None,
    evaluation_matches: int | None = None,
    hidden_share: float = 0.0,
    shared: bool = False,
    watcher: Watcher | None = None,
) -> Result:
    """Runs CSRO with an oracle of your own, or goes on with the run of that name.

    The run is kept like any other: `csro list` and `csro report` tell of it.  One in an arena on a
    server is kept on this machine (`population.keeping`).  Which oracle it was
    is part of its configuration (`oracle.asking.identity`).

    Args:
      arena: where programs are registered and play, here or on a server.
      game: which game.
      oracle: writes best responses: an object with `respond`, or a function.
      name: of the run; its meta-strategy will be csro/NAME.
      iterations: K, policies added.
      seed: of every random choice; an oracle gets its own in each task.
      solver: of the meta-game, a key of `arena.analysis.meta_strategy.SOLVERS`.
      initial: reference of the first policy; "" for the built-in one.
      payoff_matches: of each pair of members, at least 4; by default what the game's noise asks.
      evaluation_matches: of a candidate against the meta-strategy, likewise.
      hidden_share: of the score that chooses among candidates, from 0 to below 1; it comes from
        opponents that the oracle is not shown (`population.hidden`).  Above 0, some more choose
        among equilibria (`population.yardsticks`).
      shared: you vouch for all programs that the oracle writes: matches of one may share a sealed
        worker, which is faster.
      watcher: told how it goes on.

    Raises:
      UsageFault: an option makes no sense, or the initial policy is no program.
      UnknownPolicy: there is no initial policy of that name.
      RunExists: a run of that name had another oracle, or other options.
      RunBusy: another process works on it.
      ArenaError, RegistryError, SandboxError, StoreError: calling it again goes on.
    """
    played = game_named(game) if isinstance(game, str) else game
    budget = measuring_for(played.name, payoff_matches, evaluation_matches, hidden_share)
    choice = OracleChoice(identity(oracle), CUSTOM)
    if choice.name.endswith("<lambda>"):
        raise UsageFault(
            "an oracle that is a lambda has no name that tells it from others, so nobody could go "
            "on with its run: write it with def"
        )
    config = RunConfig(
        played.name,
        choice,
        iterations,
        seed,
        solver,
        initial,
        matches=budget,
        hidden_share=hidden_share,
    )
    config = settled(arena, played, config)  # before anything is stored
    runs, lineage = _runs_of(arena), Lineage({"run": name, "oracle": choice.name})
    with suppress(UnknownRun):
        config = _by_rules_of(runs.get(name).config, config)
    if runs.start(name, config).state is RunState.FINISHED:
        return result_of(arena, runs, name)
    with at_work(runs, name):
        matches = Matches(arena, played, shared)
        return carry_out(runs, name, config, oracle, lambda source: lineage, matches, watcher)


def _by_rules_of(began: RunConfig, config: RunConfig) -> RunConfig:
    """The configuration, with what no argument says as it was when the stored run began."""
    return replace(
        config,
        afresh=began.afresh,
        common_cards=began.common_cards,
        frugal=began.frugal,
        credulous=began.credulous,
        yardsticks=began.yardsticks,
        halving=began.halving,
        fine_classes=began.fine_classes,
        matches=replace(config.matches, hidden=began.matches.hidden),
    )


def _runs_of(arena: AnyArena) -> Runs:
    if isinstance(arena, RemoteArena):
        return runs_against(arena.address)
    assert isinstance(arena, Arena)
    return Runs(arena.home.path)
