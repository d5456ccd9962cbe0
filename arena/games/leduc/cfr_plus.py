"""Solves one hand of Leduc hold'em by CFR+ and writes the table that `house/CFR+` plays.

    python -m arena.games.leduc.cfr_plus

O. Tammelin, "Solving large imperfect information games using CFR+" (2014, arXiv:1407.5042): regret
matching plus, alternating updates, and an average in which iteration t has weight t.  The solver is
OpenSpiel's.  The same engine version writes the same bytes.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

import click
import pyspiel

from arena.analysis.exact import exploitability, hand_value
from arena.games.leduc.cfr_solution import DATA, Solution, packed
from arena.games.leduc.states import SOLVED_GAME, STATES
from arena.kinds.tabular import Probabilities, payload_of, states_of

ITERATIONS = 10_000
SOLVER = "pyspiel.CFRPlusSolver, average policy"


def solve(iterations: int = ITERATIONS) -> Solution:
    """Runs CFR+; 10,000 iterations take about 15 seconds."""
    game = pyspiel.load_game(SOLVED_GAME)
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    payload = payload_of(STATES, _table(game, solver.average_policy()))
    states = states_of(STATES, payload)
    gap = _significant(exploitability(STATES, states))
    return Solution(
        payload=payload,
        solver=SOLVER,
        game=SOLVED_GAME,
        iterations=iterations,
        engine=f"open_spiel {metadata.version('open_spiel')}",
        exploitability=gap,
        nash_conv=2 * gap,
        value=_significant(hand_value(STATES, states, states)),
    )


def _significant(number: float) -> float:
    """Eight digits: further ones depend on the order in which a processor adds."""
    return float(f"{number:.8g}")


def _table(game: Any, policy: Any) -> dict[str, Probabilities]:
    """The solver's policy by information state, read off a walk over the whole hand."""
    found: dict[str, Probabilities] = {}

    def walk(state: Any) -> None:
        if state.is_terminal():
            return
        if not state.is_chance_node():
            player = state.current_player()
            key = STATES.in_engine(state)
            if key not in found:
                chosen = policy.action_probabilities(state.information_state_string(player))
                found[key] = (chosen.get(0, 0.0), chosen.get(1, 0.0), chosen.get(2, 0.0))
        for action in state.legal_actions():
            walk(state.child(action))

    walk(game.new_initial_state())
    return found


@click.command()
@click.option(
    "--iterations",
    type=click.IntRange(min=1),
    default=ITERATIONS,
    show_default=True,
    help="Of CFR+.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path(__file__).parent / DATA,
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
