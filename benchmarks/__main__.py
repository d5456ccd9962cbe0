"""All that is measured, one after the other, as a page of the docs.

    python -m benchmarks                    everything: more than an hour on two quiet cores
    python -m benchmarks workers solvers    some parts; the page keeps the others as they stand
    python -m benchmarks --list             the parts, with their commands

Each part is a command that can be run by itself.  What it prints goes to the page as it is, with
the machine, the date, the code's version and how busy the machine was before: figures of a busy
machine can be read as ratios at best.  A part that fails leaves the page as it is.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "performance.md"
TOP = """# Measured speed and cost

Written by `python -m benchmarks`, which runs the commands below and copies what they print. Times
are of the machine that is named with each; ratios within one part were measured in one go.
"""


@dataclass(frozen=True)
class Part:
    """One measurement.

    Attributes:
      title: what is measured.
      command: words after `python`.
    """

    title: str
    command: str


PARTS: Mapping[str, Part] = {
    "native": Part(
        "The arena beside bare engine loops and other tournament software",
        "benchmarks/throughput.py --matches 16 --peers",
    ),
    "sandbox": Part(
        "What the walls cost",
        "benchmarks/sandbox_cost.py --walls process,gvisor --policies 24 --isolated 192 "
        "--repetitions 5",
    ),
    "blocks": Part(
        "Shared blocks of a fixed width, and by what policies take",
        "benchmarks/block_size.py --policies trivial",
    ),
    "workers": Part("Workers, local and on a Ray cluster", "benchmarks/cluster.py rate"),
    "machines": Part("2,000 policies on 1, 10 and 100 machines", "benchmarks/cluster.py cost"),
    "csro": Part("An iteration of CSRO", "benchmarks/csro_iteration.py"),
    "store": Part("The match store", "benchmarks/store.py"),
    "million": Part(
        "Leaderboard and payoffs: 500 policies, a million matches",
        "benchmarks/growth.py home --policies 457 --matches 8",
    ),
    "ten-million": Part(
        "Leaderboard and payoffs: 500 policies, 10 million matches",
        "benchmarks/growth.py home --policies 457 --matches 80",
    ),
    "hundred-million": Part(
        "Leaderboard and payoffs: 2,000 policies, 100 million matches",
        "benchmarks/growth.py home --policies 1957 --matches 50",
    ),
    "solvers": Part(
        "Solvers of meta-games of 25 to 1,000 policies", "benchmarks/growth.py solvers"
    ),
    "registry": Part("A registry of a million policies", "benchmarks/growth.py registry"),
}
_SECTION = re.compile(r"^## .*?(?=^## |\Z)", re.M | re.S)


def machine() -> str:
    """Processors, memory and versions in words."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    model = platform.machine()
    with_models = Path("/proc/cpuinfo")
    if with_models.exists():
        found = re.search(r"model name\s*: (.+)", with_models.read_text())
        model = found.group(1).strip() if found else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{cores} processors ({model}), {memory:.0f} GiB, Python {platform.python_version()}"


def version() -> str:
    """The commit that is measured."""
    words = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    told = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return told.stdout.strip() or "unknown"


def measured(part: Part) -> str | None:
    """Runs a part, shows what it prints, and returns its section; None where it failed."""
    busy, started = os.getloadavg()[0], time.monotonic()
    lines: list[str] = []
    words = [sys.executable, *shlex.split(part.command)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            click.echo(line, nl=False)
            lines.append(line.rstrip())
    if process.returncode:
        return None
    took = time.monotonic() - started
    about = (
        f"{datetime.now(UTC):%Y-%m-%d}, commit {version()}; {machine()}; load before {busy:.1f}; "
        f"took {took:,.0f} s."
    )
    printed = "\n".join(lines).strip("\n")
    return f"## {part.title}\n\n`python {part.command}`\n\n{about}\n\n```text\n{printed}\n```\n\n"


def page_with(page: str, sections: Mapping[str, str]) -> str:
    """The page with some sections anew, all of them in the order of `PARTS`.

    Args:
      page: as it stands; "" where there is none.
      sections: new ones, by the names of their parts.
    """
    standing = {one.partition("\n")[0]: one for one in _SECTION.findall(page)}
    kept = [
        sections.get(name) or standing.get(f"## {part.title}", "") for name, part in PARTS.items()
    ]
    return f"{TOP}\n{''.join(kept)}".rstrip("\n") + "\n"


@click.command()
@click.argument("names", nargs=-1, metavar="[PART]...", type=click.Choice(list(PARTS)))
@click.option("--list", "listing", is_flag=True, help="The parts, and nothing is measured.")
@click.option("--page", type=click.Path(path_type=Path), default=PAGE, help="Where to write.")
def main(names: tuple[str, ...], listing: bool, page: Path) -> None:
    """Measures parts, all of them where none is named, and writes the page."""
    if listing:
        for name, part in PARTS.items():
            click.echo(f"{name:16s} python {part.command}")
        return
    failed = []
    for name in names or PARTS:
        click.secho(f"{name}: {PARTS[name].title}", bold=True)
        section = measured(PARTS[name])
        if section is None:
            failed.append(name)
            continue
        standing = page.read_text() if page.exists() else ""
        page.write_text(page_with(standing, {name: section}))
    if failed:
        raise SystemExit(f"failed, and left as they were on the page: {', '.join(failed)}")


if __name__ == "__main__":
    main()
