"""Practice: a policy plays others, nothing is registered or stored, and what it prints is shown.

Practice matches follow from a number that anybody may choose, and never from the season's key: who
practises learns nothing of the matches that will count.

A sealed policy can tell its host nothing but its moves and, once, what it did wrong.  So a match of
a policy that prints is played twice.  In the second playing some lines stand below the policy's
own, inside the same seal: they collect what it prints and raise it as an error when the policy has
made its last move.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from arena.contract import AuthorContract
from arena.games.parts import Account
from arena.games.protocol import Game
from arena.plan import Bout, Player, bout_of
from arena.players import members_of, resolver
from arena.rejection import Rejection
from arena.runner import Runner
from arena.seeds import Seeds
from arena.submission import KIND, prepare
from arena.values import Match, Result, Termination
from registry import commitment_of, digest_of
from registry.values import PolicyVersion, Season
from sandbox.values import Limits

NAME = "practice/policy"
PRINTED_CHARS = 12_000
"""Of what a policy prints, the last so many are shown."""
_BEGIN = "<what the policy printed>"
_CODE = (Path(__file__).parent / "practice_prints.txt").read_text(encoding="utf-8")
_ENDED_BY_THE_REFEREE = frozenset(
    {Termination.TIMED_OUT, Termination.STALLED, Termination.OUT_OF_MEMORY, Termination.DIED}
)


@dataclass(frozen=True, slots=True)
class PracticeMatch:
    """One practice match.

    Attributes:
      opponent: reference of who was played against.
      seat: in which the policy sat, 0 or 1.
      value: what it returned to the policy, in the game's unit.
      result: all of it; its match is in no store.
      account: the same, throw by throw or hand by hand.
      printed: by the policy, until its last move.
    """

    opponent: str
    seat: int
    value: float
    result: Result
    account: Account
    printed: str


def practise(
    runner: Runner,
    game: Game,
    source: str,
    opponents: Sequence[PolicyVersion],
    *,
    matches: int,
    seed: int,
) -> tuple[PracticeMatch, ...] | Rejection:
    """Plays a source that need not be registered against some policies that are.

    Args:
      runner: plays; its home is only read.
      game: what is played.
      source: of the policy.
      opponents: registered versions.
      matches: against each of them.
      seed: that cards and random choices follow from.

    Returns:
      The matches, opponent by opponent; or why the source is no policy.
    """
    prepared = prepare(game, source, name=NAME)
    if isinstance(prepared, Rejection):
        return prepared
    digest = digest_of(game.name, prepared.kind, prepared.payload)
    players = members_of(runner.home.registry, opponents)
    players[digest] = Player(digest, KIND, prepared.payload)
    seeds, resolve = Seeds(_season(seed)), resolver(players)
    bouts = [
        bout_of(Match.between(game.name, game.version, digest, one.digest, number), seeds, resolve)
        for one in opponents
        for number in range(matches)
    ]
    results = _played(runner, game, bouts, players)
    printed = [""] * len(bouts)
    if "print(" in prepared.payload:
        printed = _printed(runner, game, bouts, results, players, digest)
    found = []
    for place, (bout, result) in enumerate(zip(bouts, results, strict=True)):
        seat = bout.match.seats.index(digest)
        account = game.account(bout.deal_seed, result.moves, result.fault_seat)
        ref = opponents[place // matches].ref
        value = result.returns[seat]
        found.append(PracticeMatch(ref, seat, value, result, account, printed[place]))
    return tuple(found)


def _season(seed: int) -> Season:
    """A season of nobody's, with a key that follows from the seed."""
    key = hashlib.blake2b(f"policy-arena practice {seed}".encode(), digest_size=32).digest()
    return Season(0, commitment_of(key), datetime.now(UTC), None, given=True, key=key)


def _played(
    runner: Runner, game: Game, bouts: Sequence[Bout], players: Mapping[str, Player]
) -> list[Result]:
    trials = {str(place): ((bout,), players) for place, bout in enumerate(bouts)}
    played = runner.try_out(game, trials)
    return [played[str(place)][0] for place in range(len(bouts))]


def _printed(
    runner: Runner,
    game: Game,
    bouts: Sequence[Bout],
    results: Sequence[Result],
    players: Mapping[str, Player],
    digest: str,
) -> list[str]:
    """What the policy prints in each match, from a second playing of it."""
    limits = Limits()
    roomy = replace(
        limits,
        source_bytes=2 * limits.source_bytes,
        message_chars=2 * PRINTED_CHARS,
    )
    found = []
    with runner.like_it(roomy) as again:
        for bout, result in zip(bouts, results, strict=True):
            seat = bout.match.seats.index(digest)
            faulted = result.fault_seat == seat
            movers = game.movers(bout.deal_seed, result.moves, result.fault_seat)
            acts = movers.count(seat) + faulted
            early = faulted and result.termination in _ENDED_BY_THE_REFEREE
            telling = _telling(players[digest].payload, game.contract, acts, early=early)
            told = replace(players[digest], payload=telling)
            (ended,) = _played(again, game, [bout], {**players, digest: told})
            found.append(ended.fault_message.partition(_BEGIN)[2])
    return found


def _telling(source: str, contract: AuthorContract, acts: int, *, early: bool) -> str:
    """The source with lines below it that raise what was printed at the last move."""
    begin, rest = _BEGIN[:5], _BEGIN[5:]  # apart, because tracebacks quote the lines
    words = {
        "CLASS": contract.class_name,
        "METHODS": repr(tuple(sorted({*contract.methods, *contract.optional}))),
        "ACTS": str(acts),
        "EARLY": str(early),
        "CHARS": str(PRINTED_CHARS),
        "BEGIN": f"{begin!r} + {rest!r}",
    }
    code = _CODE
    for word, value in words.items():
        code = code.replace(f"@{word}@", value)
    return f"{source.rstrip()}\n\n\n{code}"
