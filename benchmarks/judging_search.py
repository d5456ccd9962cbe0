"""Do hidden opponents find how to judge the full sentence's parts?  Runs, and what chance finds.

    python benchmarks/judging_search.py FOLDER --seeds 1-8

A search from `grammar:parts` has all parts of the full sentence, and has to find how many records
speak for each and at how many rates they are blended.  For each seed two runs of one iteration
choose among the same drafts: one by hidden opponents above all, one by the initial policy alone.
All drafts meet the 43 bots afterwards, who take part in nothing else.  Homes are kept in FOLDER, so
an interrupted benchmark goes on, and more seeds can be added.

Prints PopReturn of what each run chose, of the draft that chance chooses (the mean of all), of the
parts judged in the simplest way, where the search begins, and of the full sentence, which it was
not shown; means with 95 % intervals over seeds (Student's t), and paired differences.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from growth_control import told
from growth_runs import COUNTS, GAME, KEY, seeds

from arena import Arena
from arena.enrol import Enrolled
from oracle.grammar import judging, rrps
from oracle.grammar.genome import read_source, write_source
from population.runs import Runs

HIDDEN, MEMBERS, CHANCE, BEGUN = "by hidden opponents", "by members", "by chance", "simplest"
SHARES = {HIDDEN: 0.9, MEMBERS: 0.0}


def name_of(seed: int, share: float) -> str:
    return f"parts-{seed}-{share:g}"


def run(home: Path, seed: int, share: float, drafts: int, wall: str) -> None:
    """A run of one iteration; one that is finished already is only told again."""
    words = ["run", "--home", str(home), "--game", GAME, "--model", "grammar:parts"]
    words += ["--oracle", "best-of-n", "--drafts", str(drafts), "--hidden-share", str(share)]
    words += [*COUNTS, "--seed", str(seed), "--iterations", "1", "--name", name_of(seed, share)]
    words += ["--sandbox", wall, "--seed-key", KEY]
    root = str(Path(__file__).resolve().parents[1])
    subprocess.run(
        [sys.executable, "-c", "from population.cli import main; main()", *words],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": root},
    )


def drafted(home: Path, seed: int, share: float, wall: str) -> tuple[str, list[str]]:
    """The program that joined, and all drafts."""
    (iteration,) = Runs(home).iterations(name_of(seed, share))
    written = [one.digest for one in iteration.attempts if one.score is not None]
    with Arena(home, sandbox=wall) as arena:
        sources = {digest: one.payload for digest, one in arena.versions(written).items()}
    return sources[iteration.accepted], [sources[digest] for digest in written]


class Field:
    """The 43 bots, in a home of their own, where each program meets them once."""

    def __init__(self, home: Path, matches: int, wall: str) -> None:
        self._arena = Arena(home, sandbox=wall, seed_key=bytes.fromhex(KEY))
        self._matches, self._known = matches, dict[str, float]()

    def __call__(self, source: str) -> float:
        """PopReturn of a program."""
        if source not in self._known:
            found = self._arena.submit(source, GAME, f"draft/d{len(self._known)}")
            assert isinstance(found, Enrolled), found
            scores = self._arena.evaluate(
                found.version.ref, GAME, self._matches, shared=True
            ).scores
            assert scores.pop_return is not None
            self._known[source] = scores.pop_return.value
        return self._known[source]


def measured(folder: Path, seed: int, drafts: int, wall: str, field: Field) -> dict[str, float]:
    """PopReturn by who chose."""
    home, found, met = folder / f"seed{seed}", dict[str, float](), dict[str, float]()
    for kind, share in SHARES.items():
        run(home, seed, share, drafts, wall)
        chosen, written = drafted(home, seed, share, wall)
        met |= {source: field(source) for source in written}
        found[kind] = met[chosen]
        genome = read_source(chosen)
        assert isinstance(genome, rrps.RrpsGenome)
        blend = genome.blend
        print(f"seed {seed}, {kind}: {met[chosen]:.1f} ({blend.views}, {blend.spread:g})")
    found[CHANCE] = float(np.mean([*met.values()]))
    print(f"seed {seed}, drafts: {', '.join(f'{one:.1f}' for one in met.values())}", flush=True)
    return found


def summary(found: Sequence[dict[str, float]], begun: float, full: float) -> None:
    """Prints means over seeds, and what hidden opponents add."""
    by_kind = {kind: [one[kind] for one in found] for kind in found[0]}
    for kind, values in by_kind.items():
        print(f"chosen {kind}: PopReturn {told(values)}")
    print(f"{BEGUN}: {begun:.1f}; full sentence: {full:.1f}")
    hidden = np.array(by_kind[HIDDEN])
    for kind in (CHANCE, MEMBERS):
        print(f"hidden opponents more than {kind}: {told(hidden - np.array(by_kind[kind]))}")
    print(f"hidden opponents more than {BEGUN}: {told(hidden - begun)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=seeds, default=[1, 2, 3])
    parser.add_argument("--drafts", type=int, default=8)
    parser.add_argument("--matches", type=int, default=4, help="with each bot")
    parser.add_argument("--sandbox", default="auto")
    options = parser.parse_args()
    field = Field(options.folder / "field", options.matches, options.sandbox)
    begun, full = (field(write_source(one)) for one in (judging.simplest(), rrps.full_genome()))
    found = [
        measured(options.folder, seed, options.drafts, options.sandbox, field)
        for seed in options.seeds
    ]
    summary(found, begun, full)


if __name__ == "__main__":
    main()
