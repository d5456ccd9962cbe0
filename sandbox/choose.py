"""Opens the strongest wall that works here, and never a weaker one than was asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sandbox.errors import SandboxError, SandboxRefused
from sandbox.process import ProcessWall
from sandbox.self_check import contained, environment_canary, self_check
from sandbox.wall import Wall

KINDS = ("auto", "gvisor", "gvisor-rootless", "process")
_GVISOR_FIRST = ("gvisor", "gvisor-rootless")


@dataclass(frozen=True, slots=True)
class WallChoice:
    """Which wall to open.

    Attributes:
      kind: "gvisor", "gvisor-rootless", "process", or "auto" for the strongest that works.
      require_gvisor: nothing weaker than gVisor will do.
      allow_unsealed: where the platform cannot seal a process, run the code all the same; only
        for code that the user vouches for.
    """

    kind: str = "auto"
    require_gvisor: bool = False
    allow_unsealed: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"no wall is called {self.kind!r}; there are {', '.join(KINDS)}")


def _gvisor(core: int | None) -> Wall:
    from sandbox.gvisor import GVisorWall

    return GVisorWall(core=core)


def _rootless(core: int | None) -> Wall:
    from sandbox.rootless import RootlessWall

    return RootlessWall(core=core)


def _openers(choice: WallChoice, core: int | None) -> dict[str, Callable[[], Wall]]:
    return {
        "gvisor": lambda: _gvisor(core),
        "gvisor-rootless": lambda: _rootless(core),
        "process": lambda: ProcessWall(allow_unsealed=choice.allow_unsealed, core=core),
    }


def _problem(wall: Wall, secret: str) -> str | None:
    """What its self-check says against a wall, if anything."""
    try:
        findings = self_check(wall, secret)
    except SandboxError as error:
        return str(error)
    if contained(findings):
        return None
    escaped = (finding.name for finding in findings if not finding.contained)
    return f"not held back: {', '.join(escaped)}"


@dataclass(frozen=True, slots=True)
class OpenWall:
    """A wall that was opened, and the choice that opens another of exactly that kind."""

    wall: Wall
    choice: WallChoice


def open_wall(choice: WallChoice | None = None, core: int | None = None) -> Wall:
    """Opens a wall; see `open_settled`."""
    return open_settled(choice, core).wall


def open_settled(choice: WallChoice | None = None, core: int | None = None) -> OpenWall:
    """Opens a wall, and says how to open more of the same kind without trying all of them.

    With "auto", each kind is tried from the strongest down, and taken only if it passes its own
    self-check; the wall's name says which it is.

    Args:
      choice: which.
      core: of another wall, which never plays while this one does; None for a core of its own.

    Raises:
      SandboxRefused: nothing that is strong enough works here; the message says what was tried.
      SandboxUnavailable: the one wall that was asked for does not start.
    """
    choice = choice or WallChoice()
    openers = _openers(choice, core)
    if choice.kind != "auto":
        if choice.require_gvisor and choice.kind not in _GVISOR_FIRST:
            raise SandboxRefused(
                f"gVisor is required, so the wall {choice.kind!r} will not do; "
                "choose gvisor, gvisor-rootless or auto"
            )
        return OpenWall(openers[choice.kind](), choice)
    kinds = _GVISOR_FIRST if choice.require_gvisor else KINDS[1:]
    tried = []
    for kind in kinds:
        with environment_canary() as secret:
            try:
                wall = openers[kind]()
            except (SandboxError, ImportError) as error:
                tried.append(f"{kind}: {error}")
                continue
            if choice.allow_unsealed and wall.name.startswith("unsealed"):
                return OpenWall(wall, choice)
            problem = _problem(wall, secret)
        if problem is None:
            return OpenWall(wall, replace(choice, kind=kind))
        wall.close()
        tried.append(f"{kind}: {problem}")
    wanted = "gVisor is required and" if choice.require_gvisor else "no sandbox works here:"
    raise SandboxRefused(f"{wanted} no wall passed its self-check\n  " + "\n  ".join(tried))
