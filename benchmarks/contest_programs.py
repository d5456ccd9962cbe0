"""Plays against programs of a public contest: `benchmarks/contest_programs.py FOLDER [PROGRAM]...`.

FOLDER holds programs in the manner of rpscontest.com, which ran from 2011 on and showed what was
handed in: a file is run once for every throw in names that it keeps, `input` is what the other
threw ("" at first) and `output` its answer, both R, P or S.  They are other people's programs and
not part of this project; collections of the contest's are public (`docs/csro.md` says which one was
measured).  PROGRAM is the source of a policy, or a word: `full`, the first program of the grammar,
`before`, as in `grammar_rrps.py`, the name of a bot of the house (`greenberg`), or what twenty
steps of growing reach without a match (`growth_control.py`): `drafts:SEED`, first drafts alone, and
`sized:SEED`, steered to the sizes that programs of plain runs had.

One program of each text takes part that Python 3 runs (given `xrange` and `reduce`), and that in
three trials (against chance, one who repeats and one who beats the last throw) takes three seconds
of the processor at most and always answers.  Prints how many others there were, and for each
PROGRAM PopReturn by one match with each, with the 95 % interval over programs, and the same over
the strongest of them: those who win most matches among the quarter who win most matches among all.
PopExpl and AggScore: the ten (`--worst`) who won most of PROGRAM play forty matches more, which
alone say what is lost to the worst, with its 95 % interval.  Last, what the first PROGRAM has more
than each of the others.  All follows from `--seed` but for a few programs that ask for the clock.

They are run in this process, so wall it in, as with
`bwrap --ro-bind / / --proc /proc --dev /dev --unshare-all python ...`.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import io
import multiprocessing
import os
import random
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from grammar_rrps import THROWS, load, match, source_of
from growth_control import as_large, grown
from growth_control import first as first_draft
from scipy.stats import t as student_t

from arena.analysis.estimates import minimum_of
from arena.games.rrps.bots import NativeAgent, bot_names

LETTERS = "RPS"
PLACES = {letter: place for place, letter in enumerate(LETTERS)}
AGAIN = 40
"""Matches with each of the worst."""
STEPS = 20
SIZES = {1: 1.0, 2: 6.7, 5: 19.7, 9: 32.7, 15: 46.0, 20: 57.3}
"""How many predictors what joined three plain runs had on average, after which steps."""
PYTHON_2 = {"xrange": range, "reduce": functools.reduce}
"""What many of them take for granted that Python 3 has under another name."""


class Contestant:
    """A program of the contest for one match."""

    def __init__(self, code: Any, rng: random.Random) -> None:
        self._code, self._names = code, {"__name__": "contestant", "output": "", **PYTHON_2}
        random.setstate(random.Random(rng.random()).getstate())

    def move(self, mine: Sequence[int], theirs: Sequence[int]) -> int:
        """Its next throw; KeyError where it has none."""
        self._names["input"] = LETTERS[theirs[-1]] if theirs else ""
        with contextlib.redirect_stdout(io.StringIO()):
            exec(self._code, self._names)
        return PLACES[self._names["output"]]


@dataclass(frozen=True)
class Program:
    """A program of the contest: name and text."""

    name: str
    text: str

    def __call__(self, rng: random.Random) -> Contestant:
        return Contestant(compile(self.text, self.name, "exec"), rng)


class Simple:
    """What programs are tried against: draws, repeats itself or answers the last throw."""

    def __init__(self, answer: Callable[[str | None], str]) -> None:
        self._answer = answer

    def act(self, observation: dict[str, Any]) -> str:
        return self._answer(observation["opponent_action"])


NAMES = ("ROCK", "PAPER", "SCISSORS")
TRIALS: tuple[Callable[[str | None], str], ...] = (
    lambda last: random.choice(NAMES),
    lambda last: "ROCK",
    lambda last: NAMES[(NAMES.index(last) + 1) % 3] if last else "PAPER",
)


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """TimeoutError after so many seconds of the processor."""

    def ring(number: int, frame: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def distinct(folder: Path) -> tuple[list[Program], Counter[str]]:
    """One program of each text that Python 3 can compile, and why others are none."""
    found, refused = dict[str, Program](), Counter[str]()
    for path in sorted(folder.rglob("*.py")):
        try:
            text = path.read_text().expandtabs(8)
            compile(text, path.name, "exec")
        except (SyntaxError, ValueError):  # ValueError: no UTF-8, or a NUL in it
            refused["is no Python 3"] += 1
            continue
        lines = [line.rstrip() for line in text.splitlines() if not line.lstrip().startswith("#")]
        digest = hashlib.sha256("\n".join(filter(None, lines)).encode()).hexdigest()
        if digest in found:
            refused["has the text of another"] += 1
        else:
            found[digest] = Program(str(path.relative_to(folder)), text)
    return list(found.values()), refused


def trial(program: Program, seconds: float) -> str:
    """Why a program cannot take part, or nothing."""
    for number, answer in enumerate(TRIALS):
        try:
            with within(seconds):
                match(lambda answer=answer: Simple(answer), program, number)
        except TimeoutError:
            return "takes too long"
        except (Exception, SystemExit) as fault:  # noqa: BLE001 - it may raise anything
            return f"fails ({type(fault).__name__})"
    return ""


def written(word: str) -> str:
    """The source of what a word or a file name means; of a bot of the house, none."""
    if word in bot_names():
        return ""
    kind, _, seed = word.partition(":")
    if kind == "drafts":
        return grown(int(seed), STEPS, 8, first_draft)[-1]
    if kind == "sized":
        sizes = np.interp(range(1, STEPS + 1), list(SIZES), list(SIZES.values()))
        return grown(int(seed), STEPS, 8, as_large(sizes.tolist()))[-1]
    return source_of(word)


def agents_of(word: str, source: str) -> Callable[[], Any]:
    """A maker of one player for each match."""
    if source:
        return load(source)
    return lambda: NativeAgent(word, random.getrandbits(32))  # `match` has set its state


def versus(job: tuple[Program, Program, int]) -> float | None:
    """Return of one program of the contest against another; None where either fails."""
    one, other, seed = job
    try:
        with within(20.0):
            first, second = one(random.Random(seed)), other(random.Random(seed + 1))
            mine, theirs, total = list[int](), list[int](), 0
            for _ in range(THROWS):
                throws = first.move(mine, theirs), second.move(theirs, mine)
                mine.append(throws[0])
                theirs.append(throws[1])
                total += (throws[0] - throws[1] + 1) % 3 - 1
            return float(total)
    except (Exception, SystemExit):  # noqa: BLE001 - a program may raise anything
        return None


def ranked(field: Sequence[Program], rounds: int, pool: Any, seed: str) -> list[Program]:
    """By matches won among each other, each with so many others drawn at random."""
    rng, jobs = random.Random(seed), list[tuple[int, int]]()
    for _ in range(rounds):
        order = rng.sample(range(len(field)), len(field))
        jobs += zip(order[::2], order[1::2], strict=False)
    matches = [(field[one], field[other], 2 * number) for number, (one, other) in enumerate(jobs)]
    won = np.zeros(len(field))
    for (one, other), value in zip(jobs, pool.map(versus, matches, chunksize=16), strict=True):
        won[one] += np.sign(value or 0.0)
        won[other] -= np.sign(value or 0.0)
    return [field[place] for place in np.argsort(-won, kind="stable")]


def strongest(field: Sequence[Program], count: int, pool: Any, seed: int) -> set[str]:
    """Names of those who win most matches among the quarter who win most matches among all."""
    quarter = ranked(field, 6, pool, f"all/{seed}")[: max(count, len(field) // 4)]
    return {one.name for one in ranked(quarter, 10, pool, f"quarter/{seed}")[:count]}


def played(job: tuple[str, Program, int, int]) -> list[float]:
    """Returns of a policy in so many matches with a program; none where it fails after all."""
    word, program, first, games = job
    try:
        with within(60.0 * games):
            return [match(MAKERS[word], program, first + 2 * game)[0] for game in range(games)]
    except (Exception, SystemExit):  # noqa: BLE001 - a program may raise anything
        return []


MAKERS = dict[str, Callable[[], Any]]()
"""Word -> maker, in each process."""


def begin(sources: Mapping[str, str]) -> None:
    """In each process: from word to source."""
    warnings.simplefilter("ignore")
    MAKERS.update({word: agents_of(word, source) for word, source in sources.items()})


def told(
    word: str, field: Sequence[Program], strong: set[str], pool: Any, options: argparse.Namespace
) -> dict[str, float]:
    """Prints what a policy returns against a field; returns by name."""
    first = 10**7 * options.seed
    jobs = [(word, program, first + 2 * place, 1) for place, program in enumerate(field)]
    found = pool.map(played, jobs, chunksize=8)
    taken = [(one[0], program) for one, program in zip(found, field, strict=True) if one]
    returns = np.array([value for value, _ in taken])
    by_name = {program.name: value for value, program in taken}
    among = [value for name, value in by_name.items() if name in strong]
    print(
        f"{word}: {len(returns)} programs, PopReturn {interval(returns)}; {len(among)} strongest "
        f"{interval(among)}; wins {(returns > 50).mean():.1%} by more than 50, loses "
        f"{(returns < -50).mean():.1%}",
        flush=True,
    )
    worst = [taken[place][1] for place in returns.argsort()[: options.worst]]
    if worst:
        tell_the_worst(word, worst, float(returns.mean()), pool)
    return by_name


def tell_the_worst(word: str, worst: Sequence[Program], mean: float, pool: Any) -> None:
    """Prints PopExpl and AggScore, by fresh matches with those who won most."""
    jobs = [(word, program, 10**6 + 1000 * place, AGAIN) for place, program in enumerate(worst)]
    played_again = zip(pool.map(played, jobs, chunksize=1), worst, strict=True)
    again = [(np.array(one), program) for one, program in played_again if len(one) == AGAIN]
    means = np.array([[values.mean() for values, _ in again]])
    errors = np.array([[values.std(ddof=1) / AGAIN**0.5 for values, _ in again]])
    least = minimum_of(means, errors, np.full_like(means, AGAIN - 1.0))
    lost = -least.value[0]
    print(
        f"    PopExpl {lost:.1f} [{-least.high[0]:.1f}, {-least.low[0]:.1f}] "
        f"(to {again[int(means.argmin())][1].name}), AggScore {mean - max(lost, 0.0):.1f}",
        flush=True,
    )


def interval(values: Sequence[float]) -> str:
    """A mean with its 95 % interval over programs."""
    mean, many = float(np.mean(values)), len(values)
    reach = student_t.ppf(0.975, many - 1) * np.std(values, ddof=1) / many**0.5
    return f"{mean:.1f} [{mean - reach:.1f}, {mean + reach:.1f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("programs", nargs="*", default=["full"], metavar="PROGRAM")
    parser.add_argument("--sample", type=int, help="so many of the programs, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="of the draw and of all matches")
    parser.add_argument("--strongest", type=int, default=100, help="how many count as strongest")
    parser.add_argument("--worst", type=int, default=10, help="how many play again; 0: none")
    parser.add_argument("--processes", type=int)
    options = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":  # many programs go through sets
        os.execve(sys.executable, sys.orig_argv, {**os.environ, "PYTHONHASHSEED": "0"})
    begin({})
    sources = {word: written(word) for word in options.programs}
    field, refused = distinct(options.folder)
    if options.sample is not None:
        field = random.Random(options.seed).sample(field, options.sample)
    with multiprocessing.Pool(options.processes, begin, (sources,)) as pool:
        why = pool.starmap(trial, [(program, 3.0) for program in field], chunksize=8)
        refused.update(filter(None, why))
        field = [program for program, reason in zip(field, why, strict=True) if not reason]
        print(
            f"{len(field)} programs; of the others "
            + ", ".join(f"{n} {one}" for one, n in refused.most_common()),
            flush=True,
        )
        strong = strongest(field, options.strongest, pool, options.seed)
        first, *others = (told(word, field, strong, pool, options) for word in options.programs)
        for word, other in zip(options.programs[1:], others, strict=True):
            more = {name: value - other[name] for name, value in first.items() if name in other}
            print(
                f"{options.programs[0]} has {interval(list(more.values()))} more than {word}, "
                f"against the strongest {interval([more[name] for name in more.keys() & strong])}"
            )


if __name__ == "__main__":
    main()
