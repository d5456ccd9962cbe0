"""The table of methods: what of an arena can be asked over a wire, how, and by whom.

It is derived from the signatures of `arena.seam.AnyArena` and `arena.seam.Operations`.  What a
signature does not say stands in `_RULES`: whether a method reads, changes or takes long, and which
role it needs.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args

from arena.errors import BadRequest
from arena.games import GAMES
from arena.seam import AnyArena, Operations
from arena.wire.codec import codec, hints_of
from arena.wire.plain import Codec, Json, Malformed, documented
from registry.rights import Role

API = 2
"""Rises when an older client or server could not understand a newer one."""
TOLD_APART = frozenset({"progress"})
"""Parameters that do not cross the wire: the client asks for a job's progress instead."""


class How(enum.StrEnum):
    """What a call does."""

    READ = "read"
    """It changes nothing: its answer may be kept, and it may be asked again."""
    CHANGE = "change"
    """It changes the registry, at once; asked twice with one key it is done once."""
    JOB = "job"
    """It plays, which takes long: it is noted, done when its turn comes, and its result is kept."""


_RULES: Mapping[str, tuple[How, Role]] = {
    "wall": (How.READ, Role.READER),
    "policies": (How.READ, Role.READER),
    "policy": (How.READ, Role.READER),
    "versions": (How.READ, Role.READER),
    "refs": (How.READ, Role.READER),
    "authors": (How.READ, Role.READER),
    "history": (How.READ, Role.READER),
    "payoffs": (How.READ, Role.READER),
    "exact_payoffs": (How.READ, Role.READER),
    "leaderboard": (How.READ, Role.READER),
    "matches": (How.READ, Role.READER),
    "conduct": (How.READ, Role.READER),
    "match": (How.READ, Role.READER),
    "seasons": (How.READ, Role.READER),
    "check": (How.JOB, Role.AUTHOR),
    "practise": (How.JOB, Role.AUTHOR),
    "submit": (How.JOB, Role.AUTHOR),
    "enter": (How.JOB, Role.AUTHOR),
    "play_pairs": (How.JOB, Role.AUTHOR),
    "evaluate": (How.JOB, Role.AUTHOR),
    "replay": (How.JOB, Role.AUTHOR),
    "play": (How.JOB, Role.OPERATOR),
    "register": (How.CHANGE, Role.AUTHOR),
    "admit": (How.CHANGE, Role.AUTHOR),
    "call": (How.CHANGE, Role.AUTHOR),
    "withdraw": (How.CHANGE, Role.AUTHOR),
    "reinstate": (How.CHANGE, Role.AUTHOR),
    "reveal_season": (How.CHANGE, Role.OPERATOR),
    "tournaments": (How.READ, Role.READER),
    "tournament": (How.READ, Role.READER),
    "counting": (How.READ, Role.READER),
    "certificate": (How.READ, Role.READER),
    "accounts": (How.READ, Role.OPERATOR),
    "invites": (How.READ, Role.OPERATOR),
    "events": (How.READ, Role.OPERATOR),
    "add_accounts": (How.CHANGE, Role.OPERATOR),
    "invite": (How.CHANGE, Role.OPERATOR),
    "invite_all": (How.CHANGE, Role.OPERATOR),
    "withdraw_invite": (How.CHANGE, Role.OPERATOR),
    "redeem": (How.CHANGE, Role.READER),
    "renew_token": (How.CHANGE, Role.OPERATOR),
    "disable_account": (How.CHANGE, Role.OPERATOR),
    "set_role": (How.CHANGE, Role.OPERATOR),
    "set_quota": (How.CHANGE, Role.OPERATOR),
    "move_closing": (How.CHANGE, Role.OPERATOR),
    "announce": (How.JOB, Role.OPERATOR),
    "final": (How.JOB, Role.OPERATOR),
    "certify": (How.JOB, Role.OPERATOR),
}
WITHOUT_ACCOUNT = frozenset({"redeem"})
"""Calls of those who have no token yet: what they hand over proves enough."""
TELLS_A_SECRET = frozenset({"add_accounts", "invite", "invite_all", "renew_token"})
"""Changes whose results are told once and kept nowhere."""


@dataclass(frozen=True, slots=True)
class Call:
    """One method of the seam.

    Attributes:
      name: of the method.
      how: what it does.
      may: the least role that may ask for it, and for everybody's; authors only for their own (see
        `arena.server.rights`).
      parameters: their codecs by name.
      needed: those that have no default.
      result: codec of what it returns.
      is_property: whether it is asked without being called.
      told: parameters that do not cross the wire.
      signature: as it is in the seam.
      of_office: whether it is one of `arena.seam.Operations`.
    """

    name: str
    how: How
    may: Role
    parameters: Mapping[str, Codec]
    needed: frozenset[str]
    result: Codec
    is_property: bool
    told: frozenset[str]
    signature: inspect.Signature
    of_office: bool = False

    @property
    def not_none(self) -> frozenset[str]:
        """Parameters whose default is another than None."""
        given = self.signature.parameters.items()
        return frozenset(name for name, one in given if one.default is not None)

    def encode(self, arguments: Mapping[str, Any]) -> dict[str, Json]:
        """Arguments by name as JSON.

        Raises:
          BadRequest: one is not of its type.
        """
        try:
            return {name: self.parameters[name].encode(one) for name, one in arguments.items()}
        except (TypeError, ValueError, AttributeError, Malformed) as error:
            raise BadRequest(f"{self.name} cannot be asked like this: {error}") from error

    def decode(self, document: Json) -> dict[str, Any]:
        """The inverse.

        Raises:
          BadRequest: it is no document of this method's arguments.
        """
        try:
            found = documented(document)
            strange = sorted(found.keys() - self.parameters.keys())
            missing = sorted(self.needed - found.keys())
            if strange:
                known = ", ".join(self.parameters) or "no parameters"
                raise Malformed(f"{strange[0]!r:.80} is no parameter; there are {known}")
            if missing:
                raise Malformed("this parameter is needed", missing[0])
            return {name: self._decoded(name, one) for name, one in found.items()}
        except Malformed as error:
            raise BadRequest(f"{self.name}: {error}") from None

    def _decoded(self, name: str, document: Json) -> Any:
        try:
            return self.parameters[name].decode(document)
        except Malformed as error:
            raise error.inside(name) from None


def _parameters(function: Any) -> tuple[dict[str, Any], frozenset[str]]:
    """Types of parameters by name, keyword filters one by one; and those that are needed."""
    found: dict[str, Any] = {}
    needed = set()
    hints = hints_of(function)
    for name, one in list(inspect.signature(function).parameters.items())[1:]:
        if one.kind is inspect.Parameter.VAR_KEYWORD:
            (filters,) = get_args(hints[name])
            found |= hints_of(filters)
        elif name not in TOLD_APART:
            found[name] = hints[name]
            if one.default is inspect.Parameter.empty:
                needed.add(name)
    return found, frozenset(needed)


@cache
def calls() -> Mapping[str, Call]:
    """Every method of the seam that crosses the wire, by name."""
    made = {}
    for name, (how, may) in _RULES.items():
        of_office = name not in vars(AnyArena)
        member = vars(Operations if of_office else AnyArena)[name]
        is_property = isinstance(member, property)
        function = member.fget if is_property else member
        parameters, needed = _parameters(function)
        signature = inspect.signature(function)
        made[name] = Call(
            name,
            how,
            may,
            {one: codec(of) for one, of in parameters.items()},
            needed,
            codec(hints_of(function)["return"]),
            is_property,
            TOLD_APART & signature.parameters.keys(),
            signature,
            of_office,
        )
    return made


def bound(call: Call, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as somebody gave them, by name, without what does not cross the wire.

    Raises:
      TypeError: the method does not take them.
    """
    given = dict(call.signature.bind(None, *arguments, **named).arguments)
    given.pop("self")
    for name, one in call.signature.parameters.items():
        if one.kind is inspect.Parameter.VAR_KEYWORD:
            filters = given.pop(name, {})
            strange = filters.keys() - call.parameters.keys()
            if strange:
                raise TypeError(f"{call.name}() got an unexpected argument {min(strange)!r}")
            given |= filters
    return {name: one for name, one in given.items() if name not in TOLD_APART}


def rules() -> str:
    """The versions of the games' rules, which both sides must share to mean the same by a match."""
    return ",".join(f"{name}={game.version}" for name, game in sorted(GAMES.items()))
