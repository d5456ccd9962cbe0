"""Runs one piece of code in several processes that begin together."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PREAMBLE = """
import sys
from registry import Registry
target, who = sys.argv[1], int(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
"""


def at_once(target: str, code: str, processes: int = 4) -> list[list[str]]:
    """What each process printed, as lines; the code has `target`, `who` and `Registry`."""
    started = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", PREAMBLE + code, target, str(who)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for who in range(processes)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    printed = [process.communicate(timeout=300)[0].splitlines() for process in started]
    assert [process.returncode for process in started] == [0] * processes
    return printed
