"""A run of CSRO from Python, with an oracle that somebody wrote."""

from __future__ import annotations

from arena.analysis.meta_strategy import DEFAULT_SOLVER
from arena.errors import UsageFault
from arena.games import game as game_named
from arena.games.protocol import Game
from arena.local import Arena
from oracle.asking import AnyOracle, identity
from population.config import CUSTOM, OracleChoice, RunConfig, measuring_for
from population.csro import Csro, Result
from population.evaluator import Lineage
from population.logbook import Logbook, Silent, Watcher, at_work
from population.matches import Matches
from population.members import named_initial
from population.runs import Runs


def run_csro(
    arena: Arena,
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
    shared: bool = False,
    watcher: Watcher | None = None,
) -> Result:
    """Runs CSRO with an oracle of your own, or goes on with the run of that name.

    The run is kept like any other: `csro list` and `csro report` tell of it.  Which oracle it was
    is part of its configuration (`oracle.asking.identity`).

    Args:
      arena: where programs are registered and play.
      game: which game.
      oracle: writes best responses: an object with `respond`, or a function.
      name: of the run; its meta-strategy will be csro/NAME.
      iterations: K, policies added.
      seed: of every random choice; an oracle gets its own in each task.
      solver: of the meta-game, a key of `arena.analysis.meta_strategy.SOLVERS`.
      initial: reference of the first policy; "" for the built-in one.
      payoff_matches: of each pair of members, at least 4; by default what the game's noise asks.
      evaluation_matches: of a candidate against the meta-strategy, likewise.
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
    budget = measuring_for(played.name, payoff_matches, evaluation_matches)
    choice = OracleChoice(identity(oracle), CUSTOM)
    if choice.name.endswith("<lambda>"):
        raise UsageFault(
            "an oracle that is a lambda has no name that tells it from others, so nobody could go "
            "on with its run: write it with def"
        )
    config = RunConfig(played.name, choice, iterations, seed, solver, initial, budget)
    if initial:
        named_initial(arena, played, initial, choice)  # before anything is stored
    runs, lineage = Runs(arena.home.path), Lineage({"run": name, "oracle": choice.name})
    runs.start(name, config)
    with at_work(runs, name):
        matches = Matches(arena, played, shared)
        log = Logbook(name, iterations, runs, matches, watcher or Silent())
        return Csro(name, config, oracle, lambda source: lineage, matches, log).run()
