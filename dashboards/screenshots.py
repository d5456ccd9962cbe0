"""`python -m dashboards.screenshots`: pictures of the pages, for the README."""

from __future__ import annotations

import io
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import click
from PIL import Image

from arena.games import GAMES
from arena.home import Home, open_home
from dashboards.browser import LAPTOP, PHONE, Browser, missing_browser
from dashboards.serving import served
from dashboards.settings import Settings, Submitting
from population.runs import FILE, Runs

LARGEST_BYTES = 300_000


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: its name, the page, and how tall at most."""

    name: str
    path: str
    height: int = 1_000
    size: tuple[int, int] = LAPTOP
    dark: bool = False


def shots(home: Home) -> list[Shot]:
    """The pictures that a home has something to show for."""
    first = next(iter(GAMES))
    found = [
        Shot("leaderboard", f"/?game={first}"),
        Shot("leaderboard-phone", f"/?game={first}", size=PHONE),
        Shot("payoffs", f"/payoffs?game={first}", height=940),
        Shot("exploitability", f"/exploitability?game={first}", dark=True),
        Shot("policy", f"/policy?game={first}", height=1_100),
        Shot("submit", f"/submit?game={first}"),
    ]
    for game in GAMES.values():
        newest = home.store.matches(game.name, game.version, newest_first=True, limit=1)
        if newest:
            query = urlencode({"game": game.name, "match": newest[0].id})
            # One of the two themes with throws, the other with cards.
            dark = game.has_deals
            found.append(Shot(f"replay-{game.name}", f"/replay?{query}", dark=dark))
    if (home.path / FILE).exists():
        for run in Runs(home.path).all():
            query = urlencode({"game": run.config.game, "run": run.name})
            found.append(Shot("run", f"/runs?{query}"))
            break
    return found


def take(home: Path, out: Path) -> list[Path]:
    """Serves a home and takes all pictures; returns their files."""
    out.mkdir(parents=True, exist_ok=True)
    wanted = shots(open_home(home))
    files = []
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Settings(home, submitting=Submitting.ANY_WALL), Path(folder) / "log") as address,
    ):
        for shot in wanted:
            with Browser(address, shot.size, dark=shot.dark) as browser:
                browser.open(shot.path)
                if shot.name == "submit":
                    browser.wait_for("Source")
                file = out / f"{shot.name}.png"
                browser.picture(file, shot.height)
                _slim(file)
                files.append(file)
    return files


def _slim(file: Path) -> None:
    """Fewer colours where a picture is too large, so that the repository stays small."""
    picture = Image.open(file).convert("RGB")
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", optimize=True)
    colours = 256
    while buffer.tell() > LARGEST_BYTES and colours >= 16:
        buffer = io.BytesIO()
        picture.quantize(colours, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
        colours //= 2
    file.write_bytes(buffer.getvalue())


@click.command()
@click.option("--home", required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False))
def main(home: Path, out: Path) -> None:
    """Takes pictures of the pages of a home."""
    if missing := missing_browser():
        raise click.ClickException(missing)
    for file in take(home.resolve(), out):
        click.echo(f"{file}  {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
