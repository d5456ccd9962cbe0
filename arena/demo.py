"""The main use on real input, as `make demo` runs it.

Every step is an `arena` command, printed before it runs, so that the demo is also a transcript
to copy from.
"""

from __future__ import annotations

import shlex
import sys
import time
from contextlib import nullcontext, suppress
from pathlib import Path

import click

from arena.cli import main as arena

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
"""Files for authors to start from.  They belong to no package, so only a checkout has them."""


def steps(home: Path, matches: int) -> list[list[str]]:
    """The commands of the demo, as argument lists."""
    at = ["--home", str(home)]
    ours = ["--vouched"]  # the only Python that plays here is the examples and the starters
    rrps, leduc = EXAMPLES / "rrps_patterns.py", EXAMPLES / "leduc_counter.py"
    return [
        ["doctor", "--quick"],
        ["submit", str(rrps), "--game", "rrps", "--name", "me/patterns", *at],
        ["submit", str(leduc), "--game", "leduc", "--name", "me/counter", *at],
        ["play", "--game", "rrps", "--matches", str(matches), *ours, *at],
        ["play", "--game", "leduc", "--matches", str(5 * matches), *ours, *at],
        ["leaderboard", "--game", "rrps", "--limit", "12", *at],
        ["leaderboard", "--game", "leduc", *at],
        ["evaluate", "me/patterns", "--game", "rrps", "--matches", str(matches), *ours, *at],
    ]


@click.command()
@click.option("--home", default="demo-home", type=click.Path(path_type=Path), help="Its folder.")
@click.option("--matches", default=8, type=click.IntRange(1), help="Matches a pair (Leduc: x5).")
def demo(home: Path, matches: int) -> None:
    """Enrols the house, submits two policies, plays their two games and shows the leaderboards."""
    if not EXAMPLES.is_dir():
        raise click.ClickException(
            "the demo plays the policies in examples/ of a checkout, which are not installed; "
            "`arena submit FILE --game rrps --name AUTHOR/NAME` takes one of yours"
        )
    started = time.monotonic()
    for arguments in steps(home, matches):
        click.secho(f"\n$ arena {shlex.join(arguments)}", bold=True)
        # The doctor's exit status is for the reader to know, and no reason to stop.
        with suppress(SystemExit) if arguments[0] == "doctor" else nullcontext():
            arena.main(arguments, prog_name="arena", standalone_mode=False)
    click.echo(f"\nThe demo took {time.monotonic() - started:.0f} s.  For the full table:")
    click.echo(f"  .venv/bin/arena play --game rrps --matches 16 --home {home}")
    click.echo(f"  .venv/bin/arena leaderboard --game rrps --home {home}")


if __name__ == "__main__":
    sys.exit(demo())
