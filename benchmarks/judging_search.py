"""Do hidden opponents find how to judge the full sentence's parts?  Runs, beside what chance finds.

    python benchmarks/judging_search.py FOLDER --seeds 1-8

A search from `grammar:parts` has all parts of the full sentence, and has to find how many records
speak for each and at how many rates they are blended.  For each seed two runs of one iteration
choose among the same drafts: one by hidden opponents above all, one by the initial policy alone,
who throws at random most of the time and meets each draft about as often as all hidden opponents
together.  (Whether members that play safe could tell is what `selection_signal.py --step` asks.)
All drafts meet the 43 bots afterwards, who take part in nothing else.  Homes are kept in FOLDER, so
an interrupted benchmark goes on, and more seeds can be added.

Prints PopReturn of what each run chose, and of the draft that chance chooses (the mean of all);
means with 95 % intervals over seeds (Student's t), and paired differences, none of which allows for
there being several.  The search begins at the parts judged in the simplest way: these and the full
sentence, which the search is not shown, are measured by as many matches as all chosen ones
together, with 95 % intervals over matches.  At last drafts by the way in which they judge, and how
many of each were chosen.  (Drafts differ in some parts and settings beside that.)
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from growth_control import told
from growth_runs import GAME, KEY, seeds

from arena import Arena
from arena.analysis.estimates import Estimate
from arena.enrol import Enrolled
from oracle.grammar import judging, rrps
from oracle.grammar.genome import read_source, write_source
from population.runs import Runs

HIDDEN, INITIAL, CHANCE = "by hidden opponents", "by the initial policy", "by chance"
SHARES = {HIDDEN: 0.9, INITIAL: 0.0}
PAYOFF = ("--payoff-matches", "4", "--evaluation-matches")
EVALUATION = {HIDDEN: "6", INITIAL: "60"}
Way = tuple[int, float]
"""Records of a predictor, and spread of rates."""


def name_of(seed: int, kind: str) -> str:
    return f"parts-{seed}-{SHARES[kind]:g}-{EVALUATION[kind]}"


def run(home: Path, seed: int, kind: str, drafts: int, wall: str) -> None:
    """A run of one iteration; one that is finished already is only told again."""
    words = ["run", "--home", str(home), "--game", GAME, "--model", "grammar:parts"]
    words += ["--oracle", "best-of-n", "--drafts", str(drafts)]
    words += ["--hidden-share", str(SHARES[kind]), *PAYOFF, EVALUATION[kind]]
    words += ["--seed", str(seed), "--iterations", "1", "--name", name_of(seed, kind)]
    words += ["--sandbox", wall, "--seed-key", KEY]
    root = str(Path(__file__).resolve().parents[1])
    subprocess.run(
        [sys.executable, "-c", "from population.cli import main; main()", *words],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": root},
    )


def drafted(home: Path, seed: int, kind: str, wall: str) -> tuple[str, list[str]]:
    """The program that joined, and all drafts."""
    (iteration,) = Runs(home).iterations(name_of(seed, kind))
    written = [one.digest for one in iteration.attempts if one.score is not None]
    with Arena(home, sandbox=wall) as arena:
        sources = {digest: one.payload for digest, one in arena.versions(written).items()}
    return sources[iteration.accepted], [sources[digest] for digest in written]


def digest(source: str) -> str:
    return sha256(source.encode()).hexdigest()[:12]


class Field:
    """The 43 bots, in a home of their own, where each program meets them once."""

    def __init__(self, home: Path, matches: int, wall: str) -> None:
        self._arena = Arena(home, sandbox=wall, seed_key=bytes.fromhex(KEY))
        self._matches = matches

    def __call__(self, source: str, times: int = 1) -> Estimate:
        """PopReturn of a program, by so many times the usual number of matches."""
        found = self._arena.submit(source, GAME, f"draft/d-{digest(source)}")
        assert isinstance(found, Enrolled), found
        played = self._arena.evaluate(found.version.ref, GAME, times * self._matches, shared=True)
        assert played.scores.pop_return is not None
        return played.scores.pop_return


@dataclass(frozen=True)
class Seed:
    """What one seed came to.

    Attributes:
      by: PopReturn by who chose.
      drafts: way and PopReturn of each draft.
      chosen: way of what hidden opponents chose.
    """

    by: dict[str, float]
    drafts: list[tuple[Way, float]]
    chosen: Way


def way(source: str) -> Way:
    """How a program judges its parts."""
    genome = read_source(source)
    assert isinstance(genome, rrps.RrpsGenome)
    return genome.blend.views, genome.blend.spread


def measured(folder: Path, seed: int, drafts: int, wall: str, field: Field) -> Seed:
    """Makes a seed's runs, and lets what they wrote meet the bots."""
    home, chosen, written = folder / f"seed{seed}", dict[str, str](), dict[str, list[str]]()
    for kind in SHARES:
        run(home, seed, kind, drafts, wall)
        chosen[kind], written[kind] = drafted(home, seed, kind, wall)
    assert written[HIDDEN] == written[INITIAL], "they choose among the same drafts"
    met = {source: field(source).value for source in written[HIDDEN]}
    by = {kind: met[source] for kind, source in chosen.items()}
    by[CHANCE] = float(np.mean([*met.values()]))
    told_of = [f"{value:.1f} {way(source)}" for source, value in met.items()]
    print(f"seed {seed}: {by}; drafts {', '.join(told_of)}", flush=True)
    ways = [(way(source), value) for source, value in met.items()]
    return Seed(by, ways, way(chosen[HIDDEN]))


def summary(found: Sequence[Seed], begun: Estimate, full: Estimate) -> None:
    """Prints means over seeds, what hidden opponents add, and what they chose."""
    by_kind = {kind: np.array([one.by[kind] for one in found]) for kind in found[0].by}
    for kind, values in by_kind.items():
        print(f"chosen {kind}: PopReturn {told(values)}")
    for kind in (CHANCE, INITIAL):
        print(f"hidden opponents more than {kind}: {told(by_kind[HIDDEN] - by_kind[kind])}")
    for name, one in (("judged in the simplest way", begun), ("full sentence", full)):
        print(f"{name}: PopReturn {one.value:.1f} [{one.low:.1f}, {one.high:.1f}]")
    groups: dict[str, list[tuple[Way, float]]] = defaultdict(list)
    for one in found:
        for judged, value in one.drafts:
            rates = "one rate" if judged[1] == 1.0 else "three rates"
            groups[f"{judged[0]} record(s), {rates}"].append((judged, value))
    for name, drafts in sorted(groups.items()):
        kinds = {judged for judged, _ in drafts}
        chosen = sum(one.chosen in kinds for one in found)
        mean = np.mean([value for _, value in drafts])
        print(f"{name}: {len(drafts)} drafts, mean {mean:.1f}, chosen {chosen} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=seeds, default=[1, 2, 3])
    parser.add_argument("--drafts", type=int, default=8)
    parser.add_argument("--matches", type=int, default=4, help="with each bot")
    parser.add_argument("--sandbox", default="auto")
    options = parser.parse_args()
    field = Field(options.folder / "field", options.matches, options.sandbox)
    ends = (judging.simplest(), rrps.full_genome())
    begun, full = (field(write_source(one), len(options.seeds)) for one in ends)
    found = [
        measured(options.folder, seed, options.drafts, options.sandbox, field)
        for seed in options.seeds
    ]
    summary(found, begun, full)


if __name__ == "__main__":
    main()
