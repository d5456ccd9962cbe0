"""Honest policies under load: is any of them ever taken for one that does not repeat its moves?

    python benchmarks/honest_population.py                            20,000 matches, about 15 min
    python benchmarks/honest_population.py --matches 1500 --audit-share 1 --shared 0.3

Hand-written policies (`honest_rrps*.py`, `honest_leduc.py`) and programs of the grammar are
submitted to a new arena and meet each other, beside processes that want the processors as well.
Slow ones meet a few others only, and a pair has matches in inverse proportion to what its policies'
trials took.  The exit status is 1 where anybody is refused or quarantined.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path

import honest_leduc
import honest_rrps
import honest_rrps_habits

import arena.seeds
from arena import Arena, Enrolled
from arena.tally import Pair, PlayReport
from oracle.grammar.genome import GRAMMARS, write_source

WRITTEN = {
    "rrps": honest_rrps.PROGRAMS | honest_rrps_habits.PROGRAMS,
    "leduc": honest_leduc.PROGRAMS,
}
"""Game to name to source, of hand-written policies."""
SHARES = {"rrps": 0.6, "leduc": 0.4}
"""Of the matches."""
QUICK_SECONDS = 0.04
"""Of processor time a match; whoever needs more is slow."""
OPPONENTS_OF_SLOW = 4
APART = frozenset({"honest/rrps-weak"})
"""Never in lockstep: when the collector runs depends on all instances of a worker."""
OVERHEAD_SECONDS = 0.02
"""Of a match between policies that compute nothing."""


def sources(game: str, grammar_programs: int) -> dict[str, str]:
    """Name to source: hand-written policies, and random sentences of the grammar."""
    found = {f"honest/{game}-{name}": source for name, source in WRITTEN[game].items()}
    grammar = GRAMMARS[game]
    for number in range(grammar_programs):
        rng = random.Random(number)
        genome = grammar.draw(rng)
        for _ in range(number % 4):
            genome = grammar.mutate(genome, rng)
        found[f"honest/{game}-grammar-{number}"] = write_source(genome)
    return found


def enrolled(place: Arena, game: str, grammar_programs: int) -> tuple[dict[str, float], int]:
    """Submits everybody.

    Returns:
      Digest to processor seconds a match, and how many were refused.
    """
    seconds, refused = {}, 0
    for name, source in sources(game, grammar_programs).items():
        entered = place.submit(source, game, name)
        if not isinstance(entered, Enrolled):
            refused += 1
            print(f"REFUSED {name}: {entered.kind}: {entered.message}", flush=True)
            continue
        spent = [sum(result.cpu_seconds) for result in entered.trial]
        seconds[entered.version.digest] = sum(spent) / max(len(spent), 1)
    return seconds, refused


def paired(seconds: Mapping[str, float]) -> list[Pair]:
    """Who meets whom: quick ones everybody quick, slow ones a few of all."""
    rng = random.Random(len(seconds))
    quick = sorted(digest for digest, spent in seconds.items() if spent <= QUICK_SECONDS)
    pairs = set(combinations(quick, 2))
    for slow in sorted(seconds.keys() - set(quick)):
        for other in rng.sample(sorted(seconds.keys() - {slow}), OPPONENTS_OF_SLOW):
            pairs.add((min(slow, other), max(slow, other)))
    return sorted(pairs)


def wanted(seconds: Mapping[str, float], matches: int) -> dict[Pair, int]:
    """About so many matches for all pairs together; each pair takes as long as any other."""
    rates = {
        (one, other): 1 / (OVERHEAD_SECONDS + seconds[one] + seconds[other])
        for one, other in paired(seconds)
    }
    scale = matches / sum(rates.values())
    return {pair: 2 * max(1, round(scale * rate / 2)) for pair, rate in rates.items()}


@contextmanager
def load(processes: int) -> Iterator[None]:
    """So many processes beside us that do nothing but compute."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def played(place: Arena, game: str, pairs: Mapping[Pair, int], shared: float) -> list[PlayReport]:
    """Plays the pairs, that share of them in lockstep."""
    rng = random.Random(game)
    apart_always = {one.digest for one in place.policies(game) if one.name in APART}
    together = {
        pair: count
        for pair, count in pairs.items()
        if rng.random() < shared and apart_always.isdisjoint(pair)
    }
    apart = {pair: count for pair, count in pairs.items() if pair not in together}
    told = [time.monotonic()]

    def progress(done: int, of: int) -> None:
        if time.monotonic() - told[0] > 30:
            told[0] = time.monotonic()
            print(f"  {game}: {done:,} of {of:,}", flush=True)

    return [
        place.play_pairs(game, some, shared=lockstep, progress=progress)
        for some, lockstep in ((apart, False), (together, True))
        if some
    ]


def line(place: Arena, game: str, programs: int, reports: list[PlayReport]) -> str:
    """What a game came to."""
    matches = sum(report.played for report in reports)
    seconds = sum(report.seconds for report in reports)
    verdicts = Counter(one.verdict.value for one in place.home.store.audits(game=game))
    faults = Counter(
        row.termination.value for row in place.matches(game, faults_only=True, limit=None)
    )
    return "\n".join(
        (
            f"{game}: {programs} programs, {matches:,} matches, {matches / seconds:.1f} a second",
            f"  audits {sum(report.audited for report in reports)}, verdicts {dict(verdicts)}",
            f"  forfeits {dict(faults)}, do-overs {sum(report.twice for report in reports)}",
            f"  quarantined {sum(len(report.quarantined) for report in reports)}",
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--matches", type=int, default=20_000, help="of both games together")
    parser.add_argument("--grammar", type=int, default=12, help="programs of each game's grammar")
    parser.add_argument("--workers", type=int, default=0, help="0 for one per processor")
    parser.add_argument("--load", type=int, default=2, help="busy processes beside us")
    parser.add_argument("--shared", type=float, default=0.0, help="share of the pairs in lockstep")
    parser.add_argument("--audit-share", type=float, default=arena.seeds.AUDIT_SHARE)
    parser.add_argument("--sandbox", default="process", help="the wall")
    options = parser.parse_args()
    arena.seeds.AUDIT_SHARE = options.audit_share
    guilty = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        Arena(Path(folder) / "home", sandbox=options.sandbox, workers=options.workers) as place,
        load(options.load),
    ):
        for game, share in SHARES.items():
            seconds, refused = enrolled(place, game, options.grammar)
            print(f"{game}: {len(seconds)} taken in, {refused} refused", flush=True)
            pairs = wanted(seconds, round(share * options.matches))
            reports = played(place, game, pairs, options.shared)
            print(line(place, game, len(seconds), reports), flush=True)
            for report in reports:
                names = place.refs(report.quarantined)
                for one in report.suspicions:
                    print(f"  SUSPECT {names.get(one.digest, one.digest)}: {one.evidence}")
                guilty += len(report.quarantined)
            guilty += refused
    sys.exit(1 if guilty else 0)


if __name__ == "__main__":
    main()
