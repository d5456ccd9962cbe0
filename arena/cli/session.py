"""What every command shares: the home, how to answer, and how errors become exit codes."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import click
from click.shell_completion import CompletionItem

from arena.cli.homes import HomeType
from arena.cli.json_text import json_text
from arena.cli.lazy import stop, was_interrupted
from arena.errors import KNOWN, UsageFault
from arena.games import GAMES
from arena.games import game as game_named
from arena.home_marker import has_home, no_home
from arena.logins import is_address
from registry.display import shown
from registry.errors import AmbiguousRef, MalformedName, UnknownPolicy

if TYPE_CHECKING:
    from rich.console import Console

    from arena.executors import Workers
    from arena.games.protocol import Game
    from arena.kinds.asked import Asked
    from arena.local import Arena
    from arena.roster import Roster
    from arena.seam import Operations
    from sandbox.choose import WallChoice

KEY_BYTES = 32
"""Of a season's key."""
DEFAULT_HOME = "./arena-home"

P = ParamSpec("P")
T = TypeVar("T")

USAGE = (UsageFault, UnknownPolicy, AmbiguousRef, MalformedName)


@dataclass(frozen=True)
class Session:
    """One invocation: which home, and whether the answer is JSON.

    Attributes:
      home: a folder, or the address of a server.
      registry_url: of a registry on a server; None for the home's own.
      as_json: whether the answer is one JSON document.
      seed_key: for a new home.
    """

    home: Path | str
    registry_url: str | None
    as_json: bool
    seed_key: bytes | None = None

    @property
    def server(self) -> str | None:
        """The address of the server that has the home; None for a folder."""
        return str(self.home) if is_address(self.home) else None

    @property
    def home_path(self) -> Path:
        """The folder of the home, for what cannot be done from elsewhere.

        Raises:
          UsageFault: it is on a server.
        """
        if self.server is not None:
            raise UsageFault(
                f"this needs the folder of a home, and {self.home} is a server: run it there, or "
                "name a folder with --home"
            )
        return Path(self.home)

    def require_folder(self) -> None:
        """Does nothing for a home in a folder.

        Raises:
          UsageFault: it is on a server.
        """
        assert self.home_path

    def arena(
        self,
        wall: WallChoice | None = None,
        workers: Workers | int = 0,
        *,
        new: bool = False,
        asked: Asked | None = None,
    ) -> Arena:
        """Opens the arena; `new` for commands that may be the first of a home, and make it.

        With `asked`, who plays policies that are asked for their moves.  A server has a wall and
        workers of its own.

        Raises:
          UsageFault: there is no home, and the command has nothing to read elsewhere.
        """
        if self.server is not None and asked is None:
            return self._behind_address()
        if not new:
            self._need_home()
        # Half of what there is to load: commands that read no home do without.
        from arena.local import Arena

        return Arena(
            self.home_path,
            registry=self.registry_url,
            seed_key=self.seed_key,
            sandbox="auto" if wall is None else wall,
            workers=workers,
            asked=asked,
            create=new,
        )

    def roster(self) -> Roster:
        """Who takes part, for commands that read nothing else; enrols nobody and makes no home.

        Raises:
          UsageFault: there is no home.
        """
        if self.server is not None:
            return self._behind_address()
        self._need_home()
        from arena.home import open_home
        from arena.roster import Roster

        home = open_home(
            self.home_path, self.registry_url, seed_key=self.seed_key, create=False, enrol=False
        )
        return Roster(home)

    def office(self, *, new: bool = False) -> Operations:
        """What an operator does beside playing; `new` for commands that may be a home's first.

        Without it, of a home that is there; then nothing is loaded that plays.

        Raises:
          UsageFault: there is no home.
        """
        if self.server is not None or new:
            return self.arena(new=new).office
        from arena.office import Office

        # All but what plays, for which commands open an arena.
        return cast("Operations", Office(self.roster().home))

    @contextmanager
    def practice(self, wall: WallChoice | None = None) -> Iterator[Arena]:
        """The arena for commands that store nothing: that of the home where there is one.

        Where there is none, a passing one has the house's entrants; no home is made.
        """
        if self.server or self.registry_url is not None or has_home(self.home_path):
            with self.arena(wall) as arena:
                yield arena
            return
        with TemporaryDirectory(prefix="arena-practice-") as folder:
            passing = replace(self, home=Path(folder) / "home")
            with passing.arena(wall, new=True) as arena:
                yield arena

    def typed(self, words: str) -> str:
        """A command to go on with, as it has to be typed: it names the home if this one did."""
        known = os.environ.get("ARENA_URL") or os.environ.get("ARENA_HOME") or DEFAULT_HOME
        if self.server is not None:
            same = self.server == known
        else:
            same = self.home_path.absolute() == Path(known).absolute()
        return words if same else f"{words} --home {shlex.quote(str(self.home))}"

    def _need_home(self) -> None:
        """A home that is not there is told of before what opens one is loaded."""
        if not has_home(self.home_path):
            raise no_home(self.home_path)

    def _behind_address(self) -> Arena:
        """The arena of a server.

        Raises:
          UsageFault: an option was given that a server has decided for itself.
        """
        if self.registry_url is not None or self.seed_key is not None:
            raise UsageFault(
                f"the server {self.server} has a registry and keys of its own: leave --registry "
                "and --seed-key out (and ARENA_REGISTRY and ARENA_SEED_KEY)"
            )
        from arena.local import Arena

        arena = Arena(str(self.server))
        click.get_current_context().call_on_close(arena.close)  # not every command closes its own
        return arena

    def answer(self, document: Mapping[str, Any], human: Callable[[Console], None]) -> None:
        """Prints the answer: one JSON document on stdout, or something for people."""
        if self.as_json:
            click.echo(json_text(document))
        else:
            human(terminal())


def terminal(stderr: bool = False) -> Console:
    """A console that does not cut tables short when output goes to a file."""
    from rich.console import Console  # JSON does without

    stream = sys.stderr if stderr else sys.stdout
    columns = os.environ.get("COLUMNS", "")
    width = None if stream.isatty() else int(columns) if columns.isdecimal() else 200
    return Console(stderr=stderr, width=width, highlight=False, emoji=False)


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr; yields a function that takes (done, to do)."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=terminal(stderr=True), transient=False) as bar:
        # Where nothing is left to do there is nothing to tell of.
        task = bar.add_task(title, total=None, visible=False)

        def tell(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, visible=total > 0)

        yield tell


def plain(text: str) -> str:
    """Text that nobody vouches for, safe to print through rich."""
    from rich.markup import escape

    return escape(shown(text))


def notice(text: str) -> None:
    """One line for people, on stderr; it may hold words that nobody vouches for."""
    click.echo(shown(text), err=True)


def _fail(session: Session | None, error: Exception, code: int) -> None:
    notice(f"error: {error}")
    if session is not None and session.as_json:
        click.echo(json.dumps({"error": {"kind": type(error).__name__, "message": str(error)}}))
    sys.exit(code)


def command(function: Callable[P, T]) -> Callable[P, T]:
    """Turns known errors into a message and an exit code: 2 usage, 1 the operation failed."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        session = kwargs.get("session")
        session = session if isinstance(session, Session) else None
        try:
            return function(*args, **kwargs)
        except USAGE as error:
            _fail(session, error, 2)
        except KNOWN as error:
            _fail(session, error, 1)
        except KeyboardInterrupt:
            stop()
        except click.Abort as abort:  # Ctrl-C at a question, or no for an answer
            if isinstance(abort.__context__, KeyboardInterrupt):
                stop()
            raise
        except Exception as error:
            if was_interrupted(error):
                stop()
            raise
        raise AssertionError("unreachable")

    return run


def _seed_key(context: click.Context, option: click.Parameter, value: str | None) -> bytes | None:
    if value is None:
        return None
    try:
        text = Path(value[1:]).read_text().strip() if value.startswith("@") else value
        key = bytes.fromhex(text)
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"cannot be read: {error}") from error
    if len(key) != KEY_BYTES:
        raise click.BadParameter(f"it has {len(key)} bytes; {KEY_BYTES} are needed")
    return key


def session_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --home, --registry and --json, and hands the command a `Session`."""

    @click.option(
        "--home",
        "home",
        envvar=["ARENA_URL", "ARENA_HOME"],
        default=DEFAULT_HOME,
        show_default=True,
        type=HomeType(),
        help="Folder of the tournament, or the address of a server that has it "
        "[env ARENA_URL, ARENA_HOME].",
    )
    @click.option(
        "--registry",
        "registry_url",
        envvar="ARENA_REGISTRY",
        metavar="URL",
        help="Registry on a server, such as postgresql+psycopg://host/name [env ARENA_REGISTRY].",
    )
    @click.option(
        "--seed-key",
        "seed_key",
        envvar="ARENA_SEED_KEY",
        metavar="KEY",
        callback=_seed_key,
        help="64 hexadecimal digits, or @FILE: the key that all seeds of a new home follow from, "
        "so that others can repeat its matches; without it a new home draws a secret "
        "[env ARENA_SEED_KEY].",
    )
    @click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
    @wraps(function)
    def run(
        home: Path | str,
        registry_url: str | None,
        seed_key: bytes | None,
        as_json: bool,
        **kwargs: Any,
    ) -> Any:
        session = Session(home, registry_url, as_json, seed_key)
        return command(function)(session=session, **kwargs)

    return run


def answer_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --json, and hands the command a `Session`: for commands that read no home."""

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
    @wraps(function)
    def run(as_json: bool, **kwargs: Any) -> Any:
        return command(function)(session=Session(Path(), None, as_json), **kwargs)

    return run


class GameType(click.ParamType["Game"]):
    """A game by name."""

    name = "game"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The games that begin like this."""
        return [CompletionItem(name) for name in GAMES if name.startswith(incomplete)]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Game:
        if not isinstance(value, str):
            game: Game = value
            return game
        try:
            return game_named(value)
        except UsageFault as error:
            self.fail(str(error), param, ctx)


game_option = click.option(
    "--game", "game", type=GameType(), required=True, metavar="|".join(GAMES), help="Which game."
)
optional_game = click.option(
    "--game", "game", type=GameType(), metavar="|".join(GAMES), help="Which game."
)
