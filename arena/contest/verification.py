"""Checks a certificate: that everything in it follows from the facts in it.

What cannot follow from anything, the returns and the moves of matches, is bound by the root and
the digest, and checked by playing matches again (`arena.contest.playing`).  Whoever knows the
digest from elsewhere, such as the operator's announcement, knows that the whole is the same.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from arena.contest.certificate import Facts, can_compare, compose, digest_of_document
from arena.contest.entries import KINDS, pairs_of
from arena.contest.reading import facts_in
from arena.contest.values import Taking
from arena.errors import UnknownGame, UsageFault
from arena.fingerprint import OF_FEW, VERSION
from arena.games import game as game_named
from arena.games.protocol import Game
from arena.source_check import normalised_digest
from arena.submission import KIND as PYTHON
from arena.values import Termination
from registry.naming import digest_of
from registry.seasons import commitment_of

_TOLERANCE = 1e-6
"""Relative, for the numbers of the table: machines differ in the last digits of a sum."""
_FEW = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check came to.

    Attributes:
      check: what was looked at.
      problem: what is wrong; "" where nothing is.
      detail: what was found, in a few words.
      checked: whether it could be looked at.
    """

    check: str
    problem: str
    detail: str = ""
    checked: bool = True


def verify(document: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Holds a certificate against itself.

    Args:
      document: as `arena.contest.reading.read_certificate` returns it.

    Returns:
      One finding for each check, in their order.

    Raises:
      Malformed: it has not the form of a certificate.
      UsageFault: this installation does not have its game, or another version of its rules.
      SandboxUnavailable: the sources in it cannot be read here.
    """
    facts = facts_in(document)
    game = _game(facts)
    checks: tuple[tuple[str, Callable[[], Iterator[str]], str], ...] = (
        ("digest", lambda: _digest(document), str(document.get("digest"))),
        ("season", lambda: _season(facts), f"season {facts.season}"),
        ("policies", lambda: _policies(facts, game), f"{len(facts.entrants)} entrants"),
        ("entries", lambda: _entries(facts), f"{len(facts.entered)} entries"),
        ("matches", lambda: _matches(facts, game), f"{len(facts.outcomes):,} matches"),
    )
    found = [_finding(check, problems(), detail) for check, problems, detail in checks]
    if found[4].problem or found[2].problem or found[3].problem:
        return tuple(found)  # what follows from these would only repeat it
    again = compose(facts, game)
    parts = [part for part in again if part != "digest"]
    found += [_recomputed(facts, document, again, part) for part in parts]
    more = sorted(set(document) - set(again))
    return (*found, _finding("nothing else", (f"{one!r} is in it" for one in more), ""))


def _game(facts: Facts) -> Game:
    try:
        game = game_named(facts.game)
    except UnknownGame as error:
        raise UsageFault(f"the certificate is of {facts.game!r:.60}: {error}") from error
    if game.version != facts.game_version:
        raise UsageFault(
            f"the final was played by version {facts.game_version} of the rules of {game.name}, "
            f"and this installation has version {game.version}: use the policy-arena that the "
            "certificate names"
        )
    return game


def _finding(check: str, problems: Iterator[str], detail: str) -> Finding:
    """The first few problems in one line."""
    told = list(problems)
    more = f", and {len(told) - _FEW} more" if len(told) > _FEW else ""
    return Finding(check, "; ".join(told[:_FEW]) + more, detail)


def _recomputed(
    facts: Facts, document: Mapping[str, Any], again: Mapping[str, Any], part: str
) -> Finding:
    found = _finding(f"recomputed: {part}", _same(document, again, part), "")
    if part == "alike" and not found.problem and not can_compare(facts):
        return Finding(found.check, "", "not checked: sources are missing", checked=False)
    return found


def _digest(document: Mapping[str, Any]) -> Iterator[str]:
    if document.get("digest") != digest_of_document(document):
        yield "the digest is not that of the certificate: something in it was changed"


def _season(facts: Facts) -> Iterator[str]:
    if facts.season < 1:
        yield f"there is no season {facts.season}"
    if commitment_of(facts.key) != facts.commitment:
        yield "the key is not the one that was committed to"


def _policies(facts: Facts, game: Game) -> Iterator[str]:
    everybody = (*facts.entrants, *facts.hidden)
    if not facts.entrants:
        yield "nobody takes part"
    twice = [digest for digest, n in Counter(one.digest for one in everybody).items() if n > 1]
    yield from (f"{digest} is there twice" for digest in twice)
    for part in (facts.entrants, facts.hidden):
        if list(part) != sorted(part, key=lambda one: one.digest):
            yield "the policies are not in the order of their digests"
    for one in everybody:
        yield from _policy(one, game)
    for one in facts.entrants:
        if one.kind not in KINDS:
            yield f"{one.names[0]} is of the kind {one.kind!r:.40}, which takes no part"


def _policy(one: Taking, game: Game) -> Iterator[str]:
    if one.source is None:
        return
    if digest_of(game.name, one.kind, one.source) != one.digest:
        yield f"the source of {one.names[0]} is not that of {one.digest}"
    elif one.kind == PYTHON and not _is_of(normalised_digest(one.source, game.contract), one):
        yield f"the code digest of {one.names[0]} is not that of its source"


def _is_of(found: str, one: Taking) -> bool:
    """Whether a code digest is that of a source; one of before private names is not computed again.

    A certificate without sources has this digest unchecked as well.
    """
    versions = found.partition(":")[0], one.code_digest.partition(":")[0]
    return found == one.code_digest or versions == (f"{OF_FEW}", f"{VERSION}")


def _entries(facts: Facts) -> Iterator[str]:
    if not facts.opens < facts.closes <= facts.frozen:
        yield "it was not opened, closed and frozen in this order"
    names = {one.digest: set(one.names) for one in facts.entrants}
    entered: dict[str, set[str]] = {}
    for one in facts.entered:
        entered.setdefault(one.digest, set()).add(one.ref)
        if not facts.opens <= one.created < facts.closes:
            yield f"{one.ref} was not handed in between opening and closing"
        if one.ref.partition("/")[0] != one.author:
            yield f"{one.ref} is not a policy of {one.author}"
    if entered != names:
        yield "the entrants are not the policies of the entries"
    playing = {name for one in (*facts.entrants, *facts.hidden) for name in one.names}
    for ref, _ in facts.disqualified:
        if ref in playing:
            yield f"{ref} is disqualified and takes part"
    if list(facts.disqualified) != sorted(set(facts.disqualified)):
        yield "who is disqualified is not in order, or there twice"
    in_order = sorted(facts.entered, key=lambda one: (one.author, one.created, one.ref))
    if list(facts.entered) != in_order or len({one.ref for one in in_order}) < len(in_order):
        yield "the entries are not in order, or one is there twice"
    for author, count in Counter(one.author for one in facts.entered).items():
        if count > facts.entries:
            yield f"{author} has {count} entries, and {facts.entries} are allowed"


def _matches(facts: Facts, game: Game) -> Iterator[str]:
    pairs = pairs_of([one.digest for one in facts.entrants], [one.digest for one in facts.hidden])
    count = len(pairs) * facts.matches
    wanted = ((low, high, n) for low, high in pairs for n in range(facts.matches))
    there = ((one.low, one.high, one.repetition) for one in facts.outcomes)
    if len(facts.outcomes) != count or any(a != b for a, b in zip(there, wanted, strict=True)):
        yield (
            f"these are not the {count:,} matches of the final, each once and in order: "
            f"{facts.matches} of each pair"
        )
    endings = frozenset(Termination)
    for one in facts.outcomes:
        if one.termination not in endings:
            yield f"a match ended by {one.termination!r:.40}"
        elif (one.fault_seat is None) != (one.termination == Termination.COMPLETED):
            yield "a match ended by a forfeit of nobody, or was completed with one"
        # Bounded before they are added: the sum of two that are not may be no number.
        bounded = all(abs(value) <= game.most for value in one.returns)
        if not bounded or math.fsum(one.returns) != 0.0:
            yield f"the returns {one.returns} cannot be those of a match of {game.name}"


def _same(document: Mapping[str, Any], again: Mapping[str, Any], part: str) -> Iterator[str]:
    if part not in document:
        yield "it is not there"
        return
    place = _difference(document[part], again[part], part)
    if place:
        yield f"{place} does not follow from the rest"


def _difference(said: Any, computed: Any, place: str) -> str:
    """Where two values of JSON differ, "" where they do not."""
    if isinstance(computed, dict):
        if not isinstance(said, dict) or set(said) != set(computed):
            return place
        found = (_difference(said[key], computed[key], f"{place}.{key}") for key in computed)
        return next(filter(None, found), "")
    if isinstance(computed, list):
        if not isinstance(said, list) or len(said) != len(computed):
            return place
        pairs = enumerate(zip(said, computed, strict=True))
        found = (_difference(one, other, f"{place}[{n}]") for n, (one, other) in pairs)
        return next(filter(None, found), "")
    if isinstance(computed, float) and isinstance(said, float | int):
        return "" if not isinstance(said, bool) and _close(said, computed) else place
    return "" if type(said) is type(computed) and said == computed else place


def _close(said: float, computed: float) -> bool:
    try:
        return math.isclose(said, computed, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    except OverflowError:  # a whole number that no float can hold
        return False
