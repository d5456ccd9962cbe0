"""Servers for tests: of a copied home, on a free port, with accounts of all roles."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from arena.home import open_home
from arena.server.serving import InThread, Serving
from registry.rights import Role
from sandbox.choose import WallChoice

ROSTER = (("boss", Role.OPERATOR), ("ada", Role.AUTHOR), ("bob", Role.AUTHOR), ("eve", Role.READER))


@dataclass(frozen=True)
class Served:
    """A server that runs.

    Attributes:
      address: of it.
      home: its folder.
      tokens: by account.
      thread: it.
    """

    address: str
    home: Path
    tokens: dict[str, str]
    thread: InThread


@contextmanager
def served(home: Path, **options: object) -> Iterator[Served]:
    """Serves a home with one worker behind the process wall, and nothing in the background.

    A home that is served again keeps its accounts; their tokens are new.
    """
    opened = open_home(home, options.get("registry_url"))  # type: ignore[arg-type]
    known = {one.name for one in opened.registry.accounts()}
    new = [(name, role) for name, role in ROSTER if name not in known]
    tokens = dict(opened.registry.add_accounts(new)) if new else {}
    tokens |= {name: opened.registry.renew_token(name) for name, _ in ROSTER if name in known}
    opened.registry.close()
    serving = Serving(home, wall=WallChoice("process"), workers=1, **options)  # type: ignore[arg-type]
    with InThread(serving) as thread:
        yield Served(thread.address, home, tokens, thread)
