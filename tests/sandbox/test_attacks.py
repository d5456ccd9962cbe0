"""Hostile policies against every wall: verdicts, canaries, neighbours, and nothing left over."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.link import descendants
from sandbox.process import ProcessWall
from sandbox.values import Block, BlockMatch, FaultKind, Limits, Outcome, Rules, SeatPlan
from sandbox.wall import Wall

ATTACKS = Path(__file__).parents[1] / "attacks"
REACHED = 3
LIMITS = Limits(
    act_seconds=0.15,
    match_seconds=0.6,
    match_idle_seconds=0.8,
    load_seconds=0.4,
    memory_mib=256,
)
"""For attacks on time; all others have `ROOM`, so that a busy machine ends none of them."""
ROOM = Limits(act_seconds=2.0, match_idle_seconds=4.0, memory_mib=256)
TOKEN = "other-seats-secret-90417-token"
HONEST = f"""
import random
TOKEN = "{TOKEN}"
class Probe:
    def act(self, seen):
        return random.choice(("ROCK", "PAPER", "SCISSORS"))
"""
SECRET = "canary-in-the-environment-5d1f"


@dataclass(frozen=True)
class Attack:
    """One hostile policy; `verdicts` holds kinds of faults, and None for "held"."""

    family: str
    name: str
    source: str
    verdicts: frozenset[FaultKind | None]

    @property
    def limits(self) -> Limits:
        """Short where it may end by them, or goes on for as long as it may."""
        ends_so = self.verdicts & {FaultKind.TIMED_OUT, FaultKind.STALLED}
        return LIMITS if ends_so or self.family == "time_wasting" else ROOM


def _sections(path: Path) -> Iterator[Attack]:
    preamble, *sections = path.read_text().split("# ==== ")
    for section in sections:
        head, _, body = section.partition("\n")
        name, _, verdicts = head.partition(": ")
        kinds = frozenset(
            None if verdict == "held" else FaultKind(verdict) for verdict in verdicts.split(", ")
        )
        yield Attack(path.stem, name, preamble + body, kinds)


ALL = [attack for path in sorted(ATTACKS.glob("*.py")) for attack in _sections(path)]
FAMILIES = sorted({attack.family for attack in ALL})
ROOTLESS = "gvisor-rootless"
KINDS = ("process-plain", "process-bubblewrap", "gvisor", ROOTLESS)


def members(family: str, wall: str) -> list[Attack]:
    """The attacks of a family that are run against a wall of that name.

    Without root, gVisor is the same and the seal is the same; every fourth attack will do.
    """
    attacks = [attack for attack in ALL if attack.family == family]
    return attacks[::4] if wall.startswith(ROOTLESS) else attacks


CASES = [
    pytest.param(
        kind,
        attack,
        marks=[pytest.mark.gvisor] if kind.startswith("gvisor") else [],
        id=f"{kind}-{attack.family}/{attack.name}",
    )
    for kind in KINDS
    for family in FAMILIES
    for attack in members(family, kind)
]


@dataclass
class Canaries:
    """Things outside that no policy may reach."""

    folder: Path
    listeners: tuple[socket.socket, socket.socket]

    @property
    def file(self) -> Path:
        return self.folder / "canary.txt"

    def fill_in(self, source: str) -> str:
        words = {
            "file": str(self.file),
            "folder": str(self.folder),
            "port": str(self.listeners[0].getsockname()[1]),
            "secret": SECRET[::-1],
            "token": TOKEN[::-1],
        }
        for word, value in words.items():
            source = source.replace(f"<<{word}>>", value)
        return source

    def reached(self) -> list[str]:
        stream, datagrams = self.listeners
        found = []
        if sorted(path.name for path in self.folder.iterdir()) != [self.file.name]:
            found.append("a file was made")
        if self.file.read_text() != "canary":
            found.append("a file was changed")
        for listener, listen in ((stream, stream.accept), (datagrams, lambda: datagrams.recv(9))):
            try:
                listen()
                found.append(f"{listener.type.name} listener was reached")
            except BlockingIOError:
                pass
        return found


@pytest.fixture(scope="module")
def canaries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Canaries]:
    folder = tmp_path_factory.mktemp("canaries")
    for opened in (folder, *folder.parents[:2]):
        opened.chmod(0o777)
    (folder / "canary.txt").write_text("canary")
    (folder / "canary.txt").chmod(0o666)
    with (
        socket.create_server(("127.0.0.1", 0)) as stream,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
    ):
        datagrams.bind(stream.getsockname())
        stream.setblocking(False)
        datagrams.setblocking(False)
        yield Canaries(folder, (stream, datagrams))


def honest_moves(seed: int) -> bytes:
    """What the honest policy plays, whoever it meets."""
    stream = random.Random(seed)
    return bytes(stream.choice((0, 1, 2)) for _ in range(20))


def seat(program: int, seed: int) -> SeatPlan:
    return SeatPlan(program, seed)


class Played:
    """Blocks of whole families, each played once for each wall and mode."""

    def __init__(self, rules: Rules, canaries: Canaries) -> None:
        self._rules = rules
        self._canaries = canaries
        self._done: dict[tuple[str, str, bool], dict[str, tuple[Outcome, int]]] = {}

    def of(self, wall: Wall, attack: Attack, *, isolate: bool) -> tuple[Outcome, int]:
        """The outcome of the attack's match and the seat that it sat in."""
        key = (wall.name, attack.family, isolate)
        if key not in self._done:
            self._done[key] = self._play(wall, attack.family, isolate)
        return self._done[key][attack.name]

    def _play(self, wall: Wall, family: str, isolate: bool) -> dict[str, tuple[Outcome, int]]:
        # A wall that has played nothing has no zygote of either kind yet; this brings the first.
        alone = (BlockMatch(0, (seat(0, 1), seat(0, 2))),)
        wall.play(Block(self._rules, (HONEST,), alone, isolate, ROOM))
        numbered = list(enumerate(members(family, wall.name), start=1))
        played = {}
        for limits in (LIMITS, ROOM):
            chosen = [(number, attack) for number, attack in numbered if attack.limits == limits]
            if chosen:
                played.update(self._block(wall, chosen, limits, isolate))
        return played

    def _block(
        self, wall: Wall, attacks: list[tuple[int, Attack]], limits: Limits, isolate: bool
    ) -> dict[str, tuple[Outcome, int]]:
        """Every attack meets the honest policy; two honest ones play between them."""
        programs = [HONEST, *(self._canaries.fill_in(attack.source) for _, attack in attacks)]
        matches = []
        for program, (number, _) in enumerate(attacks, start=1):
            seats = (seat(program, 1000 + number), seat(0, number))
            matches.append(BlockMatch(number, seats if number % 2 else seats[::-1]))
            matches.append(BlockMatch(number, (seat(0, 500 + number), seat(0, 600 + number))))
        before = _processes(wall)
        outcomes = wall.play(Block(self._rules, tuple(programs), tuple(matches), isolate, limits))
        assert len(_processes(wall) - before) <= 1, "more than a second zygote was left behind"
        assert self._canaries.reached() == []
        found = {}
        for (number, attack), hostile, honest in zip(
            attacks, outcomes[0::2], outcomes[1::2], strict=True
        ):
            assert honest.fault is None, "honest policies were disturbed"
            assert honest.final
            assert honest.moves[0::2] == honest_moves(500 + number)
            assert honest.moves[1::2] == honest_moves(600 + number)
            found[attack.name] = (hostile, 0 if number % 2 else 1)
        return found


def _processes(wall: Wall) -> set[str]:
    """Processes of a box that runs on this very kernel; gVisor's come and go with its threads."""
    if not isinstance(wall, ProcessWall):
        return set()
    return {str(pid) for pid in descendants(wall.link.pid)}


@pytest.fixture(scope="module")
def played(throws: Rules, canaries: Canaries) -> Played:
    return Played(throws, canaries)


def check_neighbour(outcome: Outcome, hostile: int, number: int) -> None:
    """The honest seat played what it always plays, and was not blamed."""
    honest = outcome.moves[1 - hostile :: 2]
    assert honest == honest_moves(number)[: len(honest)]
    assert outcome.fault is None or outcome.fault.seat == hostile


def number_in_family(attack: Attack, wall: Wall) -> int:
    return members(attack.family, wall.name).index(attack) + 1


@pytest.mark.parametrize(("wall", "attack"), CASES, indirect=["wall"])
def test_a_fresh_worker_holds_it(wall: Wall, attack: Attack, played: Played) -> None:
    outcome, hostile = played.of(wall, attack, isolate=True)
    assert REACHED not in outcome.moves[hostile::2], "it reached what it wanted"
    verdict = outcome.fault.kind if outcome.fault else None
    assert verdict in attack.verdicts, outcome.fault
    assert outcome.final
    if outcome.fault is not None:
        assert outcome.fault.message
        assert len(outcome.fault.message) <= LIMITS.message_chars + 100
    check_neighbour(outcome, hostile, number_in_family(attack, wall))


@pytest.mark.parametrize("attack", ALL, ids=lambda attack: f"{attack.family}/{attack.name}")
def test_a_shared_block_holds_it(walls: object, attack: Attack, played: Played) -> None:
    wall = walls.get("process-plain")  # type: ignore[attr-defined]
    outcome, hostile = played.of(wall, attack, isolate=False)
    assert REACHED not in outcome.moves[hostile::2], "it reached what it wanted"
    check_neighbour(outcome, hostile, number_in_family(attack, wall))


def test_both_seats_may_be_hostile(wall: Wall, throws: Rules, canaries: Canaries) -> None:
    collusion = [attack for attack in ALL if attack.family in ("collusion", "frames_and_pipes")]
    programs = [HONEST, *(canaries.fill_in(attack.source) for attack in collusion)]
    matches = [
        BlockMatch(number, (seat(number, number), seat(number, 50 + number)))
        for number in range(1, len(programs))
    ]
    matches.append(BlockMatch(0, (seat(0, 7), seat(0, 8))))
    outcomes = wall.play(Block(throws, tuple(programs), tuple(matches), True, LIMITS))
    assert not any(REACHED in outcome.moves for outcome in outcomes)
    assert outcomes[-1].fault is None
    assert outcomes[-1].moves[0::2] == honest_moves(7)
    assert canaries.reached() == []


def test_there_are_enough_of_them() -> None:
    assert len(ALL) >= 60
    assert len({attack.name for attack in ALL}) == len(ALL)
