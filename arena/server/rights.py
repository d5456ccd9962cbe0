"""Who may ask for what, and what of an answer is not for everybody.

The roles are the registry's (`registry.rights.may`).  What is added here is what a request over the
wire can carry: many submissions at once, a client's reserved names, and vouching for programs.

- Readers read.  Authors hand in, withdraw and reinstate under their own name, and have matches
  played within their quota.  Operators do everything.
- A client of the arena (CSRO) registers under names of its own, `csro/RUN-k03`.  An author may do
  that in runs that begin with the author's name: ada in csro/ada and csro/ada-...
- Authors make no mixtures of others' policies, whose scores these would be: see `admission.py`.
- Only operators vouch: programs of one author that share a process could tell each other what the
  other half of a deal held.  An author's request is played all the same, each match by itself.
- A tournament's hidden population is unknown to everybody but operators (`arena.server.veil`).
- Accounts, invitations, the log and the course of a tournament are the operators'.  Everybody sees
  what tournaments there are, and who has entered, but not of whom a hidden population is made.
  A certificate is everybody's once it is issued, and issuing it is the operators'.
- Nobody is told the key of an open season.  The source of a policy that takes part is open, as it
  is on the pages; of one that does not (withdrawn, quarantined, a candidate), it is its authors'
  and the operators'.  The seed of a deal is told to who played it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from arena.contest.entries import listed
from arena.contest.issuing import policies_in, with_sources
from arena.enrol import Enrolled
from arena.errors import NotAllowed
from arena.evaluation import Evaluated
from arena.games import GAMES
from arena.kinds.neural import KIND as NEURAL
from arena.kinds.neural import payload_of, uniform_file
from arena.listings import Policies
from arena.nesting import KIND as MIXTURE
from arena.nesting import mixtures_of
from arena.registrar import Registrar
from arena.replay import UNTOLD, Stored
from arena.submission import KIND as PYTHON
from arena.visibility import history_without_kept, without_kept
from arena.wire.calls import WITHOUT_ACCOUNT, Call
from registry.credits import is_kept
from registry.errors import UnknownPolicy
from registry.naming import author_of
from registry.rights import Account, Action, Role, may
from registry.tournaments import Tournament
from registry.values import PolicyVersion, Season, Status, StatusChange, Submission

CLIENTS = frozenset({"csro"})
"""Reserved authors in whose names a client of the arena registers what it makes."""
_ACTIONS = {Role.READER: Action.READ, Role.AUTHOR: Action.PLAY, Role.OPERATOR: Action.OPERATE}
MOST_PRACTICE = 16
"""Matches of one `practise`, which gives way to nobody."""
MOST_SUBMISSIONS = 200
"""In one `enter`."""
MOST_PAIRS = 50_000
"""In one `play_pairs`."""
MOST_ALIASES = 50
"""Of one author in one game."""
UNTOLD_DIGEST = ""
"""In the place of a digest of a hidden population."""
_VEILED = frozenset({"policies", "policy", "versions", "match"})
"""Reads whose answers depend on whose policies they are about."""
_SAID = {
    "certify": "a tournament's certificate is everybody's once it is issued; issuing it, which "
    "publishes the key of the final,",
    "practise": "trying a policy before it is handed in",
    "enter": "handing in policies",
    "submit": "handing in a policy",
    "register": "handing in a policy",
    "admit": "letting a policy take part",
    "check": "checking a policy",
    "play": "playing whole round robins",
    "play_pairs": "playing chosen pairs",
    "evaluate": "having a policy evaluated",
    "replay": "having a match played again",
    "call": "giving a policy another name",
    "reveal_season": "revealing a season's key",
    "announce": "opening a tournament",
    "final": "playing a final",
    "move_closing": "closing a tournament",
    "events": "reading the log",
    "accounts": "listing the accounts",
    "invites": "listing the invitations",
}
"""What calls are in words, where their names do not say enough."""


def view_of(call: Call, account: Account, arguments: Mapping[str, Any]) -> str:
    """What an answer to a read depends on, of who asks."""
    if account.role is Role.OPERATOR:
        return "*"
    return account.name if call.name in _VEILED or arguments.get("sources") else ""


def check(call: Call, account: Account, arguments: Mapping[str, Any], registrar: Registrar) -> None:
    """Does nothing where an account may make this call.

    Raises:
      NotAllowed: it may not; the message says why.
      RegistryError: it is about a policy that is not there.
    """
    if call.name not in WITHOUT_ACCOUNT and not may(account, _ACTIONS[call.may]):
        raise NotAllowed(
            f"{_SAID.get(call.name, call.name)} is for {call.may.value}s, and {account.name} has "
            f"the role of {account.role.value}"
        )
    if account.role is not Role.OPERATOR and call.name in _CHECKS:
        _CHECKS[call.name](account, arguments, registrar)


def without_vouching(account: Account, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A call's arguments, as an author may ask for them."""
    if account.role is Role.OPERATOR or "shared" not in arguments:
        return dict(arguments)
    return dict(arguments) | {"shared": False}


def handed_in(call: Call, arguments: Mapping[str, Any]) -> int:
    """How many submissions a call counts as."""
    return _HANDED_IN.get(call.name, len(arguments.get("submissions", ())))


_HANDED_IN = {"submit": 1, "register": 1}


def owned(account: Account, name: str, registrar: Registrar) -> bool:
    """Whether a policy's name is an author's: its own, or that of a run of its own."""
    return may(account, Action.SUBMIT, _in_own_words(account, name, registrar))


def _in_own_words(account: Account, name: str, registrar: Registrar) -> str:
    """The name; one of a client's run as that of the author whose run it is."""
    author, _, rest = name.partition("/")
    if author not in CLIENTS:
        return name
    ours = [one for one in _names_of(registrar) if _begins(rest, one)]
    ours += [account.name] if _begins(rest, account.name) else []
    return f"{max(ours, key=len)}/{rest}" if ours else name


def _names_of(registrar: Registrar) -> tuple[str, ...]:
    """Who there is; asked once for each request, which may be about a thousand names."""
    known: dict[str, tuple[str, ...]] = registrar.__dict__
    if "names" not in known:
        known["names"] = tuple(one.name for one in registrar.authors())
    return known["names"]


def _begins(rest: str, author: str) -> bool:
    return rest == author or rest.startswith(f"{author}-")


def _refuse_foreign(account: Account, name: str, registrar: Registrar) -> None:
    if not owned(account, name, registrar):
        author = name.partition("/")[0]
        yours = f"{author}/{account.name}-..." if author in CLIENTS else f"{account.name}/..."
        raise NotAllowed(
            f"the name {name!r} is not {account.name}'s: yours are {yours}, and an operator may "
            "use any"
        )


def _may_submit(account: Account, arguments: Mapping[str, Any], registrar: Registrar) -> None:
    _refuse_foreign(account, arguments["name"], registrar)


def _may_enter(account: Account, arguments: Mapping[str, Any], registrar: Registrar) -> None:
    _refuse_more(len(arguments["submissions"]), MOST_SUBMISSIONS, "submissions")
    registrar.versions(arguments.get("opponents", ()))
    for one in arguments["submissions"]:
        if isinstance(one, Submission) and not _is_a_beginning(one, registrar):
            _refuse_foreign(account, one.name, registrar)
            _refuse_a_candidate(one)
            registrar.versions(parent.digest for parent in one.parents)


def _refuse_a_candidate(one: Submission) -> None:
    """An author's candidate is what an operator hides: if hidden, it would vanish from its author.

    So whoever hands in a program as one could ask whether a tournament has it.
    """
    if one.status is Status.CANDIDATE and author_of(one.name) not in CLIENTS:
        raise NotAllowed(
            f"{one.name} cannot be handed in as a candidate: only runs have those, and yours are "
            "csro/AUTHOR-..."
        )


def _refuse_more(count: int, most: int, what: str) -> None:
    if count > most:
        raise NotAllowed(f"{count:,} {what} are too many for one request: at most {most:,}")


def _may_practise(account: Account, arguments: Mapping[str, Any], registrar: Registrar) -> None:
    count = len(arguments["against"]) * arguments.get("matches", 2)
    _refuse_more(count, MOST_PRACTICE, "matches of practice")


def _may_play(account: Account, arguments: Mapping[str, Any], registrar: Registrar) -> None:
    _refuse_more(len(arguments["wanted"]), MOST_PAIRS, "pairs")
    registrar.versions(digest for pair in arguments["wanted"] for digest in pair)


def _may_register(account: Account, arguments: Mapping[str, Any], registrar: Registrar) -> None:
    submission = arguments["submission"]
    _refuse_foreign(account, submission.name, registrar)
    _refuse_a_candidate(submission)
    registrar.versions(parent.digest for parent in submission.parents)


def _is_a_beginning(one: Submission, registrar: Registrar) -> bool:
    """Whether it is what every client's run may begin with: the same content for everybody.

    It has a name that is of nobody's run, and neither labels nor parents.
    """
    game = GAMES.get(one.game)
    client, _, rest = one.name.partition("/")
    if game is None or client not in CLIENTS or one.labels or one.parents:
        return False
    if any(_begins(rest, author.name) for author in registrar.authors()):
        return False
    if one.kind == PYTHON:
        return one.payload == game.initial
    if one.kind != NEURAL or game.tensors is None:
        return False
    return one.payload == payload_of(game, uniform_file(game))


def _own_credits(account: Account, version: PolicyVersion, registrar: Registrar) -> list[Status]:
    return [one.status for one in version.credits if owned(account, one.name, registrar)]


def _may_admit(account: Account, arguments: Mapping[str, Any], registrar: Registrar) -> None:
    digest = arguments["digest"]
    version = registrar.versions([digest])[digest]
    for one in version.credits:
        if one.status is Status.CANDIDATE and not is_kept(one):
            _refuse_foreign(account, one.name, registrar)


def _may_call(account: Account, arguments: Mapping[str, Any], registrar: Registrar) -> None:
    alias, game = arguments["alias"], arguments["game"]
    name = game if isinstance(game, str) else game.name
    registrar.policy(arguments["ref"], name)  # which has to be known to them
    whose = [one.name for one in registrar.authors() if _begins(alias, one.name)]
    if not _begins(alias, account.name) or max(map(len, whose), default=0) > len(account.name):
        raise NotAllowed(
            f"the alias {alias!r} is not {account.name}'s: yours are {account.name} and "
            f"{account.name}-..."
        )
    there = {one.name for one in registrar.home.registry.aliases(name)}
    if alias not in there:
        own = sum(_begins(one, account.name) for one in there)
        _refuse_more(own + 1, MOST_ALIASES, "aliases")
    if alias in there and not _own_credits(account, registrar.policy(alias, name), registrar):
        raise NotAllowed(f"the alias {alias!r} means another author's policy")


def _may_change(account: Account, arguments: Mapping[str, Any], registrar: Registrar) -> None:
    version = registrar.policy(arguments["ref"], arguments.get("game"))
    _refuse_foreign(account, version.name, registrar)
    if version.status is Status.QUARANTINED:
        raise NotAllowed(f"{version.ref} is quarantined: ask the operator")


def _may_reinstate(account: Account, arguments: Mapping[str, Any], registrar: Registrar) -> None:
    _may_change(account, arguments, registrar)
    version = registrar.policy(arguments["ref"], arguments.get("game"))
    if version.status is not Status.YANKED:
        raise NotAllowed(
            f"{version.ref} is {version.status.value}: authors let back what they withdrew, and "
            "operators the rest"
        )
    before = [
        one.status
        for one in registrar.home.registry.history(version.digest)
        if one.ref == version.ref and one.status is not Status.YANKED
    ]
    if before and before[-1] is Status.QUARANTINED:
        raise NotAllowed(f"{version.ref} was quarantined before it was withdrawn: ask the operator")
    if version.kind == MIXTURE:
        _may_mix_again(version, registrar)


def _may_mix_again(version: PolicyVersion, registrar: Registrar) -> None:
    """Who withdrew a mixture before its member was quarantined has not saved it."""
    players = mixtures_of(registrar.home.registry, version.game)[version.digest]
    for member in registrar.versions(players).values():
        if member.status is Status.QUARANTINED:
            raise NotAllowed(f"{version.ref} mixes {member.ref}, which is in quarantine")


_CHECKS = {
    "submit": _may_submit,
    "enter": _may_enter,
    "register": _may_register,
    "admit": _may_admit,
    "call": _may_call,
    "withdraw": _may_change,
    "reinstate": _may_reinstate,
    "play_pairs": _may_play,
    "practise": _may_practise,
}


# What is not for everybody.


def veiled(value: Any, account: Account, registrar: Registrar) -> Any:
    """An answer without what its reader may not see."""
    if isinstance(value, Season):
        return value if value.closed else replace(value, key=None)
    if isinstance(value, Tournament):
        return _veiled_tournament(value, account)
    if isinstance(value, PolicyVersion):
        return _veiled_version(value, account, registrar)
    if isinstance(value, Policies):
        return Policies(_veiled_version(one, account, registrar) for one in value)
    if isinstance(value, tuple) and value and isinstance(value[0], StatusChange):
        return value if account.role is Role.OPERATOR else history_without_kept(value)
    each = (Season, Enrolled, Tournament)
    if isinstance(value, (tuple, list)) and value and isinstance(value[0], each):
        return type(value)(veiled(one, account, registrar) for one in value)
    if isinstance(value, dict):
        return {key: veiled(one, account, registrar) for key, one in value.items()}
    if isinstance(value, (Enrolled, Evaluated)):
        return replace(value, version=_veiled_version(value.version, account, registrar))
    if isinstance(value, Stored):
        return _veiled_match(value, account, registrar)
    return value


def _veiled_tournament(one: Tournament, account: Account) -> Tournament:
    """How many are hidden is no secret, and which they are is none once there is a certificate."""
    if account.role is Role.OPERATOR or one.certificate:
        return one
    return replace(one, hidden=(UNTOLD_DIGEST,) * len(one.hidden), entrants=listed(one))


def veiled_certificate(
    document: dict[str, Any], account: Account, registrar: Registrar
) -> dict[str, Any]:
    """A certificate with those of its sources that its reader may see.

    Args:
      document: as it was issued, with sources or without.
      account: who reads it.
      registrar: as that account sees it: what it may not know is not there.
    """
    if account.role is Role.OPERATOR:
        return document
    seen: dict[str, str] = {}
    if any("source" in one for part in ("entrants", "hidden") for one in document[part]):
        for digest in policies_in(document):
            with suppress(UnknownPolicy):
                version = registrar.versions([digest])[digest]
                seen[digest] = _veiled_version(version, account, registrar).payload
    return with_sources(document, {digest: told for digest, told in seen.items() if told})


def _veiled_version(
    version: PolicyVersion, account: Account, registrar: Registrar
) -> PolicyVersion:
    if account.role is Role.OPERATOR:
        return version
    version = without_kept(version)
    if any(one.status is Status.QUALIFIED for one in version.credits):
        return version
    if _own_credits(account, version, registrar):
        return version
    return replace(version, payload="")


def _veiled_match(stored: Stored, account: Account, registrar: Registrar) -> Stored:
    first, second = stored.versions
    if account.role is Role.OPERATOR:
        return stored
    versions = (
        _veiled_version(first, account, registrar),
        _veiled_version(second, account, registrar),
    )
    if any(_own_credits(account, one, registrar) for one in stored.versions):
        return replace(stored, versions=(without_kept(first), without_kept(second)))
    season = registrar.home.registry.season(stored.result.season)
    seed = stored.deal_seed if season.closed or season.key is None else UNTOLD
    return replace(stored, versions=versions, deal_seed=seed)
