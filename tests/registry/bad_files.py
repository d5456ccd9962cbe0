"""Registries that were damaged or edited, and all that can be done with one."""

import itertools
import sqlite3
from collections.abc import Callable
from pathlib import Path

from registry import Registry, RegistryError, Submission

Act = Callable[[Registry], object]
NUMBERS = itertools.count(1_000)


def entry(number: int, size: int = 3_500) -> Submission:
    return Submission("rrps", "ada/copycat", "python", f"# {number}\n" + "x" * size)


COUNT: tuple[Act, ...] = (
    lambda registry: registry.count(),
    lambda registry: registry.count("rrps"),
)
READ: tuple[Act, ...] = (
    *COUNT,
    lambda registry: registry.find(),
    lambda registry: registry.find(text="x"),
    lambda registry: registry.get(None, "ada/copycat"),
    lambda registry: registry.get("rrps", "ada/copycat@7"),
    lambda registry: registry.aliases(),
    lambda registry: registry.seasons(),
    lambda registry: registry.current_season(),
    lambda registry: registry.author("ada"),
    lambda registry: registry.account_of("x"),
    lambda registry: registry.events(),
    lambda registry: registry.tournaments(),
    lambda registry: registry.quarantined_code("rrps", "x"),
)
WRITE: tuple[Act, ...] = (
    lambda registry: registry.submit(entry(next(NUMBERS))),
    lambda registry: registry.claim_author(f"zoe{next(NUMBERS)}"),
)


def use(path: Path, acts: tuple[Act, ...] = (*READ, *WRITE)) -> list[str]:
    """Opens a registry for each act, to read it and to write it; which errors came of it."""
    came = []
    for act, read_only in itertools.product(acts, (True, False)):
        try:
            with Registry.open(path, read_only=read_only) as registry:
                act(registry)
        except RegistryError as error:
            came.append(type(error).__name__)
    return came


def edit(path: Path, *statements: str) -> None:
    raw = sqlite3.connect(path)
    for statement in statements:
        raw.execute(statement)
    raw.commit()
    raw.close()
