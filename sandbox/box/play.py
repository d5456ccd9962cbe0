"""Plays matches that share a table, tick by tick."""

from __future__ import annotations

import operator
import struct
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .allowance import Allowance, BoxBroken, WorkerFault
from .crew import Crew, Worker, Zygotes
from .frames import (
    BROKE_PROTOCOL,
    DIED,
    FAULT_NAMES,
    IDLE,
    ILLEGAL,
    LOAD_FAILED,
    MALFORMED,
    NONE,
    OUT_OF_MEMORY,
    RAISED,
    STALLED,
    TIMED_OUT,
    WORKER_WIDE,
)
from .players import Player
from .watch import Watch

EXTERNAL = -1
INSTANCES_PER_WORKER = 256
_MARKS = [bytes([mark]) for mark in range(256)]
_FROM_WORKER = bytes(
    code
    if code < TIMED_OUT or code in (OUT_OF_MEMORY, LOAD_FAILED, RAISED, ILLEGAL, MALFORMED, NONE)
    else BROKE_PROTOCOL
    for code in range(256)
)
"""A worker cannot speak for the referee."""
_NO_FAULT = bytes((*range(TIMED_OUT), NONE))
_IS_IDLE = bytes(int(head == IDLE) for head in range(256))
_IS_ACTION = bytes(int(code < TIMED_OUT) for code in range(256))
_GENERIC_TEXTS = {
    ILLEGAL: "the policy chose an action that the rules do not allow here",
    MALFORMED: "the policy returned something that is not exactly a str",
    RAISED: "the policy raised an exception",
    OUT_OF_MEMORY: "the policy asked for more memory than it may have",
    LOAD_FAILED: "the policy could not be loaded",
    BROKE_PROTOCOL: "the policy's process sent a code that only the referee may use",
}


@dataclass(frozen=True)
class Job:
    """Matches to be played together.

    Attributes:
      table: the game's table module.
      table_name: what the zygotes call it.
      class_name: the class that programs define.
      methods: its required methods with their numbers of arguments.
      programs: sources.
      matches: (deal seed, (program, seed) of seat 0, (program, seed) of seat 1).
      isolate: a worker of its own for every seat.
      allowance: limits of one instance.
    """

    table: types.ModuleType
    table_name: str
    class_name: str
    methods: Sequence[tuple[str, int]]
    programs: Sequence[str]
    matches: Sequence[tuple[int, tuple[int, int], tuple[int, int]]]
    isolate: bool
    allowance: Allowance


@dataclass(frozen=True)
class MatchEnd:
    """What came of one match: (seat, fault name, text) or None, and the rest as in `Outcome`.

    Also an isolated match is not final where other matches filled the box's memory.
    """

    moves: bytes
    fault: tuple[int, str, str] | None
    cpu_seconds: tuple[float, float]
    final: bool


class Sitting:
    """The matches of one job around one table.

    Args:
      job: what is to be played.
      zygotes: where workers come from.
      watch: holds workers to their time.
      ask_host: plays all external seats of the job: messages in, replies out.
    """

    def __init__(
        self,
        job: Job,
        zygotes: Zygotes,
        watch: Watch,
        ask_host: Callable[[bytes], bytes],
    ) -> None:
        self._job = job
        self._ask_host = ask_host
        self._width: int = job.table.MESSAGE_BYTES
        self._table = job.table.Table([match[0] for match in job.matches])
        self._plans = [seat for match in job.matches for seat in match[1:]]
        self._crew = Crew(zygotes, job.allowance, watch)
        self._texts: dict[int, str] = {}
        self._load_failed: set[int] = set()
        self._players: list[Player] = []
        self._messages = b""

    def play(self) -> list[MatchEnd]:
        """Plays to the end."""
        try:
            pending = self._seat_everyone()
            self._run(pending)
        finally:
            self._crew.dismiss_all()
        return self._ends()

    def load_only(self) -> tuple[str, str] | None:
        """Loads the programs; returns (fault name, text) of the first that fails, or None."""
        try:
            codes = self._seat_everyone()
        finally:
            self._crew.dismiss_all()
        if not codes:
            return None
        seat = min(codes)
        return FAULT_NAMES[codes[seat]], self._texts[seat]

    def _groups(self) -> list[tuple[int, tuple[int, ...]]]:
        """(program, flat seats) of each worker and of the host, ordered by first seat."""
        by_program: dict[int, list[int]] = {}
        for flat, (program, _) in enumerate(self._plans):
            by_program.setdefault(program, []).append(flat)
        groups: list[tuple[int, tuple[int, ...]]] = []
        for program, seats in by_program.items():
            if program == EXTERNAL:
                groups.append((program, tuple(seats)))
                continue
            size = 1 if self._job.isolate else INSTANCES_PER_WORKER
            groups += [
                (program, tuple(seats[start : start + size]))
                for start in range(0, len(seats), size)
            ]
        return sorted(groups, key=operator.itemgetter(1))

    def _seat_everyone(self) -> dict[int, int]:
        """Hires and loads the workers; returns the fault codes of seats that failed to load."""
        job = self._job
        groups = self._groups()
        codes: dict[int, int] = {}
        wanted: list[tuple[int, tuple[int, ...]]] = []
        for program, seats in groups:
            if program == EXTERNAL:
                continue
            size = len(job.programs[program].encode("utf-8", "surrogatepass"))
            if size > job.allowance.source_bytes:
                text = f"the source has {size} bytes; {job.allowance.source_bytes} are allowed"
                self._load_fails(seats, text)
                codes.update(dict.fromkeys(seats, LOAD_FAILED))
            else:
                wanted.append((program, seats))
        hired = self._crew.hire(
            job.table_name, [(job.programs[program], seats) for program, seats in wanted]
        )
        for worker, (program, _) in zip(hired, wanted, strict=True):
            self._give_job(worker, job.programs[program])
        by_seats = {worker.seats: worker for worker in hired}
        for _, seats in groups:
            worker_here = by_seats.get(seats)
            self._players.append(Player(seats, self._width, worker_here))
            if worker_here is not None:
                codes.update(self._load(worker_here))
        for player in self._players:
            if player.worker is not None and player.worker.gone:
                player.lose_worker()
        return codes

    def _give_job(self, worker: Worker, source: str) -> None:
        header = {
            "class_name": self._job.class_name,
            "methods": list(self._job.methods),
            "message_chars": self._job.allowance.message_chars,
            "instances": len(worker.seats),
        }
        seeds = struct.pack(
            f"<{len(worker.seats)}Q", *(self._plans[seat][1] for seat in worker.seats)
        )
        try:
            self._crew.give_job(worker, header, seeds + source.encode("utf-8", "surrogatepass"))
        except WorkerFault as fault:
            raise BoxBroken(f"a worker did not get as far as its seal: {fault.text}") from fault

    def _load_fails(self, seats: Sequence[int], text: str) -> None:
        self._load_failed.update(seats)
        self._texts.update(dict.fromkeys(seats, text))

    def _load(self, worker: Worker) -> dict[int, int]:
        """Waits for one worker; returns the codes of its seats that failed."""
        try:
            codes = self._crew.loaded(worker)
        except WorkerFault as fault:
            self._crew.dismiss([worker])
            slow = fault.code in (TIMED_OUT, STALLED)
            if slow and len(worker.seats) == 1:
                self._load_fails(worker.seats, f"loading it took too long: {fault.text}")
                return dict.fromkeys(worker.seats, LOAD_FAILED)
            text = f"while it was loaded, {fault.text}"
            self._texts.update(dict.fromkeys(worker.seats, text))
            return dict.fromkeys(worker.seats, fault.code)
        failed: dict[int, int] = {}
        text = ""
        for index, (seat, code) in enumerate(zip(worker.seats, codes, strict=True)):
            if not code:
                continue
            failed[seat] = code if code in (LOAD_FAILED, OUT_OF_MEMORY) else BROKE_PROTOCOL
            if code == LOAD_FAILED:
                self._load_failed.add(seat)
            if (index == 0 or not codes[0]) and not worker.gone:  # else they all failed alike
                text = self._crew.text(worker, index, self._width)
            self._texts[seat] = text or _GENERIC_TEXTS[failed[seat]]
        if worker.gone:  # it ended while it gave account of a failure
            for seat in worker.seats:
                failed.setdefault(seat, DIED)
                self._texts.setdefault(seat, text)
        elif len(failed) == len(worker.seats):
            self._crew.dismiss([worker])
        return failed

    def _run(self, pending: dict[int, int]) -> None:
        """Ticks until the table is done.

        Args:
          pending: fault codes to hand to the table with the next replies.
        """
        table, width, players = self._table, self._width, self._players
        order = [seat for player in players for seat in player.seats]
        in_order = order == list(range(len(order)))
        place = {seat: position for position, seat in enumerate(order)}
        scatter = operator.itemgetter(*(place[seat] for seat in range(len(order))))
        tick = 0
        while not table.done:
            messages = table.messages()
            heads = messages if width == 1 else messages[::width]
            mark = 1 + tick % 255
            self._ask(messages, mark, pending)
            joined = b"".join([self._answer(player, mark, pending) for player in players])
            self._crew.rest()
            replies = joined if in_order else bytes(scatter(joined))
            replies = self._only_asked(heads, replies)
            if pending or replies.translate(None, _NO_FAULT):
                replies = self._with_faults(replies, pending)
            table.advance(replies)
            tick += 1

    def _ask(self, messages: bytes, mark: int, pending: dict[int, int]) -> None:
        """Sends every worker its messages, so that they all compute while one is waited for."""
        width, prefix = self._width, _MARKS[mark]
        self._messages = messages
        for player in self._players:
            worker = player.worker
            if worker is None:
                continue
            frame = player.gather(messages)
            player.asked = (frame if width == 1 else frame[::width]) != player.all_idle
            if player.asked:
                try:
                    self._crew.ask(worker, prefix + frame)
                except WorkerFault as fault:
                    self._lose(player, fault, pending)

    def _answer(self, player: Player, mark: int, pending: dict[int, int]) -> bytes:
        worker = player.worker
        if worker is None:
            if self._plans[player.seats[0]][0] == EXTERNAL:
                return self._ask_host(player.gather(self._messages))
            return player.nothing
        if not player.asked:
            return player.nothing
        try:
            replies = self._crew.answer(worker, len(player.seats), mark).translate(_FROM_WORKER)
        except WorkerFault as fault:
            self._lose(player, fault, pending)
            return player.nothing
        if OUT_OF_MEMORY in replies and len(player.seats) > 1:
            self._lose(player, WorkerFault(OUT_OF_MEMORY, _GENERIC_TEXTS[OUT_OF_MEMORY]), pending)
            return player.nothing
        return replies

    def _lose(self, player: Player, fault: WorkerFault, pending: dict[int, int]) -> None:
        """Takes a whole worker out of the block."""
        assert player.worker is not None
        self._crew.dismiss([player.worker])
        player.lose_worker()
        for seat in player.seats:
            pending[seat] = fault.code
            self._texts.setdefault(seat, fault.text)

    @staticmethod
    def _only_asked(heads: bytes, replies: bytes) -> bytes:
        """The replies without actions from seats that were asked for nothing."""
        idle = int.from_bytes(heads.translate(_IS_IDLE), "little")
        if not idle or not idle & int.from_bytes(replies.translate(_IS_ACTION), "little"):
            return replies
        return bytes(
            NONE if head == IDLE and reply < TIMED_OUT else reply
            for head, reply in zip(heads, replies, strict=True)
        )

    def _with_faults(self, replies: bytes, pending: dict[int, int]) -> bytes:
        """Puts pending codes in, and fetches the texts of faults that workers report."""
        changed = bytearray(replies)
        for seat, code in pending.items():
            changed[seat] = code
        pending.clear()
        for player in self._players:
            if player.worker is None:
                continue
            for index, seat in enumerate(player.seats):
                code = changed[seat]
                if code < TIMED_OUT or code == NONE or seat in self._texts:
                    continue
                if code == LOAD_FAILED and seat not in self._load_failed:
                    changed[seat] = code = BROKE_PROTOCOL
                text = (
                    ""
                    if code == BROKE_PROTOCOL
                    else self._crew.text(player.worker, index, self._width)
                )
                self._texts[seat] = text or _GENERIC_TEXTS[code]
                if player.worker.gone:
                    others = [other for other in player.seats if other not in self._texts]
                    self._texts.update(dict.fromkeys(others, _GENERIC_TEXTS[RAISED]))
                    pending.update(dict.fromkeys(others, DIED))
                    player.lose_worker()
                    break
        return bytes(changed)

    def _ends(self) -> list[MatchEnd]:
        cpu = [0.0] * len(self._plans)
        crowded_out: set[int] = set()
        for worker in self._crew.workers:
            for seat in worker.seats:
                cpu[seat] = worker.cpu_total / len(worker.seats)
            if worker.crowded_out:
                crowded_out.update(worker.seats)
        ends = []
        for match in range(len(self._job.matches)):
            fault: tuple[int, str, str] | None = None
            final = True
            recorded: Any = self._table.fault(match)
            if recorded is not None:
                seat, code = recorded
                text = self._texts.get(2 * match + seat, "") or _GENERIC_TEXTS[code]
                fault = (seat, FAULT_NAMES[code], text)
                settled = self._job.isolate and 2 * match + seat not in crowded_out
                final = settled or code not in WORKER_WIDE
            ends.append(
                MatchEnd(
                    moves=self._table.moves(match),
                    fault=fault,
                    cpu_seconds=(cpu[2 * match], cpu[2 * match + 1]),
                    final=final,
                )
            )
        return ends
