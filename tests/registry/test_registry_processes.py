"""Several processes register at once: nothing is lost, nothing doubled, nobody is refused."""

import os
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from pathlib import Path

from registry import Registry, Submission

ROOT = Path(__file__).parents[2]
PROCESSES, EACH = 4, 25

REGISTER = """
import sys
from registry import Registry, Submission
target, who, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
for number in range(count):
    with Registry.open(target) as registry:
        own = registry.submit(Submission("rrps", "all/same", "python", f"{who} {number}"))
        both = registry.submit(Submission("rrps", f"{who}/x", "python", f"shared {number}"))
        assert registry.get("rrps", own.version.ref) == own.version
    print(own.version.digest, int(both.created), flush=True)
"""


def start(target: str, who: str, count: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", REGISTER, target, who, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_processes_share_a_registry_that_none_of_them_made(target: str) -> None:
    processes = [start(target, f"w{number}", EACH) for number in range(PROCESSES)]
    for process in processes:
        go(process)
    lines = [process.communicate(timeout=120)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0] * PROCESSES
    own = [digest for one in lines for digest in one[::2]]
    shared = sum(int(created) for one in lines for created in one[1::2])
    with Registry.open(target) as registry:
        same = registry.find("rrps", name="all/same")
        assert {version.digest for version in same} == set(own)
        assert sorted(version.number for version in same) == list(range(1, PROCESSES * EACH + 1))
        assert shared == EACH
        assert registry.count() == PROCESSES * EACH + EACH
        numbers = defaultdict[str, list[int]](list)
        for version in registry.find():
            for credit in version.credits:  # each who handed in what all share has a name for it
                numbers[credit.name].append(credit.number)
        assert sorted(map(len, numbers.values())) == [EACH] * PROCESSES + [PROCESSES * EACH]
        for found in numbers.values():
            assert sorted(found) == list(range(1, len(found) + 1))


def test_what_was_acknowledged_survives_a_kill(target: str) -> None:
    acknowledged: list[str] = []
    for round_number in range(3):
        process = start(target, f"k{round_number}", 1000)
        go(process)
        assert process.stdout is not None
        acknowledged += [process.stdout.readline().split()[0] for _ in range(5)]
        os.kill(process.pid, signal.SIGKILL)
        acknowledged += [line.split()[0] for line in process.communicate()[0].splitlines()[:-1]]
    with Registry.open(target) as registry:
        assert set(registry.by_digests(acknowledged)) == set(acknowledged)
        numbers = [version.number for version in registry.find(name="all/same")]
        assert numbers == list(range(1, len(numbers) + 1))


def test_threads_share_one_registry_object(registry: Registry) -> None:
    failures: list[BaseException] = []

    def register(who: int) -> None:
        try:
            for number in range(10):
                registry.submit(Submission("rrps", "t/t", "python", f"{who} {number}"))
                assert registry.count() > 0
        except BaseException as error:  # noqa: BLE001 - handed to the test's thread
            failures.append(error)

    threads = [threading.Thread(target=register, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [version.number for version in registry.find()] == list(range(1, 41))
