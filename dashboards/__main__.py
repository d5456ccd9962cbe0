"""`python -m dashboards`: the pages of a home."""

from __future__ import annotations

from pathlib import Path

import click

from arena.errors import ArenaError
from arena.store import StoreError
from dashboards.server import ADDRESS, serve
from dashboards.settings import Settings, Submitting
from registry import RegistryError


@click.command()
@click.option(
    "--home",
    envvar="ARENA_HOME",
    default="./arena-home",
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the tournament.",
)
@click.option(
    "--registry",
    "registry_url",
    envvar="ARENA_REGISTRY",
    metavar="URL",
    help="Registry on a server.",
)
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
    "--matches",
    default=Settings.matches,
    show_default=True,
    type=click.IntRange(1, 1000),
    help="That a submission plays with each opponent.",
)
@click.option(
    "--per-hour",
    default=Settings.per_hour,
    show_default=True,
    type=click.IntRange(1),
    help="Submissions within an hour, of all visitors.",
)
@click.option(
    "--live-seconds",
    default=Settings.live_seconds,
    show_default=True,
    type=click.FloatRange(0.1),
    help="Between two looks at a CSRO run that is being worked on.",
)
def main(
    home: Path,
    registry_url: str | None,
    port: int,
    address: str,
    submitting: str,
    matches: int,
    per_hour: int,
    live_seconds: float,
) -> None:
    """Starts the pages and prints their address."""
    settings = Settings(
        home.resolve(),
        registry_url,
        Submitting(submitting),
        matches,
        per_hour,
        live_seconds=live_seconds,
    )
    try:
        serve(settings, port, address=address)
    except (ArenaError, RegistryError, StoreError) as error:
        raise click.ClickException(str(error)) from error


if __name__ == "__main__":
    main()
