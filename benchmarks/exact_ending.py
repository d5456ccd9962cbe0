"""What a search saves that ends where a program returns the most that can be had.

Alpha-evolve looks for what beats one policy of Leduc hold'em, with a model that is scripted: one of
its answers is a best response, all others are relatives of the starter policy (`prompt_tokens.py`).
The same search is made to its end, by the rule that noise ends it, and by both rules, as it is.

    python benchmarks/exact_ending.py                      against a table: the most is exact
    python benchmarks/exact_ending.py --against initial    against the program that runs start from,
                                                           without memory: no matches tell its most
    python benchmarks/exact_ending.py --draft i0g01d0      another answer is the best response

The best response is computed from the table, or from what the program says in each situation.
Prints for each way to end: the calls, those of each island, the tokens of the prompts (characters
/ 4), the matches, and what the program that is found wins in matches that had no part in that.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from prompt_tokens import Scripted

from arena import Arena
from arena.analysis.exact import States, best_response, best_response_value
from arena.analysis.stationary import Ceiling
from arena.games import game as game_named
from arena.games.parts import InformationStates
from arena.kinds.tabular import pure, states_of
from oracle.alpha_evolve import AlphaEvolve
from oracle.end import Ended
from oracle.ending import Ending
from oracle.models.protocol import Reply, Request
from oracle.outcome import Outcome
from population.config import OracleChoice, RunConfig
from population.exploit import exploit
from population.matches import Matches
from population.measuring import measuring_for
from population.members import initial_member
from population.oracles import Spending, workshop
from population.runs import Runs
from registry.values import PolicyVersion

LEDUC = game_named("leduc")
PROGRAM = '''"""Looks up what to do."""

ANSWERS = {answers!r}


class RepeatedLeducPokerBot:
    """Plays a table, in which each situation has one answer."""

    def restart(self, player_id):
        """Every hand is played alike."""

    def act(self, observation):
        history = observation["action_history"]
        before = "".join(move["action"][0] for move in history["PREFLOP"])
        after = "".join(move["action"][0] for move in history["POSTFLOP"])
        own, public = observation["player_view"], observation["public_state"]
        cards = own["hand"] + (public["public_card"] or "")
        return ANSWERS[cards + "|" + before + "|" + after]

    def receive_outcome(self, observation):
        """Nothing is learned."""
'''


class OnlyNoise(Ending):
    """Ends where nothing but noise comes, whatever is known of the most."""

    def why(self, best: Outcome | None, ceiling: Ceiling | None, quiet: int) -> Ended | None:
        """See `Ending`."""
        return Ending.why(self, best, None, quiet)


WAYS: Mapping[str, Ending | None] = {
    "to the end": None,
    "by noise": OnlyNoise(),
    "by noise and the most": Ending(),
}


@dataclass
class Answering(Scripted):
    """Gives one draft a best response, and all others a relative.

    Attributes:
      best: the best response's program.
      draft: whose key gets it.
    """

    best: str = ""
    draft: str = ""

    def generate(self, request: Request) -> Reply:
        """See `oracle.models.protocol.Model`."""
        reply = super().generate(request)
        if request.key.partition("/")[2] != self.draft:
            return reply
        return replace(reply, text=f"A best response.\n\n```python\n{self.best}```\n")


def table_of(space: InformationStates, source: str) -> States:
    """What a program without memory does in each situation."""
    names: dict[str, Any] = {}
    exec(source, names)  # the package's own file
    program = names[LEDUC.contract.class_name]()
    found = {}
    for key, legal in space.legal.items():
        hand, public = key[0], key.partition("|")[0][1:]
        view = {"hand": hand, "legal_actions": [space.actions[one] for one in legal]}
        said = program.act({"player_view": view, "public_state": {"public_card": public or None}})
        found[key] = pure(space, space.actions.index(said))
    return found


def answer_to(space: InformationStates, table: States) -> str:
    """The program of a best response."""
    response = best_response(space, table)
    answers = {key: space.actions[chances.index(1.0)] for key, chances in response.items()}
    return PROGRAM.format(answers=answers)


def target_in(arena: Arena, against: str) -> PolicyVersion:
    """The policy to beat."""
    if against == "initial":
        digest = initial_member(arena, LEDUC, RunConfig(LEDUC.name)).digest
        return arena.versions([digest])[digest]
    return arena.policy(f"house/{against}", LEDUC)


def search(folder: Path, ending: Ending | None, told: argparse.Namespace) -> str:
    """One search, in a home of its own; returns its row."""
    space = LEDUC.states
    assert space is not None
    with Arena(folder, seed_key=bytes(range(32)), sandbox="process") as arena:
        target = target_in(arena, told.against)
        tabular = target.kind == "tabular"
        table = states_of(space, target.payload) if tabular else table_of(space, target.payload)
        model = Answering(LEDUC.starter.source, best=answer_to(space, table), draft=told.draft)
        shown = "none" if tabular else "code"
        choice = OracleChoice(
            "alpha-evolve", "openai:scripted", shown, refinements=told.generations
        )
        runs, config = Runs(arena.home.path), RunConfig(LEDUC.name, choice, 1, told.seed)
        shop = workshop(runs, runs.start("search", config), Spending(), model)
        assert isinstance(shop.oracle, AlphaEvolve)
        matches = Matches(arena, LEDUC, shared=True)  # the scripts are this file's own
        found = exploit(
            matches,
            target.digest,
            replace(shop.oracle, ending=ending),
            shop.authorship.lineage_of,
            seed=told.seed,
            searching=measuring_for(LEDUC.name).evaluation,
            measuring=200,
            tells=True,
        )
    islands = Counter(key.partition("/")[2][:2] for key in model.asked)
    each = "+".join(str(islands[one]) for one in sorted(islands))
    assert found.gain is not None  # a relative of the starter can play
    wins = f"{found.gain.value:+.1f} [{found.gain.low:+.1f}, {found.gain.high:+.1f}]"
    tokens, most = sum(model.asked.values()) // 4, best_response_value(space, table)
    played = matches.spent.matches - found.matches
    return f"{len(model.asked):5} {each:>12} {tokens:9,} {played:8,}  {wins} of {most:.2f}"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", default="AlwaysCall", help="of the house; or initial")
    parser.add_argument("--draft", default="i0g00d0", help="which answer is a best response")
    parser.add_argument("--generations", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    told = parser.parse_args()
    print(f"against {told.against}, a best response as answer to {told.draft}")
    print(f"{'ends':22} calls {'by island':>12} {'tokens':>9} {'matches':>8}  wins a match")
    for name, ending in WAYS.items():
        with tempfile.TemporaryDirectory() as folder:
            print(f"{name:22} {search(Path(folder) / 'home', ending, told)}", flush=True)


if __name__ == "__main__":
    main()
