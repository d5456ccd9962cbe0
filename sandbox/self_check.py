"""A short list of attacks that a wall runs against itself before it is trusted."""

from __future__ import annotations

import os
import secrets
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox.values import Block, BlockMatch, FaultKind, Limits, Outcome, Rules, SeatPlan
from sandbox.wall import Wall

PROBE_TABLE = Path(__file__).resolve().parent / "probe_table.py"
PROBE_RULES = Rules(PROBE_TABLE, "Probe", (("act", 1),))
_LIMITS = replace(Limits(), act_seconds=0.3, match_seconds=1.0, memory_mib=256)

HELD = "class Probe:\n    def act(self, seen):\n        return 'HELD'\n"
"""The policy on the other side; it plays on undisturbed."""

_SHELL = """
class Probe:
    def act(self, seen):
        try:
            reached = self.attack()
        except OSError:
            reached = False
        return 'REACHED' if reached else 'HELD'

    def attack(self):
        import random
        os = random._os
        sys = os.sys
"""
"""`random` is the door by which the attacks below get at what they may not import."""


@dataclass(frozen=True, slots=True)
class Attack:
    """A hostile policy.

    Attributes:
      name: a few words.
      body: lines of the method `attack`; it returns whether it got what it wanted.
      verdicts: how its match may end; None stands for "played to the end, and held".
    """

    name: str
    body: str
    verdicts: tuple[FaultKind | None, ...] = (None,)

    def source(self, canaries: dict[str, str]) -> str:
        """The policy's source, with names of canaries filled in."""
        body = self.body
        for name, value in canaries.items():
            body = body.replace("{" + name + "}", value)
        return _SHELL + "".join(f"        {line}\n" for line in body.splitlines())


ATTACKS: tuple[Attack, ...] = (
    Attack("reads a file", "os.open('{file}', os.O_RDONLY)\nreturn True"),
    Attack("reads the environment", "return '{secret}' in repr(dict(os.environ))"),
    Attack(
        "connects to the host",
        "line = sys.modules['_socket'].socket()\nline.connect(('127.0.0.1', {port}))\nreturn True",
    ),
    Attack("forks", "pid = os.fork()\nif pid == 0:\n    os._exit(0)\nreturn True"),
    Attack("executes a program", "os.execv('/bin/sh', ['sh', '-c', 'exit 0'])\nreturn True"),
    Attack("signals the referee", "os.kill(os.getppid() or 1, 0)\nreturn True"),
    Attack(
        "reads another process's memory",
        "os.open('/proc/%d/mem' % os.getppid(), os.O_RDONLY)\nreturn True",
    ),
    Attack("loops for ever", "while True:\n    pass", (FaultKind.TIMED_OUT,)),
    Attack(
        "takes all memory",
        "hoard = []\nwhile True:\n    hoard.append(bytearray(1 << 24))",
        # Where the kernel below is slow to hand memory out, time is up before memory is.
        (FaultKind.OUT_OF_MEMORY, FaultKind.DIED, FaultKind.TIMED_OUT),
    ),
    Attack("leaves its process", "os._exit(0)", (FaultKind.DIED,)),
    Attack("asks for the time", "return os.times().elapsed > 0"),
    Attack("asks for its process number", "return os.getpid() > 0"),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one attack.

    Attributes:
      name: of the attack.
      contained: whether the wall held.
      detail: the verdict in a few words.
    """

    name: str
    contained: bool
    detail: str


@contextmanager
def environment_canary() -> Iterator[str]:
    """Puts a random secret into this process's environment; open the wall to be checked inside."""
    name = f"ARENA_CANARY_{secrets.token_hex(4).upper()}"
    os.environ[name] = secrets.token_hex(16)
    try:
        yield os.environ[name]
    finally:
        del os.environ[name]


def self_check(wall: Wall, secret: str) -> tuple[Finding, ...]:
    """Runs every attack, isolated, each beside an honest policy.

    Args:
      wall: what to check.
      secret: from the `environment_canary` that was there when the wall was opened.

    Raises:
      SandboxUnavailable: the box broke.
    """
    with tempfile.NamedTemporaryFile("w", prefix="arena-canary-") as file:
        file.write("canary")
        file.flush()
        os.chmod(file.name, 0o644)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            canaries = {
                "file": file.name,
                "port": str(listener.getsockname()[1]),
                "secret": secret,
            }
            return tuple(_run(wall, attack, canaries, listener) for attack in ATTACKS)


def contained(findings: Sequence[Finding]) -> bool:
    """Whether every attack was."""
    return all(finding.contained for finding in findings)


def _run(wall: Wall, attack: Attack, canaries: dict[str, str], listener: socket.socket) -> Finding:
    seats = (SeatPlan(0, 1), SeatPlan(1, 2))
    programs = (attack.source(canaries), HELD)
    block = Block(PROBE_RULES, programs, (BlockMatch(1, seats),), True, _LIMITS)
    (outcome,) = wall.play(block)
    verdict = outcome.fault.kind if outcome.fault else None
    reached = _reached(outcome) or _connected(listener)
    expected = verdict in attack.verdicts and (outcome.fault is None or outcome.fault.seat == 0)
    said = verdict.value if verdict else "held"
    if outcome.fault is not None and not expected:
        said += f": {outcome.fault.message}"
    return Finding(attack.name, expected and not reached, "reached its goal" if reached else said)


def _reached(outcome: Outcome) -> bool:
    return 1 in outcome.moves


def _connected(listener: socket.socket) -> bool:
    try:
        accept: Callable[[], tuple[socket.socket, object]] = listener.accept
        accept()[0].close()
    except BlockingIOError:
        return False
    return True
