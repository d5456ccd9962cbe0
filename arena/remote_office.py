"""What an operator does beside playing, at a server; and how methods are made from their table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arena.tally import Progress, silent
from arena.wire.calls import Call, bound, calls
from registry.tokens import drawn


class RemoteOffice:
    """Every method of `arena.seam.Operations`, asked of a server.

    Args:
      asked: asks it for a call, with arguments by name.
    """

    def __init__(self, asked: Callable[[Call, dict[str, Any], Progress], Any]) -> None:
        self._asked = asked

    def redeem(self, code: str, name: str, *, token: str | None = None) -> str:
        """See `arena.Arena.office.redeem`.

        The token is drawn here, so that a request whose answer was lost can be sent again.
        """
        told = {"code": code, "name": name, "token": token or drawn()}
        made: str = self._asked(calls()["redeem"], told, silent)
        return made


def method_of(call: Call, owner: str, here: str) -> Callable[..., Any]:
    """The method that asks a server for a call.

    Args:
      call: which.
      owner: name of the class that gets it, whose `_asked` asks.
      here: where the same is on this machine, for its documentation.
    """

    def method(self: Any, *arguments: Any, **named: Any) -> Any:
        progress = named.get("progress", silent)
        return self._asked(call, bound(call, arguments, named), progress)

    method.__name__ = call.name
    method.__qualname__ = f"{owner}.{call.name}"
    method.__doc__ = f"See `arena.{here}.{call.name}`."
    return method


for _call in calls().values():
    if _call.of_office and _call.name not in vars(RemoteOffice):
        setattr(RemoteOffice, _call.name, method_of(_call, "RemoteOffice", "Arena.office"))
