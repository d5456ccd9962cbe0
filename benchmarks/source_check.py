"""What it costs to read sources in a limited child.

    python benchmarks/source_check.py [FILE]...

For each file (by default the examples) the processor time of reading it in this process, and the
time of asking the child, which includes its process for each question; then the start of the child,
and the time and memory of a file that was written to hurt.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from arena import source_check
from arena.games import GAMES
from arena.source_check import read_program
from arena.source_reading import read

ROUNDS = 40


def best(work: Callable[[], object]) -> float:
    """Milliseconds of the fastest round."""
    found = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        found.append(time.perf_counter() - started)
    return min(found) * 1e3


def ask(source: str, contract: object) -> object:
    source_check._read.cache_clear()
    return read_program(source, contract)  # type: ignore[arg-type]


def nested_finally(depth: int) -> str:
    lines = []
    for level in range(depth):
        lines += [f"{' ' * level}try:", f"{' ' * level} pass", f"{' ' * level}finally:"]
    return "\n".join([*lines, " " * depth + "pass"])


def main() -> None:
    contract = GAMES["rrps"].contract
    started = time.perf_counter()
    ask("", contract)
    print(f"first question, with the start of the child: {time.perf_counter() - started:.3f} s")
    examples = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
    for path in [Path(name) for name in sys.argv[1:]] or examples:
        source = path.read_text()
        question = {"source": source, "contract": asdict(contract)}
        here = best(lambda question=question: read(question))
        asked = best(lambda source=source: ask(source, contract))
        print(f"{path.name} ({len(source):,} characters): here {here:.1f} ms, asked {asked:.1f} ms")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    found = ask(nested_finally(20), contract)
    seconds = time.perf_counter() - started
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(
        f"20 nested finally: {seconds:.2f} s, our process grew by {grown / 1024:.1f} MiB: {found}"
    )


if __name__ == "__main__":
    main()
