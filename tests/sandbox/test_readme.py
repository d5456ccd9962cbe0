"""The sandbox's documentation names tests and attacks that exist, and calls as the code does."""

from __future__ import annotations

import re
from pathlib import Path

from sandbox.box import syscalls
from sandbox.box.virtual_time import LOOK_NANOSECONDS, START_SECONDS
from sandbox.link import BOX_ENVIRONMENT
from sandbox.values import Limits

HERE = Path(__file__).parent
README = (HERE.parents[1] / "sandbox" / "README.md").read_text()
ATTACKS = HERE.parent / "attacks"


def promises() -> list[str]:
    """The second cells of the tables of promises."""
    part = README.partition("## What a policy cannot read")[2].partition("## What a policy can ")[0]
    rows = [line for line in part.splitlines() if line.startswith("| ")]
    return [row.split(" | ", 1)[1] for row in rows if "held by" not in row]


def test_every_promise_names_what_holds_it() -> None:
    cells = promises()
    assert len(cells) >= 15
    for cell in cells:
        assert re.search(r"`test_\w+`|`\w+/[\w-]+`", cell), cell


def test_the_tests_that_it_names_exist() -> None:
    code = "\n".join(path.read_text() for path in HERE.glob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", README))
    assert len(named) > 25
    for name in named:
        assert f"def {name}(" in code, name


def test_the_attacks_that_it_names_exist() -> None:
    families = {path.stem for path in ATTACKS.glob("*.py")}
    named = set(re.findall(r"`(\w+)/([a-z-]+)`", README))
    named -= {("process", "bubblewrap"), ("tests", "attacks")}
    assert len(named) > 25
    for family, attack in named:
        assert family in families
        assert f"# ==== {attack}: " in (ATTACKS / f"{family}.py").read_text(), attack


def condition_text(condition: syscalls.Condition) -> str:
    verb = "lacks" if condition.lacks else "is"
    return f"argument {condition.argument} {verb} {condition.value:#x}"


def test_the_table_of_calls_is_the_codes() -> None:
    rows = [
        f"| `{call.name}` | {call.reason} | "
        + "".join(f"{', '.join(map(condition_text, call.conditions))} " if call.conditions else "")
        + "|"
        for call in syscalls.CALLS
    ]
    table = README.partition("| call | why | only if |")[2].partition("\n\n")[0]
    assert table.splitlines()[2:] == rows


def test_the_numbers_are_the_codes() -> None:
    words = {8: "eight", 9: "nine", 10: "ten"}
    assert f"{words[len(BOX_ENVIRONMENT)]} fixed variables" in README
    assert START_SECONDS == 946_684_800 and "with the year 2000" in README
    assert LOOK_NANOSECONDS == 1_000_000 and "millisecond with every look" in README
    assert f"{words[int(Limits().match_idle_seconds)]} seconds" in README
