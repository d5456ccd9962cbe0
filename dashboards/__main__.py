"""`python -m dashboards`: the pages of a home.  `arena dashboard` becomes this program."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import click

from arena.cli.session import Session, notice, session_options
from arena.home_marker import has_home, no_home
from dashboards.budgets import PlayingTime
from dashboards.server import ADDRESS, serve
from dashboards.settings import Settings, Submitting

MINUTE = 60.0


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--port",
    default=8501,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="0 takes a free one.",
)
@click.option(
    "--address",
    default=ADDRESS,
    show_default=True,
    help="What to listen on; anything but loopback lets others in.",
)
@click.option(
    "--submitting",
    type=click.Choice([one.value for one in Submitting]),
    default=Submitting.GVISOR.value,
    show_default=True,
    help="Who may submit from a page: anybody while gVisor works here; anybody behind "
    "any wall (you know who they are); nobody.",
)
@click.option(
    "--by-invitation",
    is_flag=True,
    help="A new author needs the code of an invitation (`arena accounts invite`).",
)
@click.option(
    "--matches",
    default=Settings.matches,
    show_default=True,
    type=click.IntRange(1, 1000),
    help="That a submission plays with each opponent, if its budget allows.",
)
@click.option(
    "--submission-minutes",
    default=PlayingTime.submission / MINUTE,
    show_default=True,
    type=click.FloatRange(0, min_open=True),
    help="For which a submission may hold a processor.",
)
@click.option(
    "--author-minutes",
    default=PlayingTime.day / MINUTE,
    show_default=True,
    type=click.FloatRange(0, min_open=True),
    help="The same for all submissions of an author on one day (in UTC).",
)
@click.option(
    "--per-hour",
    default=Settings.per_hour,
    show_default=True,
    type=click.IntRange(1),
    help="Submissions of one author within an hour, and names that may be claimed in one.",
)
@click.option(
    "--waiting",
    default=Settings.waiting,
    show_default=True,
    type=click.IntRange(1),
    help="Submissions of one author that may go on at once.",
)
@click.option(
    "--live-seconds",
    default=Settings.live_seconds,
    show_default=True,
    type=click.FloatRange(0.1),
    help="Between two looks at a CSRO run that is being worked on.",
)
@session_options
def main(
    session: Session,
    port: int,
    address: str,
    submitting: str,
    by_invitation: bool,
    matches: int,
    submission_minutes: float,
    author_minutes: float,
    per_hour: int,
    waiting: int,
    live_seconds: float,
) -> None:
    """Shows the home as web pages, on this machine unless --address says otherwise."""
    settings = Settings(
        session.home_path.resolve(),
        session.registry_url,
        Submitting(submitting),
        matches,
        per_hour,
        waiting,
        live_seconds,
        PlayingTime(MINUTE * submission_minutes, MINUTE * author_minutes),
        session.seed_key,
        by_invitation,
    )
    known = has_home(settings.home)
    if not known and settings.submitting is Submitting.OFF:
        raise no_home(settings.home)
    notice(f"opening {settings.home}{'' if known else ', a new home'} ...")
    serve(settings, port, address=address)


def leave(code: int) -> None:
    """Ends the process at once.

    A thread may be in the middle of a match or of a query then.  The interpreter's own way out ends
    it inside of C++: DuckDB's binding fills the screen with what it calls leaks, and now and then
    the process aborts.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    try:
        main(prog_name="arena dashboard")
    except SystemExit as end:
        leave(int(end.code or 0))  # click and uvicorn have numbers
