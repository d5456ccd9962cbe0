"""A group of commands that loads none of them before it is asked for.

To load them all takes a second, of which most commands need little.  So the names and what they
are for stand in a table, and a module is loaded when one of its commands runs.
"""

from __future__ import annotations

import importlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from functools import partial
from importlib.machinery import ExtensionFileLoader
from types import FrameType
from typing import Any, NoReturn

import click

STOPPED = "stopped; what was stored is kept, run the same command to go on"
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

_ENDED_BY_CTRL_C = ("Query interrupted", "Interrupted!")
"""What DuckDB raises where Ctrl-C meets a query of its own."""
_ONCE_MORE_SECONDS = 0.01
_LOADING = (ExtensionFileLoader.create_module.__name__, ExtensionFileLoader.exec_module.__name__)


class _Commands(MutableMapping[str, click.Command]):
    """Commands by name; what is in `places` is loaded when it is looked up."""

    def __init__(self, places: dict[str, str]) -> None:
        self._places = places
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._loaded:
            module = importlib.import_module(self._places[name])
            self._loaded |= {str(one.name): one for one in module.COMMANDS}
        return self._loaded[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._places, **self._loaded})

    def __len__(self) -> int:
        return len({**self._places, **self._loaded})


class LazyGroup(click.Group):
    """A group whose commands are loaded one module at a time.

    Args:
      places: name of a command to the module that has it in its COMMANDS.
      summaries: name to one sentence, for the list of commands.
    """

    def __init__(
        self, *, places: dict[str, str], summaries: dict[str, str], **settings: object
    ) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]
        self.commands = _Commands(places)
        self.summaries = summaries

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; None where there is none."""
        return self.commands.get(cmd_name)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """As of any group; Ctrl-C ends it as it ends a command."""
        with _stoppable():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command that was asked for."""
        with _stoppable():
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, from the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.summaries[name]) for name in sorted(self.commands)])


@contextmanager
def _stoppable() -> Iterator[None]:
    """What runs in it ends by Ctrl-C, wherever that meets it."""
    before = sys.unraisablehook
    sys.unraisablehook = partial(_unraisable, before)
    ours = _while_nothing_loads()
    try:
        yield
    except KeyboardInterrupt:
        stop()
    except Exception as error:  # a library that is being loaded makes its own error of Ctrl-C
        if was_interrupted(error):
            stop()
        raise
    finally:
        sys.unraisablehook = before
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _while_nothing_loads() -> bool:
    """Has Ctrl-C wait until a library's native part is loaded; False where it is not ours to do.

    Some such parts (DuckDB's) abort the process when an exception meets them half made.
    """
    if threading.current_thread() is not threading.main_thread():
        return False
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return False  # Ignored, as by nohup, or another program's
    signal.signal(signal.SIGINT, _interrupt)
    return True


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _loads_native(frame):
        _once_more()
    else:
        signal.default_int_handler(number, frame)


def _loads_native(frame: FrameType | None) -> bool:
    while frame is not None:
        loads = frame.f_code.co_name in _LOADING
        if loads and isinstance(frame.f_locals.get("self"), ExtensionFileLoader):
            return True
        frame = frame.f_back
    return False


def _unraisable(otherwise: Callable[[Any], Any], unraisable: Any) -> None:
    """Repeats a Ctrl-C that came where Python can raise nothing: it tells of it, and goes on.

    Such a place is the end of an object; each module that is loaded leaves one behind.
    """
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        _once_more()
    else:
        otherwise(unraisable)


def _once_more() -> None:
    main = threading.main_thread().ident
    if main is not None:
        later = threading.Timer(_ONCE_MORE_SECONDS, signal.pthread_kill, (main, signal.SIGINT))
        later.daemon = True
        later.start()


def stop() -> NoReturn:
    """Ends the process as somebody who pressed Ctrl-C expects it."""
    click.echo(STOPPED, err=True)
    sys.exit(INTERRUPTED)


def was_interrupted(error: BaseException) -> bool:
    """Whether Ctrl-C is at the bottom of an error."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, KeyboardInterrupt) or any(
            text in str(cause) for text in _ENDED_BY_CTRL_C
        ):
            return True
        cause = cause.__cause__ or cause.__context__
    return False
