"""Sources that were written to hurt whoever parses them: none of it reaches our process."""

import os
import re
import resource
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from arena import source_check
from arena.contract import AuthorContract
from arena.rejection import Rejection, RejectionKind
from arena.source_check import LIMITS, MAX_BYTES, Reading, difference, find_program, read_program
from oracle.extract import code_blocks, extract_program
from oracle.grammar.genome import MARK, NotGrammarMade, read_source
from oracle.values import Failure
from sandbox.errors import SandboxUnavailable
from sandbox.limited import Excess, LimitedCalls

THROWS = AuthorContract("Agent", {"act": 1}, {})
AGENT = "\nclass Agent:\n def act(self, o): return 'ROCK'\n"
MOST = MAX_BYTES - len(AGENT) - 200


def repeated(part: str, end: str = "1", before: str = "x=") -> str:
    return before + part * (MOST // len(part)) + end


def inside(*lines: str, depth: int, last: str = "pass") -> str:
    """Blocks within blocks."""
    nested = [" " * level + line for level in range(depth) for line in lines]
    return "\n".join([*nested, " " * depth + last])


COMPREHENSION = "[" * 60 + "0" + " for a in b]" * 60
BOMBS = {
    "nested finally": inside("try:", " pass", "finally:", depth=20),
    "fewer nested finally": inside("try:", " pass", "finally:", depth=13),
    "return through finally": "def f():\n"
    + inside(" try:", "  if x: return", " finally:", depth=19, last="  pass"),
    "except and finally": inside("try:", " a", "except b:", " c", "finally:", depth=20),
    "with": inside("with a:", depth=20),
    "for": inside("for a in b:", depth=19),
    "class": inside("class A:", depth=98),
    "def": inside("def a(b=lambda: 0):", depth=98),
    "parentheses": repeated("("),
    "fewer parentheses": "x=" + "(" * 190 + ")" * 190,
    "lists": repeated("["),
    "dicts": "x=" + "{1:" * 90 + "1" + "}" * 90,
    "lambdas": repeated("lambda:"),
    "minus": repeated("-"),
    "not": repeated("not "),
    "conditions": repeated("a if b else "),
    "comprehensions": f"x={COMPREHENSION}",
    "one long comprehension": repeated("for a in b ", "]", "x=[0 "),
    "attributes": repeated(".a", "", "x=a"),
    "calls": repeated("()", "", "x=a"),
    "comparisons": repeated("<b", "", "x=a"),
    "and": repeated(" and b", "", "x=a"),
    "a huge number": repeated("9"),
    "a huge hexadecimal number": repeated("f", "", "x=0x"),
    "powers": "x=10**10**8",
    "many powers": "x=" + "**".join("9" * 9_000),
    "a shift": "x=1<<(1<<40)",
    "products": "x=" + "*".join(["9" * 4_000] * 15),
    "a large string": "x='a'*10**9",
    "a larger string": "x='a'" + "*9" * 9_000,
    "a large tuple": "x=((((0,)*255)*255)*255)*255",
    "a large format": "x='%999999999d' % 1",
    "sums of strings": repeated("'a'+"),
    "elif": "if a:\n b\n" + "elif a:\n b\n" * 5_000,
    "fewer elif": "if a:\n b\n" + "elif a:\n b\n" * 900,
    "decorators": "@a\n" * 20_000 + "def f(): pass",
    "f-strings": "x=f'" + "{a}" * 20_000 + "'",
    "nested f-strings": 'x=f"' + "{f'" * 9_000,
    "formats in formats": "x=f'" + "{a!r:{b}}" * 6_000 + "'",
    "cases": "match a:\n" + "".join(f" case {number}: b\n" for number in range(4_000)),
    "alternatives": "match a:\n case " + "|".join(["{'a':b}"] * 7_000) + ": pass",
    "nested patterns": "match a:\n case " + "[" * 190 + "b" + "]" * 190 + ": pass",
    "assignments": repeated("x="),
    "names": "".join(f"a{number}=1\n" for number in range(6_500)),
    "one name": "x=1;y=x\n" * 7_900,
    "parameters": "def f(" + ",".join(f"a{number}" for number in range(8_000)) + "): pass",
    "walrus": "".join(f"(a{number}:=" for number in range(190)) + "1" + ")" * 190,
    "imports": "import math\n" * 5_300,
    "functions": "".join(f"def f{n}(): f{n + 1}()\n" for n in range(2_700)),
    "classes": "class C0: pass\n" + "".join(f"class C{n + 1}(C{n}): pass\n" for n in range(2_000)),
    "annotations": "x:" + "|".join(["int"] * 15_000),
    "escapes": "x='" + "\\N{BULLET}" * 6_000 + "'",
    "open escapes": "x='" + "\\N{" * 20_000 + "'",
    "backslashes": "\\\n" * 32_000,
    "ligatures": "ﬁ=1;" * 9_000,
}


@contextmanager
def watched() -> Iterator[list[float]]:
    """Another thread of ours goes on: yields its pauses, in seconds."""
    pauses: list[float] = []
    stop = threading.Event()

    def tick() -> None:
        last = time.monotonic()
        while not stop.wait(0.002):
            now = time.monotonic()
            pauses.append(now - last)
            last = now

    ticking = threading.Thread(target=tick)
    ticking.start()
    try:
        yield pauses
    finally:
        stop.set()
        ticking.join()


@pytest.mark.parametrize("source", BOMBS.values(), ids=BOMBS.keys())
def test_a_bomb_is_read_elsewhere_and_answered(source: str) -> None:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu, started = time.process_time(), time.monotonic()
    with watched() as pauses:
        found = read_program(source + AGENT, THROWS)
    assert time.process_time() - cpu < 0.5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 30_000  # KiB
    assert max(pauses, default=0.0) < 2.0  # on a busy machine; parsing itself holds up for longer
    assert time.monotonic() - started < LIMITS.elapsed_seconds
    if found.rejection is None:
        assert found.code_digest
    else:
        kinds = {RejectionKind.SYNTAX_ERROR, RejectionKind.TOO_NESTED, RejectionKind.TOO_COSTLY}
        assert found.rejection.kind in kinds


def test_nested_finally_is_told_what_to_do() -> None:
    found = read_program(BOMBS["nested finally"] + AGENT, THROWS)
    assert isinstance(found.rejection, Rejection)
    assert found.rejection.kind in (RejectionKind.TOO_NESTED, RejectionKind.TOO_COSTLY)
    assert "take it apart" in found.rejection.message or "take apart" in found.rejection.message
    assert "256 MiB" in found.rejection.message or "2 s of processor" in found.rejection.message


EXCESSES = {
    Excess.TIME: (RejectionKind.TOO_COSTLY, "more than 2 s of processor time"),
    Excess.MEMORY: (RejectionKind.TOO_NESTED, "256 MiB of memory, .* take it apart"),
    Excess.CRASH: (RejectionKind.TOO_NESTED, "nested too deeply"),
    Excess.ANSWER: (RejectionKind.TOO_COSTLY, "shorten it"),
}


@pytest.mark.parametrize("excess", Excess)
def test_each_excess_is_a_rejection(excess: Excess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LimitedCalls, "call", lambda *_: excess)
    source = f"# {excess}{AGENT}"
    kind, text = EXCESSES[excess]
    found = read_program(source, THROWS).rejection
    source_check._read.cache_clear()
    assert found is not None and found.kind == kind
    assert re.search(text, found.message), found.message
    reply = f"```python\n{AGENT}```"
    assert isinstance(extract_program(reply, "Agent"), Failure)
    assert difference("a", "b") is None


FORGERIES = [
    None,
    [],
    "x",
    {},
    {"rejection": None, "code_digest": "3:" + "g" * 32, "docstring": ""},
    {"rejection": None, "code_digest": 7, "docstring": ""},
    {"rejection": None, "code_digest": "", "docstring": None},
    {"rejection": ["no-such-kind", "text", 1], "code_digest": "", "docstring": ""},
    {"rejection": ["syntax-error", "text"], "code_digest": "", "docstring": ""},
    {"rejection": ["syntax-error", "text", "1"], "code_digest": "", "docstring": ""},
    {"found": 1, "problem": ""},
    {"found": -1, "problem": ""},
    {"found": "0", "problem": ""},
    {"found": 0, "problem": 1},
]


@pytest.mark.parametrize("answer", FORGERIES, ids=str)
def test_an_answer_that_makes_no_sense_is_not_believed(
    answer: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LimitedCalls, "call", lambda *_: answer)
    with pytest.raises(SandboxUnavailable, match="makes no sense"):
        read_program(f"# {answer}{AGENT}", THROWS)
    with pytest.raises(SandboxUnavailable, match="makes no sense"):
        find_program(["x"], "Agent")
    if not isinstance(answer, str):
        with pytest.raises(SandboxUnavailable, match="makes no sense"):
            difference("a", "b")


def test_a_child_killed_in_the_middle_changes_no_verdict() -> None:
    source = "x=f'" + "{a}" * 7_000 + "'\n" + AGENT  # far from the limit, on a busy machine too
    expected = read_program(source, THROWS)
    source_check._read.cache_clear()
    found: list[Reading] = []
    asking = threading.Thread(target=lambda: found.append(read_program(source, THROWS)))
    asking.start()
    time.sleep(0.1)
    pid = source_check._CHILD.pid
    if pid is not None:
        os.kill(pid, signal.SIGKILL)
    asking.join()
    assert found == [expected]


def test_two_threads_read_at_once() -> None:
    found: dict[int, Reading] = {}

    def read(number: int) -> None:
        found[number] = read_program(f'class Agent:\n """{number}"""', THROWS)

    threads = [threading.Thread(target=read, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {number: one.docstring for number, one in found.items()} == {n: str(n) for n in range(6)}


def test_replies_of_models_are_read_elsewhere_too() -> None:
    cpu = time.process_time()
    for source in (BOMBS["nested finally"], BOMBS["comparisons"], BOMBS["lambdas"]):
        for reply in (source + AGENT, f"```python\n{source}{AGENT}```\n" * 5):
            answer = extract_program(reply, "Agent")
            assert isinstance(answer, str | Failure)
    good = f"```python\n{AGENT}```\n"
    assert extract_program(good * 400, "Agent") == AGENT.strip("\n") + "\n"
    assert time.process_time() - cpu < 2.0


@pytest.mark.parametrize(
    "line", ["```" + "a" * 300_000 + "`", "~~~" + " " * 300_000 + "`", "`" * 300_000]
)
def test_a_fence_is_found_in_no_time(line: str) -> None:
    """A line that almost is a fence took minutes: every way to split it was tried."""
    cpu = time.process_time()
    assert len(code_blocks(line)) <= 1
    assert time.process_time() - cpu < 1.0


def test_a_program_that_says_it_is_the_grammars_is_not_believed() -> None:
    for text in ("[" * 50_000, "9" * 50_000, '{"game":' * 9_000):
        with pytest.raises(NotGrammarMade):
            read_source(f"{AGENT}{MARK}\n# {text}\n")


def test_a_difference_that_takes_too_long_is_not_shown() -> None:
    before = "\n".join(str(number % 130) for number in range(20_000))
    after = "\n".join(str(number * 7 % 130) for number in range(20_000))
    cpu = time.process_time()
    assert difference(before, after) is None
    assert time.process_time() - cpu < 0.5
    assert difference("a\nb", "a\nc", ("x", "y")) == "--- x\n+++ y\n@@ -1,2 +1,2 @@\n a\n-b\n+c"
    assert difference("a", "a") == ""
