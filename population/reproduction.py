"""The rows of the paper's tables, each with what stands for it here, or with what it would take.

A row is filled by a house entrant of its name, by a learner of the game (`Game.learners`), or by
finished runs of CSRO whose oracle is what the row names.  What nobody ran says by which command it
is run and what its model calls would cost; no figure is made up for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from arena.games import game as game_named
from arena.games.parts import Learner
from arena.games.protocol import Game
from arena.house.population import Population
from arena.rejection import Rejection
from arena.seam import AnyArena
from arena.submission import prepare
from oracle.alpha_evolve import Evolution
from population.commands import command_of
from population.comparison import End, end_of, title_of
from population.config import OracleChoice, RunConfig
from population.edition import told_apart
from population.matches import Matches
from population.measuring import measuring_for
from population.members import AUTHOR
from population.newcomers import TITLE, newcomers
from population.paper import PaperRow, methods, variants
from population.records import RunRecord
from population.scores import Measured, Ours, Scores, measure, measured, over_seeds

ITERATIONS, REFINEMENTS = 20, 10
"""K and M of the paper."""
FIRST_SEED = 1
_ORACLES = {"ZeroShot": "zero-shot", "LinearRefinement": "linear", "AlphaEvolve": "alpha-evolve"}
_FILTERS = {
    "none": "all",
    "no filter": "all",
    "top5": "top-k:5",
    "top 5": "top-k:5",
    "min_support": "min-support:0.05",
}
_TITLE = re.compile(r"CSRO (?P<oracle>\w+)(?: \((?P<input>[^;]+); (?P<filter>[^)]+)\))?")
_LIKE_CODE = ("code", "top 5")
"""Input and filter of a row that names neither: those of the paper's best."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table.

    Attributes:
      method: what it is called.
      published: the paper's figures; None where the paper has no such row.
      ours: figures measured here; None where nothing was run.
      how: what was run, or how to run it.
      note: what differs, and why.
      digests: the programs that the figures are of, where they are no run's.
    """

    method: str
    published: PaperRow | None
    ours: Ours | None
    how: str
    note: str = ""
    digests: tuple[str, ...] = ()


def enter_learner(matches: Matches, learner: Learner, seed: int) -> str:
    """Trains a learner and makes its program an entrant; returns the digest.

    Raises:
      AssertionError: our own program is refused.
    """
    suffix = f"-s{seed}" if learner.trained else ""
    prepared = prepare(
        matches.game,
        learner.source(seed),
        name=f"{AUTHOR}/{learner.name}{suffix}",
        labels={"learner": learner.name},
        provenance={"author": "Policy Arena", "method": learner.title, "seed": seed},
    )
    (entered,) = matches.arena.enter(matches.game, [prepared], ours=True)
    if isinstance(entered, Rejection):
        raise AssertionError(f"{learner.title}: {entered.message}")
    return entered.version.digest


def learner_row(
    matches: Matches, learner: Learner, seeds: Sequence[int], count: int, population: Population
) -> Row:
    """Trains, enters and measures a learner."""
    digests = [
        enter_learner(matches, learner, seed) for seed in (seeds if learner.trained else seeds[:1])
    ]
    known = measure(matches, dict.fromkeys(digests, count), population)
    number = f"{len(digests)} seeds" if len(digests) > 1 else "one program"
    return Row(
        learner.title,
        _published(matches.game, learner.beside or learner.title),
        over_seeds(_complete(known, digests), matches.game),
        f"{number}, trained here" if learner.trained else number,
        learner.note,
        tuple(digests),
    )


def house_row(matches: Matches, published: PaperRow, count: int, population: Population) -> Row:
    """A row of the name of a house entrant, measured.

    Raises:
      UnknownPolicy: there is no such entrant.
    """
    version = matches.arena.policy(f"house/{published.method}", matches.game)
    known = measure(matches, {version.digest: count}, population)
    scores = over_seeds(_complete(known, [version.digest]), matches.game)
    return Row(published.method, published, scores, version.ref, digests=(version.digest,))


def brought_up_to_date(row: Row, arena: AnyArena, game: Game, population: Population) -> Row:
    """A row with figures from all that is stored by now.

    Intervals follow from how much deals differ in everything that was played, later rows included.
    """
    if not row.digests:
        return row
    known = measured(arena, game, row.digests, population)
    return replace(row, ours=over_seeds(_complete(known, row.digests), game))


def _complete(known: Measured, digests: Sequence[str]) -> list[Scores]:
    found = [known.single(digest) for digest in digests]
    missing = [digest for digest, one in zip(digests, found, strict=True) if one is None]
    if missing:
        raise AssertionError(f"not measured: {missing}")
    return [one for one in found if one is not None]


def _published(game: Game, method: str) -> PaperRow | None:
    return next((row for row in methods(game.name) if row.method == method), None)


def choice_of(method: str, model: str) -> OracleChoice | None:
    """The oracle that a row of the paper names, with a model; None where it names none."""
    found = _TITLE.fullmatch(method)
    if found is None or found["oracle"] not in _ORACLES:
        return None
    told, shown = (found["input"], found["filter"]) if found["input"] else _LIKE_CODE
    return OracleChoice(_ORACLES[found["oracle"]], model, told, _FILTERS[shown], REFINEMENTS)


def rows_to_run(game: Game) -> tuple[PaperRow, ...]:
    """The rows of CSRO's variants: those of the table of variants, else of the main one.

    The main table has the best of the variants once more, under shorter names.
    """
    table = variants(game.name) or methods(game.name)
    return tuple(row for row in table if choice_of(row.method, "") is not None)


def calls_at_most(choice: OracleChoice) -> int:
    """Drafts that a run asks for at most; repairs and descriptions are not counted."""
    if choice.name == "linear":
        return ITERATIONS * (1 + choice.refinements)
    if choice.name == "alpha-evolve":
        return ITERATIONS * Evolution(generations=choice.refinements).attempts
    return ITERATIONS


def run_of(game: Game, choice: OracleChoice, seed: int, iterations: int = ITERATIONS) -> RunConfig:
    """A run for a row of a table, with all that the paper does not name as it is by default."""
    return RunConfig(game.name, choice, iterations, seed, matches=measuring_for(game.name))


def variant_rows(
    game: Game,
    published: PaperRow,
    runs: Iterable[tuple[RunRecord, Measured]],
    model: str,
    price: str,
) -> list[Row]:
    """A row of the paper's variants for each model that ran it, or what it would take.

    Args:
      game: of the table.
      published: the paper's row.
      runs: finished runs of the game.
      model: that the command names where there is no run.
      price: what its calls would come to, in words.
    """
    filling = [one for one in runs if fills(one[0].config, published.method)]
    filled = []
    for config, group in by_variant(filling).items():
        asking = str(config.oracle.asking)
        by = ", ".join(filter(None, (config.oracle.model, asking, told_apart(config))))
        ours = over_seeds([one.scores for one in group], game)
        row = Row(published.method, published, ours, f"by {by}, {seeds_of(group)}")
        filled.append(with_first(row, group, game))
    if filled:
        return [row for rows in sorted(filled, key=lambda rows: rows[0].how) for row in rows]
    asked = choice_of(published.method, model)
    assert asked is not None  # rows_to_run has no other
    note = f"not run: needs a model; {price}"
    how = command_of(run_of(game, asked, FIRST_SEED))
    return [Row(published.method, published, None, how, note)]


@dataclass(frozen=True, slots=True)
class Counted:
    """A finished run that was measured, what is known of its members, and its own scores."""

    record: RunRecord
    known: Measured
    scores: Scores


def by_variant(
    runs: Iterable[tuple[RunRecord, Measured]],
) -> dict[RunConfig, list[Counted]]:
    """Measured runs with their scores, by what they have in common but for their seed.

    A run by another name of the same configuration and the same end counts once; a model may have
    answered otherwise, and then there are two of a seed.
    """
    groups: dict[RunConfig, list[Counted]] = {}
    counted: set[tuple[RunConfig, End]] = set()
    for record, known in sorted(runs, key=lambda one: (one[0].config.seed, one[0].name)):
        scores = known.of(record.final.weights) if record.final else None
        if record.final is None or scores is None:
            continue
        same = (record.config, end_of(record))
        if same not in counted:
            counted.add(same)
            groups.setdefault(record.config.pool, []).append(Counted(record, known, scores))
    return groups


def seeds_of(group: Sequence[Counted]) -> str:
    """The seeds of some runs, in words."""
    return f"seeds {', '.join(str(one.record.config.seed) for one in group)}"


def with_first(row: Row, group: Sequence[Counted], game: Game) -> list[Row]:
    """A row of runs, and below it what their first newcomers reach alone, if that was measured."""
    first = newcomers([(one.record, one.known) for one in group], game)
    if first is None:
        return [row]
    note = "the program that joined first, which knew no other of its run"
    return [row, Row(f"{row.method}: {TITLE}", None, first.ours, f"{row.how}; {first}", note)]


def fills(config: RunConfig, method: str) -> bool:
    """Whether a run is one of a row of the paper: as we would run it, but for seed and model.

    How the model is asked (temperature, thinking) is the row's own, as the paper does not say; by
    which edition of our prompts, the row's line says.
    """
    wanted = choice_of(method, config.oracle.model)
    if wanted is None or not config.oracle.writes_with_a_model:
        return False
    asked = replace(wanted, asking=config.oracle.asking)
    return config.pool.told == run_of(game_named(config.game), asked, 0).pool


def own_rows(game: Game, runs: Iterable[tuple[RunRecord, Measured]]) -> list[Row]:
    """Finished runs that are no row of the paper's, grouped by variant, the best first."""
    published = rows_to_run(game)
    others = [one for one in runs if not any(fills(one[0].config, row.method) for row in published)]
    found = []
    for config, group in by_variant(others).items():
        ours = over_seeds([one.scores for one in group], game)
        row = Row(f"CSRO {title_of(config)}, K {config.iterations}", None, ours, seeds_of(group))
        found.append((ours.agg_score.value, with_first(row, group, game)))
    return [row for _, rows in sorted(found, key=lambda one: -one[0]) for row in rows]
