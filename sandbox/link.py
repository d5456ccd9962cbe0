"""The host's end of a box: starts it, speaks frames with it, never hangs, leaves nothing behind.

How to start a box, for whoever builds a wall around it:

* Files: the folder `sandbox/box` (BOX_FOLDER), standard library only, read-only is fine.  No
  other file of ours may be visible.  The box runs under Python 3.11 or later.
* Command: `python -s -S -P <folder>/start.py`, the same for every box of a wall: sealed workers
  can read it.  What differs from box to box (`BoxOptions`) goes over the wire.  `-I` must not be
  used: it ignores PYTHONHASHSEED.  See `box_command`.
* Environment: exactly `BOX_ENVIRONMENT`, given to exec.  Whatever else is in it stays readable
  on the initial stack of every sealed worker.
* stdin and stdout are the wire (see `sandbox/box/frames.py`); stderr is for people.  The box
  ends, with all its workers, as soon as its stdin is closed.
* As root with the capabilities SETUID, SETGID and SYS_CHROOT (and KILL to reap), workers get
  users of their own and an empty root folder (any writable temporary folder, or an empty /srv,
  /mnt, /media or /var/empty); without them the seal is the system call filter and rlimits.
* /proc should be mounted (schedstat tells starvation from idling); /dev/null must exist.

Hand the command line to `BoxLink`; a wall is little more than that.
"""

from __future__ import annotations

import hashlib
import math
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sandbox.box import frames
from sandbox.box.frames import FrameError, Kind
from sandbox.deadline import longest_block
from sandbox.errors import SandboxUnavailable
from sandbox.memory import too_little
from sandbox.values import (
    EXTERNAL,
    Block,
    ExternalSeats,
    Fault,
    FaultKind,
    Limits,
    Outcome,
    Rules,
)

BOX_FOLDER = Path(__file__).resolve().parent / "box"
BOX_ENVIRONMENT: Mapping[str, str] = {
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    # Policies see one time zone, whatever the machine's.
    "TZ": "UTC0",
    # Else the C library keeps, where policies can read it, which processor a process runs on.
    "GLIBC_TUNABLES": "glibc.pthread.rseq=0",
    # Threads cannot be made behind the seal; without these numpy would wait for them for ever.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
SILENCE_SECONDS = 60.0
"""A box that says nothing for this long is broken; a busy one speaks every two seconds."""
START_SECONDS = 30.0
_END_SECONDS = 3.0
_STDERR_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class BoxOptions:
    """What differs from box to box.

    Attributes:
      site: folder that holds numpy, as it is called where the box runs; None is no numpy.
      core: the processor core to stay on, if any; see `sandbox/cores.py`.
      memory_mib: what all policies in the box may hold together, which must leave room for
        whatever is around the box; None is no limit, for walls and tests that have another.
      unsealed: without the system call filter, for code that the user vouches for.
    """

    site: str | None = None
    core: int | None = None
    memory_mib: int | None = None
    unsealed: bool = False


def box_command(python: str, folder: str) -> list[str]:
    """The command line of a box: its interpreter and its files, as they are where it will run."""
    return [python, "-s", "-S", "-P", f"{folder}/start.py"]


class BoxLink:
    """A running box.  Not safe for use by two threads at once.

    Args:
      command: what to run; see the module's text.
      name: the wall's name, for messages.
      options: what this box is told.
      environment: of the command itself (a wall's own client may need more than the box).
      start_seconds: how long the box may take until it says that it is ready.

    Attributes:
      ready: what the box said when it started: "version", "python", "seal".
      remark: see `Wall.remark`.

    Raises:
      SandboxUnavailable: it did not start.
    """

    def __init__(
        self,
        command: Sequence[str],
        name: str,
        options: BoxOptions | None = None,
        *,
        environment: Mapping[str, str] = BOX_ENVIRONMENT,
        start_seconds: float = START_SECONDS,
    ) -> None:
        options = options or BoxOptions()
        self._name = name
        self.remark = too_little(options.memory_mib)
        self._tables: dict[Path, str] = {}
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the link
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env=dict(environment),
                cwd="/",
                start_new_session=True,  # a Ctrl-C in the terminal is the host's to handle
                bufsize=0,
            )
        except OSError as error:
            self._stderr.close()
            raise SandboxUnavailable(f"{name}: cannot start {command[0]!r}: {error}") from error
        assert self._process.stdin is not None and self._process.stdout is not None
        self._to_box = self._process.stdin.fileno()
        self._from_box = self._process.stdout.fileno()
        os.set_blocking(self._to_box, False)
        os.set_blocking(self._from_box, False)
        self._closed = False
        self._deadline = math.inf
        self.ready: dict[str, Any] = {}
        self._send(Kind.START, frames.document(asdict(options)))
        self.ready, _ = self._expect(Kind.READY, start_seconds)
        if self.ready.get("version") != frames.VERSION:
            raise self._broken(
                f"the box speaks version {self.ready.get('version')} of the protocol, "
                f"not {frames.VERSION}; rebuild it"
            )

    @property
    def pid(self) -> int:
        """Process number of the command that was started."""
        return self._process.pid

    def play(self, block: Block, external: ExternalSeats | None = None) -> tuple[Outcome, ...]:
        """See `Wall.play`."""
        _validate(block, external)
        if not block.matches:
            return ()
        sources = [source.encode("utf-8", "surrogatepass") for source in block.programs]
        header = self._header(block.rules, block.limits)
        header |= {
            "isolate": block.isolate,
            "programs": [len(source) for source in sources],
            "matches": [
                [match.deal_seed, *([seat.program, seat.seed] for seat in match.seats)]
                for match in block.matches
            ],
        }
        try:
            self._deadline = time.monotonic() + longest_block(block)
            self._send(Kind.PLAY, frames.document(header, b"".join(sources)))
            return self._finish(len(block.matches), external)
        except BaseException:  # the host's own policies, or Ctrl-C: the box waits for an answer
            self.close()
            raise
        finally:
            self._deadline = math.inf

    def _finish(self, matches: int, external: ExternalSeats | None) -> tuple[Outcome, ...]:
        """Plays the external seats until the box has played the block."""
        while True:
            kind, body = self._receive(SILENCE_SECONDS)
            if kind == Kind.TICK and external is not None:
                asked = time.monotonic()
                replies = external(body)
                self._deadline += time.monotonic() - asked  # people may think
                self._send(Kind.REPLIES, replies)
            elif kind == Kind.OUTCOMES:
                return self._outcomes(body, matches)
            else:
                raise self._broken(f"an unexpected frame of kind {kind}")

    def close(self) -> None:
        """Ends the box.  Idempotent."""
        if self._closed:
            return
        self._closed = True
        process = self._process
        below = descendants(process.pid)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            for pid in (*descendants(process.pid), process.pid):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()
        deadline = time.monotonic() + _END_SECONDS
        while any(_runs(pid) for pid in below) and time.monotonic() < deadline:
            time.sleep(0.002)  # the kernel is still ending them, one after the other
        self._stderr.close()

    def __del__(self) -> None:
        """Ends the box of a wall that nobody closed."""
        if not getattr(self, "_closed", True):
            self.close()

    def _header(self, rules: Rules, limits: Limits) -> dict[str, Any]:
        return {
            "table": self._table(rules.table_path),
            "class_name": rules.class_name,
            "methods": list(rules.methods),
            "limits": asdict(limits),
        }

    def _table(self, path: Path) -> str:
        """Makes sure that the box knows a game's table; returns its name in the box."""
        if path not in self._tables:
            source = path.read_bytes()
            name = f"table_{hashlib.sha256(source).hexdigest()[:16]}"
            self._send(Kind.TABLE, frames.document({"name": name}, source))
            self._tables[path] = name
        return self._tables[path]

    def _outcomes(self, body: bytes, expected: int) -> tuple[Outcome, ...]:
        try:
            rows, moves = frames.parse_document(body)
            outcomes, at = [], 0
            for fault, cpu, held, final, size in rows:
                outcomes.append(
                    Outcome(
                        moves=moves[at : at + size],
                        fault=None if fault is None else _fault(*fault),
                        cpu_seconds=(_amount(cpu[0]), _amount(cpu[1])),
                        held_bytes=(int(_amount(held[0])), int(_amount(held[1]))),
                        final=bool(final),
                    )
                )
                at += size
            if len(outcomes) != expected or at != len(moves):
                raise ValueError(f"{len(outcomes)} outcomes for {expected} matches")
        except (FrameError, ValueError, TypeError, IndexError) as error:
            raise self._broken(f"unreadable outcomes: {error}") from error
        return tuple(outcomes)

    def _expect(self, wanted: Kind, seconds: float) -> tuple[Any, bytes]:
        kind, body = self._receive(seconds)
        if kind != wanted:
            raise self._broken(f"a frame of kind {kind} where {wanted.name} was due")
        try:
            return frames.parse_document(body)
        except FrameError as error:
            raise self._broken(str(error)) from error

    def _receive(self, seconds: float) -> tuple[int, bytes]:
        """The next frame that is not just a sign of life."""
        while True:
            if time.monotonic() > self._deadline:
                raise self._broken("it did not finish within the time that all limits allow")
            header = self._read(frames.HEADER.size, seconds)
            try:
                length, kind = frames.unpack_header(header)
            except FrameError as error:
                raise self._broken(str(error)) from error
            body = self._read(length, seconds)
            if kind == Kind.BROKEN:
                raise self._broken(body.decode("utf-8", "replace"))
            if kind != Kind.ALIVE:
                return kind, body

    def _read(self, size: int, seconds: float) -> bytes:
        deadline = time.monotonic() + seconds
        parts: list[bytes] = []
        while size:
            try:
                part = os.read(self._from_box, min(size, 1 << 20))
            except BlockingIOError:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise self._broken(f"it said nothing for {seconds:g} s") from None
                select.select([self._from_box], [], [], left)
                continue
            except OSError as error:
                raise self._broken(str(error)) from error
            if not part:
                raise self._broken("it ended")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _send(self, kind: Kind, body: bytes) -> None:
        if self._closed:
            raise SandboxUnavailable(f"{self._name}: the box was closed")
        rest = memoryview(frames.pack(kind, body))
        deadline = time.monotonic() + SILENCE_SECONDS
        while rest:
            try:
                rest = rest[os.write(self._to_box, rest) :]
            except BlockingIOError:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise self._broken(f"it read nothing for {SILENCE_SECONDS:g} s") from None
                select.select([], [self._to_box], [], left)
            except OSError as error:
                raise self._broken(f"it ended ({error})") from error

    def _broken(self, why: str) -> SandboxUnavailable:
        """Closes the box and makes the error that says why."""
        said = ""
        if not self._closed:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(0.2)
            with suppress(OSError, ValueError):
                self._stderr.seek(0)
                said = self._stderr.read().decode("utf-8", "replace")[-_STDERR_CHARS:].strip()
            self.close()
        return SandboxUnavailable(f"{self._name}: {why}" + (f"\nit said: {said}" if said else ""))


def _amount(told: Any) -> float:
    """What was used of something.

    Raises:
      ValueError, TypeError: it is no such number.
    """
    amount = float(told)
    if not (math.isfinite(amount) and amount >= 0.0):
        raise ValueError(f"{amount} is no amount")
    return amount


def _fault(seat: int, kind: str, text: str) -> Fault:
    if seat not in (0, 1):
        raise ValueError(f"there is no seat {seat}")
    return Fault(seat, FaultKind(kind), str(text))


def _validate(block: Block, external: ExternalSeats | None) -> None:
    """Our own mistakes, found before the box is.

    Raises:
      ValueError: the block does not make sense.
    """
    for match in block.matches:
        for seat in match.seats:
            if seat.program != EXTERNAL and not 0 <= seat.program < len(block.programs):
                raise ValueError(f"there is no program {seat.program} in this block")
            if seat.program == EXTERNAL and external is None:
                raise ValueError("the block has external seats; say who plays them")
            if not 0 <= seat.seed < 1 << 64:
                raise ValueError(f"a seed has at most 64 bits, {seat.seed} does not fit")


def _runs(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[0] not in "ZX"


def descendants(pid: int) -> list[int]:
    """Process numbers of everything below a process, nearest first."""
    found: list[int] = []
    with suppress(OSError, ValueError):
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        for child in map(int, text.split()):
            found += [child, *descendants(child)]
    return found
