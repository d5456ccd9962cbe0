"""Runs the terminal sessions of a page, and compares what they print, or writes it down anew.

    python docs/transcript.py docs/tutorial.md      # the page then shows what was printed just now

Of a page, this reads two kinds of blocks, in their order: Python that stands under a line which
ends in "`NAME.py`:" becomes a file of that name, and of a `console` block the lines that begin with
"$ " are run by bash in a folder of their own.  What stands between them is what they print on
stdout.  An `export` in a block of `sh` holds for all that come after it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = 110
"""Characters in a line of what is printed."""

_BLOCK = re.compile(r"(?:`(?P<name>\w+\.py)`:\n\n)?```(?P<kind>\w+)\n(?P<text>.*?)```\n", re.S)
_EXPORT = re.compile(r"^export (\w+)=(\S+)$", re.M)
_VARIES = (
    (r"in [\d.,]+ s \([\d.,]+ a second\)", "in 1.0 s (1.0 a second)"),
    (r"\bprocess/bubblewrap\b", "process"),
)
"""What differs between machines: how fast they are, and whether bubblewrap stands around a box."""


@dataclass(frozen=True)
class Session:
    """One block: what stood on the page, and what a terminal shows now."""

    shown: str
    printed: str

    @property
    def same(self) -> bool:
        """Whether both are equal but for what differs between machines."""
        return _settled(self.shown) == _settled(self.printed)


class CommandFailed(Exception):
    """A command of a page ended with an error."""


def sessions(page: str, folder: Path, environment: Mapping[str, str]) -> Iterator[Session]:
    """Plays a page's sessions in a folder, in their order.

    Raises:
      CommandFailed: a command did not exit with 0.
    """
    for block in _BLOCK.finditer(page):
        if block["kind"] == "python" and block["name"]:
            (folder / block["name"]).write_text(block["text"])
        elif block["kind"] == "console":
            lines = block["text"].splitlines()
            commands = [line[2:] for line in lines if line.startswith("$ ")]
            printed = (f"$ {line}\n{_run(line, folder, environment)}" for line in commands)
            yield Session(block["text"], "".join(printed))
        elif block["kind"] == "sh":
            environment = {**environment, **dict(_EXPORT.findall(block["text"]))}


def surroundings() -> dict[str, str]:
    """Environment in which `arena` and `csro` are those of this checkout, with no home chosen."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
    here = Path(sys.executable).parent
    return {
        **ours,
        "PATH": f"{here}{os.pathsep}{ours.get('PATH', os.defpath)}",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": str(COLUMNS),
        "ARENA_SANDBOX": "process",
    }


def _run(command: str, folder: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=dict(environment),
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise CommandFailed(f"$ {command}\n{done.stdout}{done.stderr}")
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def _settled(text: str) -> str:
    for pattern, word in _VARIES:
        text = re.sub(pattern, word, text)
    return text


def main() -> None:
    """Renews the pages that are named on the command line."""
    for name in sys.argv[1:]:
        file = Path(name)
        page = file.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            for one in sessions(page, Path(folder), surroundings()):
                if not one.same:
                    page = page.replace(
                        f"```console\n{one.shown}```", f"```console\n{one.printed}```"
                    )
                print(one.printed, end="", flush=True)
        file.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
