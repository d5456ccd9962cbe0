"""Plays chunks: the one place where policies sit down at a table.

What is stored is what the engine says: the table's record of moves is replayed through OpenSpiel
(`Game.score`), whoever kept that record.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from arena.demand import Demand, mean_demands
from arena.games import game as game_named
from arena.games.protocol import Game, Seat
from arena.kinds import native
from arena.kinds.asked import KIND as ASKED
from arena.kinds.asked import Asked, refuse_unanswered
from arena.kinds.host import host_policy
from arena.kinds.neural import KIND as NEURAL
from arena.kinds.neural import NONE
from arena.network_seats import crews_of, with_crews
from arena.plan import Bout, Chunk, Player, Route
from arena.values import LOCKSTEP, Result, Termination
from arena.worker_walls import Walls
from sandbox.values import (
    EXTERNAL,
    Block,
    BlockMatch,
    Limits,
    Outcome,
    Rules,
    SeatPlan,
)
from sandbox.wall import Wall

_MIB = 1024 * 1024
IDLE = 254
FAULT_CODES = {
    250: Termination.CRASHED,
    251: Termination.ILLEGAL_ACTION,
    252: Termination.MALFORMED_ACTION,
}


@dataclass(frozen=True, slots=True)
class Voided:
    """A match that a shared worker could not finish, and its result so far, which is void."""

    bout: Bout
    cut: Result


@dataclass(frozen=True, slots=True)
class Played:
    """What a chunk came to.

    Attributes:
      results: matches whose result stands.
      bouts: of the results.
      voided: matches that must be played once more, each by itself, because a worker that
        played several at once was at fault.
      audit: whether the chunk was an audit.
      charged: whether the request pays for them although no sandbox played them, because networks
        did.
      demands: what each Python policy took for a match, by digest, where matches shared workers.
    """

    results: tuple[Result, ...]
    bouts: tuple[Bout, ...]
    voided: tuple[Voided, ...] = ()
    audit: bool = False
    charged: bool = False
    demands: Mapping[str, Demand] = field(default_factory=dict)


@dataclass(slots=True)
class BoutHandler:
    """Plays chunks in a process of its own; opens a sandbox when the first chunk needs it.

    Attributes:
      limits: of each policy behind the wall.
      asked: who plays policies that are asked for their moves; None where nobody does.
    """

    limits: Limits = field(default_factory=Limits)
    asked: Asked | None = None
    _walls: Walls = field(default_factory=Walls)

    def run(self, chunk: Chunk) -> Played:
        """Plays one chunk."""
        game = game_named(chunk.game)
        if chunk.route is Route.NATIVE:
            return Played(tuple(_play_native(game, chunk)), chunk.bouts)
        if chunk.route is Route.INLINE:
            inline = (_play_inline(game, bout, chunk.players) for bout in chunk.bouts)
            return Played(tuple(inline), chunk.bouts)
        if chunk.route in (Route.ASKED, Route.LOCKSTEP):
            results = tuple(_play_in_lockstep(game, chunk, self.asked))
            return Played(results, chunk.bouts, charged=chunk.route is Route.LOCKSTEP)
        wall = self._walls.opened(chunk.wall, chunk.audit)
        try:
            return play_in_box(game, chunk, wall, self.limits, self.asked)
        except BaseException:  # its box may have been left in the middle of a block
            self.close()
            raise

    def close(self) -> None:
        """Ends the sandboxes that were opened.  Idempotent."""
        self._walls.close()


def _play_native(game: Game, chunk: Chunk) -> Iterator[Result]:
    payloads = {digest: player.payload for digest, player in chunk.players.items()}
    for bout in chunk.bouts:
        bots = (payloads[bout.players[0]], payloads[bout.players[1]])
        yield native.play(game, bout, bots)


def _seat(
    game: Game, bout: Bout, number: int, players: Mapping[str, Player], asked: Asked | None = None
) -> Seat:
    player, seed = players[bout.players[number]], bout.seat_seeds[number]
    refuse_unanswered([player.kind], asked)
    if asked is not None and player.kind == ASKED:
        return game.seat(asked.policy(game, player.payload, seed))
    return game.seat(host_policy(game, player.kind, player.payload, seed))


def _play_inline(game: Game, bout: Bout, players: Mapping[str, Player]) -> Result:
    """Trusted policies meet at the table.

    What one of them raises is our fault and passes through; an action that the rules do not allow
    (a table may be handed in by anybody) is a forfeit, as it is for every other kind.
    """
    started, cpu = time.perf_counter(), [0.0, 0.0]
    table = game.table([bout.deal_seed])
    seats = [_seat(game, bout, number, players) for number in (0, 1)]
    while not table.done:
        messages = table.messages()
        size = len(messages) // 2
        replies = bytearray((NONE, NONE))
        for number, seat in enumerate(seats):
            message = messages[number * size : (number + 1) * size]
            if message[0] != IDLE:
                before = time.thread_time()
                replies[number] = seat.reply(message)
                cpu[number] += time.thread_time() - before
        table.advance(bytes(replies))
    fault = table.fault(0)
    return Result(
        match=bout.match,
        season=bout.season,
        returns=game.score(bout.deal_seed, table.moves(0), fault[0] if fault else None),
        termination=FAULT_CODES[fault[1]] if fault else Termination.COMPLETED,
        fault_seat=fault[0] if fault else None,
        fault_message="",
        moves=table.moves(0),
        wall="inline",
        seconds=time.perf_counter() - started,
        cpu_seconds=(cpu[0], cpu[1]),
    )


def _play_in_lockstep(game: Game, chunk: Chunk, asked: Asked | None) -> Iterator[Result]:
    """Trusted policies meet at one table; who is asked, or a network, answers all matches at once.

    A network's processor time is measured, in shares of what all of its matches took together;
    nobody else's is: answers come from elsewhere.
    """
    started = time.perf_counter()
    table = game.table([bout.deal_seed for bout in chunk.bouts])
    outside = _externals(game, chunk, asked)
    assert outside is not None, "no seat of such a chunk is played behind a wall"
    while not table.done:
        table.advance(outside.answer(table.messages()))
    seconds = (time.perf_counter() - started) / len(chunk.bouts)
    for number, bout in enumerate(chunk.bouts):
        moves, fault = table.moves(number), table.fault(number)
        yield Result(
            match=bout.match,
            season=bout.season,
            returns=game.score(bout.deal_seed, moves, fault[0] if fault else None),
            termination=FAULT_CODES[fault[1]] if fault else Termination.COMPLETED,
            fault_seat=fault[0] if fault else None,
            fault_message="",
            moves=moves,
            wall="inline",
            seconds=seconds,
            cpu_seconds=(float(outside.spent[number, 0]), float(outside.spent[number, 1])),
        )


def rules_of(game: Game) -> Rules:
    """The game as a sandbox needs it."""
    contract = game.contract
    return Rules(game.table_path, contract.class_name, tuple(sorted(contract.methods.items())))


@dataclass(frozen=True, slots=True, eq=False)
class _Outside:
    """Who plays the trusted seats of a block.

    Attributes:
      answer: messages to these seats in, their replies out.
      spent: (matches, 2), processor seconds of the networks in their seats, which grow meanwhile.
    """

    answer: Callable[[bytes], bytes]
    spent: npt.NDArray[np.float64]


def _externals(game: Game, chunk: Chunk, asked: Asked | None = None) -> _Outside | None:
    """Plays the trusted seats of a block from outside the box; None where it has none."""
    seats = [
        (chunk.players[bout.players[number]].kind, match, number)
        for match, bout in enumerate(chunk.bouts)
        for number in (0, 1)
        if chunk.players[bout.players[number]].kind != "python"
    ]
    replies = [
        _silent
        if kind == NEURAL
        else _seat(game, chunk.bouts[match], number, chunk.players, asked).reply
        for kind, match, number in seats
    ]
    if not replies:
        return None
    answer = _one_by_one(replies, [kind for kind, _, _ in seats], asked)
    spent = np.zeros((len(chunk.bouts), 2))
    if any(kind == NEURAL for kind, _, _ in seats):
        answer = with_crews(answer, crews_of(game, chunk, seats), spent)
    return _Outside(answer, spent)


def _silent(message: bytes) -> int:
    """Stands where a crew answers."""
    return NONE


def _one_by_one(
    replies: Sequence[Callable[[bytes], int]], kinds: Sequence[str], asked: Asked | None
) -> Callable[[bytes], bytes]:
    """Answers a tick seat by seat, but for those that are waited for together."""
    if asked is not None and ASKED in kinds:
        slow = [place for place, kind in enumerate(kinds) if kind == ASKED]
        return _together(replies, frozenset(slow), asked)

    def answer(messages: bytes) -> bytes:
        size = len(messages) // len(replies)
        if size == 1:
            return bytes(
                NONE if message == IDLE else reply(bytes((message,)))
                for reply, message in zip(replies, messages, strict=True)
            )
        return bytes(
            NONE if messages[at] == IDLE else reply(messages[at : at + size])
            for reply, at in zip(replies, range(0, len(messages), size), strict=True)
        )

    return answer


def _together(
    replies: Sequence[Callable[[bytes], int]], slow: Collection[int], asked: Asked
) -> Callable[[bytes], bytes]:
    """Answers a tick where some seats, by their places, are waited for together."""

    def answer(messages: bytes) -> bytes:
        size = len(messages) // len(replies)
        said = bytearray([NONE]) * len(replies)
        waiting = {}
        for place, reply in enumerate(replies):
            message = messages[place * size : (place + 1) * size]
            if message[0] == IDLE:
                continue
            if place in slow:
                waiting[place] = partial(reply, message)
            else:
                said[place] = reply(message)
        for place, code in zip(waiting, asked.together(list(waiting.values())), strict=True):
            said[place] = code
        return bytes(said)

    return answer


def block_of(game: Game, chunk: Chunk, limits: Limits) -> Block:
    """A chunk as the sandbox plays it."""
    programs = sorted(d for d, player in chunk.players.items() if player.kind == "python")
    number = {digest: index for index, digest in enumerate(programs)}
    matches = tuple(
        BlockMatch(
            # Without cards no two matches have a deal in common, whatever is said of halves of
            # a duplicate, so that one worker may play both: it is a number of the match's own.
            bout.deal_seed if game.has_deals else bout.seat_seeds[0],
            (
                SeatPlan(number.get(bout.players[0], EXTERNAL), bout.seat_seeds[0]),
                SeatPlan(number.get(bout.players[1], EXTERNAL), bout.seat_seeds[1]),
            ),
        )
        for bout in chunk.bouts
    )
    sources = tuple(chunk.players[digest].payload for digest in programs)
    return Block(rules_of(game), sources, matches, not chunk.shared, limits)


def play_in_box(
    game: Game, chunk: Chunk, wall: Wall, limits: Limits, asked: Asked | None = None
) -> Played:
    """Plays a block of matches in which at least one seat is a Python policy.

    The time that networks compute outside the box is not in the matches' seconds: a program that
    meets one is not to pay for it.
    """
    started = time.perf_counter()
    outside = _externals(game, chunk, asked)
    outcomes = wall.play(block_of(game, chunk, limits), outside.answer if outside else None)
    computed = float(outside.spent.sum()) if outside else 0.0
    seconds = (time.perf_counter() - started - computed) / len(chunk.bouts)
    mode = f"{wall.name}{LOCKSTEP}" if chunk.shared else wall.name
    results: list[Result] = []
    finished: list[Bout] = []
    voided: list[Voided] = []
    for bout, outcome in zip(chunk.bouts, outcomes, strict=True):
        if outcome.final:
            results.append(_result(game, bout, outcome, mode, seconds))
            finished.append(bout)
        else:
            cut = _result(game, bout, outcome, mode, seconds)
            voided.append(Voided(bout, replace(cut, termination=Termination.STALLED)))
    demands = demands_of(chunk, outcomes, seconds * len(chunk.bouts)) if chunk.shared else {}
    return Played(tuple(results), tuple(finished), tuple(voided), chunk.audit, demands=demands)


def demands_of(chunk: Chunk, outcomes: Sequence[Outcome], seconds: float) -> dict[str, Demand]:
    """What each Python policy of a block took for a match.

    Args:
      chunk: the block.
      outcomes: of its matches.
      seconds: elapsed time of all of it.  A box has one core, so its policies had no more of
        that: gVisor's clocks tell several times as much where processes wait for each other.
    """
    told = sum(sum(outcome.cpu_seconds) for outcome in outcomes)
    had = min(1.0, seconds / told) if told else 1.0
    seen: defaultdict[str, list[Demand]] = defaultdict(list)
    for bout, outcome in zip(chunk.bouts, outcomes, strict=True):
        for digest, spent, held in zip(
            bout.players, outcome.cpu_seconds, outcome.held_bytes, strict=True
        ):
            if chunk.players[digest].kind == "python":
                seen[digest].append(Demand(spent * had, held / _MIB))
    return mean_demands(seen)


def _result(game: Game, bout: Bout, outcome: Outcome, wall: str, seconds: float) -> Result:
    fault = outcome.fault
    return Result(
        match=bout.match,
        season=bout.season,
        returns=game.score(bout.deal_seed, outcome.moves, fault.seat if fault else None),
        termination=Termination(fault.kind.value) if fault else Termination.COMPLETED,
        fault_seat=fault.seat if fault else None,
        fault_message=fault.message if fault else "",
        moves=outcome.moves,
        wall=wall,
        seconds=seconds,
        cpu_seconds=outcome.cpu_seconds,
    )
