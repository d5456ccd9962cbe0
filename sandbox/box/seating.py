"""Gets a block's programs compiled, workers hired for its seats, and the programs loaded."""

from __future__ import annotations

import struct
import types
from collections.abc import Sequence
from dataclasses import dataclass, field

from .allowed import wants_numpy
from .births import Zygote
from .crew import Crew
from .frames import (
    BROKE_PROTOCOL,
    DIED,
    LOAD_FAILED,
    OUT_OF_MEMORY,
    STALLED,
    TIMED_OUT,
    WORKER_WIDE,
)
from .hired import Worker
from .limits import BoxBroken, Limits, WorkerFault
from .nursery import Nursery
from .occupants import EXTERNAL, Occupant, seating_plan
from .programs import LARGEST_PROGRAM, Compiled, Programs
from .worker import LENGTH

GENERIC_LOAD_TEXT = "the policy could not be loaded"


@dataclass(frozen=True)
class Block:
    """Matches to be played together.

    Attributes:
      table: the game's table module.
      table_name: what the zygotes call it.
      class_name: the class that programs define.
      methods: its required methods with their numbers of arguments.
      programs: sources, as UTF-8.
      matches: (deal seed, (program, seed) of seat 0, (program, seed) of seat 1).
      isolate: a worker of its own for every seat.
      at_once: how many workers may compile at the same time.
      limits: limits of one instance.
    """

    table: types.ModuleType
    table_name: str
    class_name: str
    methods: Sequence[tuple[str, int]]
    programs: Sequence[bytes]
    matches: Sequence[tuple[int, tuple[int, int], tuple[int, int]]]
    isolate: bool
    at_once: int
    limits: Limits


@dataclass
class Seated:
    """Who sits where, and who does not.

    Attributes:
      occupants: ordered by first seat.
      codes: fault codes of seats that did not get as far as playing.
      texts: for their authors.
      load_failed: seats whose program could not be loaded.
      void: seats in lockstep that lost their worker, which may be another instance's doing.
    """

    occupants: list[Occupant] = field(default_factory=list)
    codes: dict[int, int] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)
    load_failed: set[int] = field(default_factory=set)
    void: set[int] = field(default_factory=set)


class Seating:
    """Seats everyone of one block.

    Args:
      block: what is to be played.
      nursery: where workers come from.
      crew: hires them.
      programs: what was compiled already.
    """

    def __init__(self, block: Block, nursery: Nursery, crew: Crew, programs: Programs) -> None:
        self._block = block
        self._nursery = nursery
        self._crew = crew
        self._programs = programs
        self._seeds = [seed for match in block.matches for _, seed in match[1:]]
        self._width: int = block.table.MESSAGE_BYTES
        self._seated = Seated()

    def seat_everyone(self) -> Seated:
        """Compiles, hires and loads.

        Raises:
          BoxBroken: workers are not to be had.
        """
        plan = seating_plan(self._block.matches, isolate=self._block.isolate)
        compiled = self._compile({program for program, _ in plan if program != EXTERNAL})
        wanted = []
        for program, seats in plan:
            if program == EXTERNAL:
                continue
            fault = compiled[program].fault
            if fault:
                # Programs compile apart, but side by side with others in the box.
                self._fail(seats, fault, compiled[program].text, void=fault in WORKER_WIDE)
            else:
                wanted.append((program, seats))
        hired = self._crew.hire([(self._zygote(program), seats) for program, seats in wanted])
        for worker, (program, _) in zip(hired, wanted, strict=True):
            self._give_program(worker, program, compiled[program].code)
        by_seats = {worker.seats: worker for worker in hired}
        for program, seats in plan:
            worker_here = by_seats.get(seats)
            if worker_here is not None:
                self._load(worker_here)
                if worker_here.closed:
                    worker_here = None
            self._seated.occupants.append(Occupant(program, seats, self._width, worker_here))
        # A worker may end while a later one is loaded, but it is found out when it is asked.
        return self._seated

    def _zygote(self, program: int) -> Zygote:
        numpy = wants_numpy(self._block.programs[program])
        return self._nursery.zygote(self._block.table_name, numpy=numpy)

    def _header(self, task: str, instances: int) -> dict[str, object]:
        return {
            "task": task,
            "class_name": self._block.class_name,
            "methods": list(self._block.methods),
            "message_chars": self._block.limits.message_chars,
            "instances": instances,
        }

    def _compile(self, numbers: set[int]) -> dict[int, Compiled]:
        """Every program, compiled now or earlier."""
        sources = self._block.programs
        compiled: dict[int, Compiled] = {}
        missing: list[int] = []
        for number in sorted(numbers):
            size, most = len(sources[number]), self._block.limits.source_bytes
            known = self._programs.get(sources[number])
            if size > most:
                text = f"the source has {size} bytes; {most} are allowed"
                compiled[number] = Compiled(fault=LOAD_FAILED, text=text)
            elif known is not None:
                compiled[number] = known
            else:
                missing.append(number)
        for start in range(0, len(missing), self._block.at_once):
            some = missing[start : start + self._block.at_once]
            workers = self._crew.hire([(self._zygote(number), ()) for number in some])
            for worker, number in zip(workers, some, strict=True):
                self._crew.give_order(worker, self._header("compile", 0), sources[number])
            for worker, number in zip(workers, some, strict=True):
                compiled[number] = self._compiled(worker)
                self._programs.keep(sources[number], compiled[number])
            self._crew.dismiss(workers)
        return compiled

    def _compiled(self, worker: Worker) -> Compiled:
        try:
            code, body = self._crew.compiled(worker, LARGEST_PROGRAM)
        except WorkerFault as fault:
            if fault.code in (TIMED_OUT, STALLED):
                text = f"compiling it took too long: {fault.text}"
                return Compiled(fault=LOAD_FAILED, text=text)
            return Compiled(fault=fault.code, text=f"while it was compiled, {fault.text}")
        if code == 0:
            return Compiled(code=body)
        text = body.decode("utf-8", "replace")[: self._block.limits.message_chars]
        return Compiled(fault=code, text=text or GENERIC_LOAD_TEXT)

    def _give_program(self, worker: Worker, program: int, code: bytes) -> None:
        seeds = [self._seeds[seat] for seat in worker.seats]
        source = self._block.programs[program]
        body = struct.pack(f"<{len(seeds)}Q", *seeds) + LENGTH.pack(len(source)) + source + code
        try:
            self._crew.give_order(worker, self._header("play", len(seeds)), body)
        except WorkerFault as fault:
            raise BoxBroken(f"a worker did not get as far as its seal: {fault.text}") from fault

    def _fail(self, seats: Sequence[int], code: int, text: str, *, void: bool = False) -> None:
        self._seated.codes.update(dict.fromkeys(seats, code))
        self._seated.texts.update(dict.fromkeys(seats, text))
        if code == LOAD_FAILED:
            self._seated.load_failed.update(seats)
        if void and not self._block.isolate:
            self._seated.void.update(seats)

    def _load(self, worker: Worker) -> None:
        """Waits until one worker has loaded its program."""
        try:
            codes = self._crew.loaded(worker)
        except WorkerFault as fault:
            self._crew.dismiss([worker])
            code, text = fault.code, f"while it was loaded, {fault.text}"
            if fault.code in (TIMED_OUT, STALLED) and worker.instances == 1:
                code, text = LOAD_FAILED, f"loading it took too long: {fault.text}"
            self._fail(worker.seats, code, text, void=fault.code in WORKER_WIDE)
            return
        text = ""
        for index, (seat, code) in enumerate(zip(worker.seats, codes, strict=True)):
            if not code:
                continue
            known = code if code in (LOAD_FAILED, OUT_OF_MEMORY) else BROKE_PROTOCOL
            if (index == 0 or not codes[0]) and not worker.closed:  # else they all failed alike
                text = self._crew.text(worker, index, self._width)
            self._fail([seat], known, text or GENERIC_LOAD_TEXT)
        if worker.closed:  # it ended while it gave account of a failure
            rest = [seat for seat in worker.seats if seat not in self._seated.codes]
            self._fail(rest, DIED, text, void=True)
        elif all(codes):
            self._crew.dismiss([worker])
