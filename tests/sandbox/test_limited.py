"""The limited child: what it answers, what it refuses, and that nothing of it is left behind."""

import math
import os
import re
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sandbox import limited
from sandbox.box import seal
from sandbox.errors import SandboxUnavailable
from sandbox.limited import ChildLimits, Excess, LimitedCalls
from sandbox.link import descendants

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
NAMES = [
    "echo",
    "count",
    "work",
    "compiled",
    "memory",
    "recursion",
    "crash",
    "text",
    "fault",
    "silence",
    "attempts",
]
SMALL = ChildLimits(cpu_seconds=0.4, elapsed_seconds=30.0, memory_mib=128, answer_bytes=10_000)
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def calls(limits: ChildLimits = SMALL) -> LimitedCalls:
    return LimitedCalls([f"limited_functions:{name}" for name in NAMES], limits, folder=FOLDER)


class Asking:
    """Calls by the bare name of a function."""

    def __init__(self, child: LimitedCalls) -> None:
        self.child = child

    def __call__(self, name: str, question: object = None) -> object:
        return self.child.call(f"limited_functions:{name}", question)


@pytest.fixture
def ask() -> Iterator[Asking]:
    child = calls()
    yield Asking(child)
    child.close()


def nested_finally(depth: int) -> str:
    lines = []
    for level in range(depth):
        lines += [f"{' ' * level}try:", f"{' ' * level} pass", f"{' ' * level}finally:"]
    return "\n".join([*lines, " " * depth + "pass"])


@pytest.mark.parametrize("value", [None, 1.5, "", "ä\0\udc80", [1, {"a": [True]}], "x" * 9_000])
def test_values_go_there_and_come_back(ask: Asking, value: object) -> None:
    assert ask("echo", value) == value


def test_large_questions_are_fine() -> None:
    child = calls(ChildLimits(answer_bytes=2_000_000))
    assert child.call("limited_functions:echo", "x" * 1_500_000) == "x" * 1_500_000
    child.close()


def test_the_child_stays_and_each_question_has_a_process_of_its_own(ask: Asking) -> None:
    assert ask.child.pid is None
    assert [ask("count") for _ in range(3)] == [1, 1, 1]
    first = ask.child.pid
    assert first is not None and ask("count") == 1
    assert ask.child.pid == first


def test_what_is_too_much_is_told_and_does_not_hold_the_parent_up(ask: Asking) -> None:
    before = time.process_time()
    assert ask("work", 1e6) is Excess.TIME
    assert ask("compiled", nested_finally(20)) in (Excess.MEMORY, Excess.TIME)
    assert ask("memory", 500) is Excess.MEMORY
    assert ask("recursion") is Excess.MEMORY
    assert ask("text", 20_000) is Excess.ANSWER
    assert ask("compiled", nested_finally(3)) == "compiled"
    assert time.process_time() - before < 0.5


@linux
def test_the_kernel_ends_nobody_whom_the_watch_would_not(ask: Asking) -> None:
    """On a busy machine it charges much more than was used: a bomb was nobody's fault then."""
    ask("echo")
    assert ask.child.pid is not None
    deadline = time.monotonic() + 10.0
    limits: list[int] = []
    while not limits and time.monotonic() < deadline:  # the next worker seals itself meanwhile
        for pid in descendants(ask.child.pid):
            with suppress(OSError):  # the one before it may end just now
                found = re.search(r"Max cpu time +(\d+) ", Path(f"/proc/{pid}/limits").read_text())
                limits += [int(found[1])] if found else []
        time.sleep(0.01)
    assert limits and limits[0] >= 5 * math.ceil(SMALL.cpu_seconds)


def test_a_crash_of_the_interpreter_is_told(ask: Asking) -> None:
    assert ask("crash") is Excess.CRASH
    assert ask("echo", 1) == 1


def test_a_fault_of_ours_is_an_error(ask: Asking) -> None:
    with pytest.raises(
        SandboxUnavailable, match=r"fault broke: ValueError: 'hm'\n(?s:.)* in fault"
    ):
        ask("fault", "'hm'")
    with pytest.raises(SandboxUnavailable, match="ValueError: \ufffd]0;title\ufffd"):
        ask("fault", "\x1b]0;title\a")
    assert ask("echo", 1) == 1


def test_a_machine_that_gives_no_time_is_an_error_and_not_the_texts_fault() -> None:
    child = calls(ChildLimits(cpu_seconds=9.0, elapsed_seconds=0.3))
    with pytest.raises(SandboxUnavailable, match=r"less than 9 s .* in 0.3 s; the machine is too"):
        child.call("limited_functions:silence", None)
    child.close()


@pytest.mark.skipif(seal.why_not() is not None, reason="nothing can be sealed here")
def test_nothing_can_be_reached_from_inside(
    ask: Asking, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "secret")
    (tmp_path / "secret").write_text("secret")
    secret = os.open(tmp_path / "secret", os.O_RDONLY)
    os.set_inheritable(secret, True)
    try:
        found = ask("attempts", secret)
    finally:
        os.close(secret)
    assert isinstance(found, dict)
    assert found["worked"] == []
    allowed = {"PYTHONPATH", "PYTHONHASHSEED", "PYTHONUTF8", "LC_CTYPE"}
    assert set(found["environment"]) <= allowed


def test_two_threads_get_their_own_answers(ask: Asking) -> None:
    wrong: list[object] = []

    def many(mark: str) -> None:
        for number in range(30):
            answer = ask("echo", [mark, number])
            if answer != [mark, number]:
                wrong.append(answer)

    threads = [threading.Thread(target=many, args=(mark,)) for mark in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_thread_that_started_the_child_may_end(ask: Asking) -> None:
    starter = threading.Thread(target=ask, args=("echo",))
    starter.start()
    starter.join()
    pid = ask.child.pid
    assert ask("echo", 1) == 1
    assert ask.child.pid == pid


def test_a_killed_child_is_started_again(ask: Asking) -> None:
    ask("echo")
    first = ask.child.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert ask("echo", 2) == 2
    assert ask.child.pid not in (None, first)


def killed_in_the_middle(ask: Asking, seconds: float, victims: int) -> tuple[object, list[int]]:
    """Kills so many workers, one after the other, while they answer a question."""
    killed: list[int] = []
    answers: list[object] = []

    def question() -> None:
        try:
            answers.append(ask("work", seconds))
        except SandboxUnavailable as error:
            answers.append(error)

    asking = threading.Thread(target=question)
    asking.start()
    while asking.is_alive() and len(killed) < victims:
        child = ask.child.pid
        below = descendants(child) if child is not None else []
        for pid in below:
            if pid not in killed and cpu_of(pid) > 0.05:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
        time.sleep(0.005)
    asking.join()
    return answers[0], killed


def cpu_of(pid: int) -> float:
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0


@linux
def test_a_worker_that_somebody_kills_is_not_the_texts_fault() -> None:
    ask = Asking(calls(ChildLimits(cpu_seconds=20.0)))
    answer, killed = killed_in_the_middle(ask, 1.5, 1)
    assert (answer, len(killed)) == (1.5, 1)
    ask.child.close()


@linux
def test_a_machine_that_kills_every_worker_is_told() -> None:
    ask = Asking(calls(ChildLimits(cpu_seconds=20.0)))
    answer, killed = killed_in_the_middle(ask, 1000, 3)
    assert isinstance(answer, SandboxUnavailable) and len(killed) == 3, (answer, killed)
    assert "was killed 3 times; does the machine run out of memory?" in str(answer)
    assert ask("echo", 1) == 1
    ask.child.close()


@linux
def test_a_child_that_is_killed_in_the_middle_is_asked_again() -> None:
    ask = Asking(calls(ChildLimits(cpu_seconds=20.0)))
    assert ask("echo", 1) == 1
    first = ask.child.pid
    assert first is not None
    answers: list[object] = []
    asking = threading.Thread(target=lambda: answers.append(ask("work", 1.5)))
    asking.start()
    while asking.is_alive() and not any(cpu_of(pid) > 0.05 for pid in descendants(first)):
        time.sleep(0.005)
    os.kill(first, signal.SIGKILL)
    asking.join()
    assert answers == [1.5]
    assert ask.child.pid != first
    ask.child.close()


PARENT = """
import os, signal, sys, threading, time
from pathlib import Path
from sandbox.limited import ChildLimits, LimitedCalls
from sandbox.link import descendants
child = LimitedCalls(
    ["limited_functions:echo", "limited_functions:work"],
    ChildLimits(cpu_seconds=60.0),
    folder=Path(sys.argv[1]),
)
child.call("limited_functions:echo", 1)
if sys.argv[2] == "busy":
    threading.Thread(
        target=child.call, args=("limited_functions:work", 1000), daemon=True
    ).start()
    time.sleep(0.3)
while not (below := descendants(child.pid)):
    time.sleep(0.01)  # it makes itself ready for the next question
print(child.pid, *below, flush=True)
if sys.argv[3] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""


@linux
@pytest.mark.parametrize("how", ["killed", "ended"])
@pytest.mark.parametrize("busy", ["busy", "idle"])
def test_it_dies_with_its_parent(how: str, busy: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PARENT), str(FOLDER), busy, how],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == (-signal.SIGKILL if how == "killed" else 0), run.stderr
    left = [int(word) for word in run.stdout.split()]
    assert len(left) == 2
    deadline = time.monotonic() + 10
    while left and time.monotonic() < deadline:
        left = [pid for pid in left if Path(f"/proc/{pid}").exists()]
        time.sleep(0.01)
    assert left == []


def test_a_forked_process_starts_its_own(ask: Asking) -> None:
    ask("echo")
    first = ask.child.pid
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking a process with threads
        forked = os.fork()
    if forked == 0:
        fine = ask.child.pid is None and ask("echo", 3) == 3 and ask.child.pid != first
        ask.child.close()
        os._exit(0 if fine else 1)
    assert os.waitpid(forked, 0)[1] == 0
    assert ask("echo", 4) == 4
    assert ask.child.pid == first


def test_a_child_that_cannot_be_started_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    child = LimitedCalls(["nowhere:nothing"])
    with pytest.raises(SandboxUnavailable, match=r"cannot be started, (?s:.)*named 'nowhere'"):
        child.call("nowhere:nothing", 1)
    monkeypatch.setattr(limited, "base_python", lambda: "/no/such/python")
    with pytest.raises(SandboxUnavailable, match=r"cannot be started, .*No such file"):
        child.call("nowhere:nothing", 1)
    monkeypatch.setattr(limited, "base_python", lambda: "/bin/true")
    with pytest.raises(SandboxUnavailable, match=r"cannot be started, .* says nothing"):
        child.call("nowhere:nothing", 1)


def test_a_child_that_ends_by_itself_says_why(ask: Asking) -> None:
    ask("echo")
    assert ask.child.pid is not None
    os.kill(ask.child.pid, signal.SIGINT)  # a KeyboardInterrupt, in the child
    with pytest.raises(SandboxUnavailable, match=r"text broke: (?s:.)*KeyboardInterrupt"):
        ask("echo")
    assert ask("echo", 1) == 1


def test_nothing_is_left_open(ask: Asking) -> None:
    ask("echo")
    ask.child.close()
    before = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    for _ in range(3):
        ask("echo")
        ask.child.close()
        ask.child.close()
    after = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    assert (after, ask.child.pid) == (before, None)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime > 0  # and reaped
