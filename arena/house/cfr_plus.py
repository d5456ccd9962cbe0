"""Solves one hand of Leduc hold'em by CFR+ and writes the table that `house/CFR+` plays.

    python -m arena.house.cfr_plus

O. Tammelin, "Solving large imperfect information games using CFR+" (2014, arXiv:1407.5042): regret
matching plus, alternating updates, and an average in which iteration t has weight t.  The solver is
OpenSpiel's.  The same engine version writes the same bytes.
"""

from __future__ import annotations

import functools
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import click
import pyspiel

from arena.analysis.leduc_exact import exploitability, hand_value
from arena.games.tables import leduc as tables
from arena.kinds.tabular import Probabilities, payload_of, state_key, states_of

ITERATIONS = 10_000
SOLVED_GAME = "leduc_poker(suit_isomorphism=True)"
"""The engine's hand with cards of one rank merged: the same hand, with 288 information states."""
SOLVER = "pyspiel.CFRPlusSolver, average policy"
DATA = "leduc_cfr_plus.json.gz"


@dataclass(frozen=True, slots=True)
class Solution:
    """A solved hand.

    Attributes:
      payload: of the tabular policy.
      solver: what solved it.
      game: the engine's name of what was solved.
      iterations: of the solver.
      engine: name and version of the engine.
      exploitability: of the payload, in chips per hand, by an exact best response.
      nash_conv: twice that.
      value: what player 0 wins per hand when both play it, in chips.
    """

    payload: str
    solver: str
    game: str
    iterations: int
    engine: str
    exploitability: float
    nash_conv: float
    value: float


def solve(iterations: int = ITERATIONS) -> Solution:
    """Runs CFR+; 10,000 iterations take about 15 seconds."""
    game = pyspiel.load_game(SOLVED_GAME)
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    payload = payload_of(_table(game, solver.average_policy()))
    states = states_of(payload)
    gap = exploitability(states)
    return Solution(
        payload=payload,
        solver=SOLVER,
        game=SOLVED_GAME,
        iterations=iterations,
        engine=f"open_spiel {metadata.version('open_spiel')}",
        exploitability=gap,
        nash_conv=2 * gap,
        value=hand_value(states, states),
    )


def _table(game: Any, policy: Any) -> dict[str, Probabilities]:
    """The solver's policy by information state, read off a walk over the whole hand."""
    found: dict[str, Probabilities] = {}

    def walk(state: Any) -> None:
        if state.is_terminal():
            return
        if not state.is_chance_node():
            player = state.current_player()
            node = tables.NODES[tables.NODE_AFTER[tuple(state.round1()), tuple(state.round2())]]
            key = state_key(state.private_card(player), state.public_card(), node)
            if key not in found:
                chosen = policy.action_probabilities(state.information_state_string(player))
                found[key] = (chosen.get(0, 0.0), chosen.get(1, 0.0), chosen.get(2, 0.0))
        for action in state.legal_actions():
            walk(state.child(action))

    walk(game.new_initial_state())
    return found


def packed(solution: Solution) -> bytes:
    """The file's bytes: gzipped JSON, the same for the same solution."""
    fields = {
        "solver": solution.solver,
        "game": solution.game,
        "iterations": solution.iterations,
        "engine": solution.engine,
        "exploitability": solution.exploitability,
        "nash_conv": solution.nash_conv,
        "value": solution.value,
        "policy": json.loads(solution.payload),
    }
    text = json.dumps(fields, indent=1, sort_keys=True)
    return gzip.compress(text.encode(), compresslevel=9, mtime=0)


def unpacked(data: bytes) -> Solution:
    """The inverse of `packed`.

    Raises:
      ValueError: these are not the bytes of a solution.
    """
    try:
        fields: Mapping[str, Any] = json.loads(gzip.decompress(data))
        policy = fields["policy"]
        rest = {name: value for name, value in fields.items() if name != "policy"}
        return Solution(payload=payload_of(policy["states"]), **rest)
    except (OSError, KeyError, TypeError) as error:
        raise ValueError(f"these are not the bytes of a solved hand: {error}") from error


@functools.cache
def shipped() -> Solution:
    """The solution that comes with the package."""
    return unpacked(resources.files(__package__).joinpath("data", DATA).read_bytes())


@click.command()
@click.option("--iterations", default=ITERATIONS, show_default=True, help="Of CFR+.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path(__file__).parent / "data" / DATA,
    help="Where to write; by default the file in the package.",
)
def main(iterations: int, out: Path) -> None:
    """Solve a hand of Leduc hold'em by CFR+ and write the table."""
    solution = solve(iterations)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(packed(solution))
    click.echo(
        f"{iterations} iterations, NashConv {solution.nash_conv:.3g} chips per hand, "
        f"player 0 wins {solution.value:.6f}"
    )


if __name__ == "__main__":
    main()
