"""What the static checks of a policy's source refuse, and what they must let pass."""

import ast
import re
import sys
import textwrap
import threading

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from arena.contract import AuthorContract
from arena.rejection import Rejection, RejectionKind
from arena.source_check import check_source, docstring_of, normalised_digest
from sandbox.box.allowed import ALLOWED_MODULES

THROWS = AuthorContract("Agent", {"act": 1}, {})
HANDS = AuthorContract("RepeatedLeducPokerBot", {"restart": 1, "act": 1, "receive_outcome": 1}, {})
OPTIONAL = AuthorContract("Agent", {"act": 1}, {"hint": 2})


def verdict(source: str, contract: AuthorContract = THROWS) -> Rejection | None:
    return check_source(textwrap.dedent(source), contract)


def digest_of(source: str) -> str:
    return normalised_digest(source, THROWS)


ACCEPTED = {
    "plain": """
        class Agent:
            def act(self, observation): return "ROCK"
        """,
    "annotated, with helpers, constants and __future__": """
        from __future__ import annotations
        import collections.abc, random as r
        import numpy.random
        from typing import Any
        BEATS: dict[str, str] = {"ROCK": "PAPER"}
        def helper(): yield 1
        class Other: ...
        class Agent:
            '''Copies.'''
            def __init__(self, order: int = 3, *, decay: float = 0.9) -> None: self.order = order
            def act(self, observation: dict[str, Any]) -> str: return "ROCK"
            async def unused(self): ...
        """,
    "any arguments": "class Agent:\n def act(*args): return 'ROCK'",
    "any arguments after self": "class Agent:\n def act(self, *args, **more): return 'ROCK'",
    "defaults": "class Agent:\n def act(self, observation=None, depth=3): return 'ROCK'",
    "keyword-only with default": "class Agent:\n def act(self, o, *, k=1): return 'ROCK'",
    "positional-only": "class Agent:\n def act(self, o, /): return 'ROCK'",
    "static method": "class Agent:\n @staticmethod\n def act(o): return 'ROCK'",
    "class method": "class Agent:\n @classmethod\n def act(cls, o): return 'ROCK'",
    "lambda": "class Agent:\n act = lambda self, o: 'ROCK'",
    "method from elsewhere in the file": """
        def choose(self, observation): return "ROCK"
        class Agent:
            act = choose
        """,
    "inherited": """
        class Base:
            def act(self, observation): return "ROCK"
        class Middle(Base): ...
        class Agent(Middle): ...
        """,
    "abstract base": """
        from abc import ABC, abstractmethod
        class Base(ABC):
            @abstractmethod
            def act(self, observation): ...
        class Agent(Base):
            def act(self, observation): return "ROCK"
        """,
    "base that the text does not settle": """
        from random import Random
        class Agent(Random): ...
        """,
    "base made by a call": "class Agent(type('B', (), {'act': lambda s, o: 'ROCK'})): ...",
    "metaclass": "class Meta(type): ...\nclass Agent(metaclass=Meta): ...",
    "class decorator": "def add(c): c.act = len; return c\n@add\nclass Agent: ...",
    "decorated method": """
        import functools
        class Agent:
            @functools.lru_cache
            def act(self, a, b, c): return "ROCK"
        """,
    "__getattr__": "class Agent:\n def __getattr__(self, name): return lambda o: 'ROCK'",
    "set from outside": "class Agent: ...\ndef f(s, o): return 'ROCK'\nAgent.act = f",
    "renamed": "class Copycat:\n def act(self, o): return 'ROCK'\nAgent = Copycat",
    "made by a call": "Agent = type('Agent', (), {'act': lambda s, o: 'ROCK'})",
    "inside if and try": """
        try:
            import numpy
        except ImportError:
            numpy = None
        if numpy:
            class Agent:
                if True:
                    def act(self, o): return "ROCK"
        """,
    "the last definition counts": """
        class Agent: ...
        class Agent:
            def act(self): ...
            def act(self, o): return "ROCK"
        """,
    "dataclass with defaults": """
        from dataclasses import dataclass, field
        from typing import ClassVar
        @dataclass
        class Agent:
            names: ClassVar[list[str]]
            seen: list[str] = field(default_factory=list)
            def act(self, o): return "ROCK"
        """,
    "dataclass without __init__": """
        import dataclasses
        @dataclasses.dataclass(init=False)
        class Agent:
            x: int
            def act(self, o): return "ROCK"
        """,
    "__new__": """
        class Agent:
            def __new__(cls): return object.__new__(cls)
            def act(self, o): return "ROCK"
        """,
    "a built-in's name bound by the author": """
        class Agent:
            def act(self, input, open=3): return "ROCK" if open or input else "PAPER"
        """,
    "yield in a function inside": """
        class Agent:
            def act(self, o):
                def moves(): yield "ROCK"
                return next(moves())
        """,
    "a syntax warning": "class Agent:\n def act(self, o): return 'ROCK' if o is 3 else '\\d'",
    "a long chain of elif": "class Agent:\n def act(self, o):\n  if o == 1: return 'ROCK'\n"
    + "".join(f"  elif o == {number}: return 'PAPER'\n" for number in range(900)),
}


@pytest.mark.parametrize("source", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepted(source: str) -> None:
    assert verdict(source) is None
    assert re.fullmatch("3:[0-9a-f]{32}", digest_of(textwrap.dedent(source)))


K = RejectionKind
REJECTED = {
    "syntax": ("x = 1\ndef act(self:\n  pass", K.SYNTAX_ERROR, 2, "line 2: .*: def act\\(self:"),
    "long line": ("x = (" + "1, " * 999, K.SYNTAX_ERROR, 1, r"line 1: .*\.\.\.$"),
    "indentation": ("if 1:\nx = 2", K.SYNTAX_ERROR, 2, "line 2: expected an indented block"),
    "compiler's": ("\nreturn 1", K.SYNTAX_ERROR, 2, "line 2: 'return' outside function: return 1"),
    "long number": ("x = " + "9" * 5000, K.SYNTAX_ERROR, 1, "line 1: Exceeds the limit"),
    "unclosed": ("x = '''", K.SYNTAX_ERROR, 1, "line 1: unterminated triple-quoted"),
    "nested": ("x = " + "-" * 9000 + "1", K.TOO_NESTED, None, "nested too deeply"),
    "NUL": ("x = 1\n\0", K.NOT_TEXT, 2, "line 2: there is a NUL byte"),
    "surrogate": ("\n\nx = '\udc80'", K.NOT_TEXT, 3, "line 3: .* not valid Unicode"),
    "large": ("#" + "x" * 65_536, K.TOO_LARGE, None, "has 65,537 bytes and may have 65,536"),
    "large in bytes": ("#" + "ä" * 32_768, K.TOO_LARGE, None, "has 65,537 bytes"),
    "empty": ("", K.CLASS_MISSING, None, "class Agent .* defines no class at all"),
    "other class": ("\nclass Bot: ...", K.CLASS_MISSING, 2, "is it Bot on line 2\\? then rename"),
    "classes": ("class A: ...\nclass B: ...", K.CLASS_MISSING, None, "it has A, B"),
    "inner": ("def f():\n class Agent: ...", K.CLASS_MISSING, 2, "line 2 is not at the top level"),
    "function": ("def Agent(): ...", K.CLASS_MISSING, 1, "Agent is a function; define a class"),
    "no method": ("class Agent:\n  x = 1", K.METHOD_MISSING, 1, r"add def act\(self, argument\)"),
    "no method in bases": (
        "class A: ...\nclass Agent(A, object): ...",
        K.METHOD_MISSING,
        2,
        "line 2: class Agent has no method act",
    ),
    "own base": ("class Agent(Agent): ...", K.METHOD_MISSING, 1, "no method act"),
    "no argument": (
        "class Agent:\n def act(self): ...",
        K.BAD_SIGNATURE,
        2,
        "line 2: act is called with 1 argument after self and takes none; write def act",
    ),
    "no self": ("class Agent:\n def act(): ...", K.BAD_SIGNATURE, 2, "act takes no self"),
    "more": ("class Agent:\n def act(self, a, b): ...", K.BAD_SIGNATURE, 2, "also requires b"),
    "keyword": ("class Agent:\n def act(self, a, *, b): ...", K.BAD_SIGNATURE, 2, "argument b"),
    "static": (
        "class Agent:\n @staticmethod\n def act(self, o): ...",
        K.BAD_SIGNATURE,
        3,
        "1 argument in all and also requires o",
    ),
    "lambda": ("class Agent:\n act = lambda o: 1", K.BAD_SIGNATURE, 2, "takes none"),
    "async": ("class Agent:\n async def act(self, o): ...", K.BAD_SIGNATURE, 2, "act is async"),
    "generator": ("class Agent:\n def act(self, o):\n  yield o", K.BAD_SIGNATURE, 2, "on line 3"),
    "constant": ("class Agent:\n act = None", K.BAD_SIGNATURE, 2, "no method but a constant"),
    "inherited bad": (
        "class A:\n def act(self): ...\nclass Agent(A): ...",
        K.BAD_SIGNATURE,
        2,
        "line 2: act",
    ),
    "__init__": (
        "class Agent:\n def __init__(self, x): ...\n def act(self, o): ...",
        K.BAD_SIGNATURE,
        2,
        "made with no arguments, but __init__ .* requires x; give every argument",
    ),
    "__new__": (
        "class Agent:\n def __new__(cls, x): ...\n def act(self, o): ...",
        K.BAD_SIGNATURE,
        2,
        "__new__ .* requires x",
    ),
    "dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass Agent:\n x: int\n def act(s, o): ...",
        K.BAD_SIGNATURE,
        4,
        "this field has no default",
    ),
    "os": ("import math, os.path", K.IMPORT_NOT_ALLOWED, 1, "may not import os.path; they may"),
    "from": ("\nfrom subprocess import run", K.IMPORT_NOT_ALLOWED, 2, "not import subprocess"),
    "inside": ("def f():\n import socket", K.IMPORT_NOT_ALLOWED, 2, "not import socket"),
    "relative": ("from .friends import x", K.IMPORT_NOT_ALLOWED, 1, "a relative import"),
    "all dots": ("from ... import x", K.IMPORT_NOT_ALLOWED, 1, "a relative import"),
    "ours": ("import pyspiel", K.IMPORT_NOT_ALLOWED, 1, "may not import pyspiel"),
    "open": ("\nx = open('f')", K.NAME_NOT_ALLOWED, 2, r"open is a built-in .*\(a policy has no f"),
    "__import__": ("__import__('os')", K.NAME_NOT_ALLOWED, 1, "write an import statement"),
    "exit": ("def f(): exit()", K.NAME_NOT_ALLOWED, 1, "forfeit"),
}


@pytest.mark.parametrize(("source", "kind", "line", "text"), REJECTED.values(), ids=REJECTED.keys())
def test_rejected(source: str, kind: RejectionKind, line: int | None, text: str) -> None:
    found = check_source(source, THROWS)
    assert found is not None
    assert (found.kind, found.line) == (kind, line), found
    assert re.search(text, found.message), found.message


def test_every_kind_of_rejection_of_a_text_has_its_case() -> None:
    files = {K.FILE_MISSING, K.IS_DIRECTORY, K.UNREADABLE}
    bombs = {K.TOO_COSTLY}  # these are in test_source_bombs.py
    networks = {K.BAD_WEIGHTS}  # in test_weights_file.py
    # And these in test_audit.py and test_budgets.py.
    played = {K.DOES_NOT_REPEAT, K.QUARANTINED, K.TOO_SLOW}
    found = {kind for _, kind, _, _ in REJECTED.values()}
    assert found == set(RejectionKind) - files - bombs - networks - played


def test_all_methods_are_asked_for() -> None:
    source = """
        class RepeatedLeducPokerBot:
            def restart(self, player_id): ...
            def act(self, obs): return "CALL"
        """
    found = verdict(source, HANDS)
    assert found is not None and found.kind == K.METHOD_MISSING
    assert "receive_outcome" in found.message
    assert verdict(source + "    def receive_outcome(self, obs): ...\n", HANDS) is None


def test_optional_methods_are_checked_where_they_exist() -> None:
    source = "class Agent:\n def act(self, o): ...\n"
    assert verdict(source, OPTIONAL) is None
    found = verdict(source + " def hint(self, o): ...", OPTIONAL)
    assert found is not None
    assert found.line == 3 and "def hint(self, argument1, argument2)" in found.message


@pytest.mark.parametrize("module", sorted(ALLOWED_MODULES))
def test_what_is_allowed_can_be_imported(module: str) -> None:
    source = f"import {module}\nclass Agent:\n def act(self, o): ..."
    if module != "__future__":
        source = source.replace("\nclass", f"\ntry:\n from {module} import x\nexcept E: ...\nclass")
    assert check_source(source, THROWS) is None


def nesting() -> list[str]:
    """Texts that nest as deeply as the size allows."""
    most = 65_000
    repeated = ["(", "[", "{", "-", "not ", "lambda:", "a.", "f(", "a[", "1+", "1**", "{1:", "~"]
    repeated += ["a if b else ", "await ", "@a\n", "*", "x=", "'' ", "if a: ", "(yield ", "\\\n"]
    texts = [part * (most // len(part)) + "1" for part in repeated]
    texts += ["a" + part * (most // len(part)) for part in (".b", "()", "[0]", "<b", " and b")]
    texts += ["if a:\n b\n" + "elif a:\n b\n" * 6_000, "x=0x" + "f" * most, "f'{" * 20_000]
    texts.append("\n".join(" " * depth + "if a:" for depth in range(300)) + " b")
    texts.append("try:\n" + "".join(" " * depth + "try:\n" for depth in range(1, 100)))
    return texts


@pytest.mark.parametrize("text", nesting(), ids=lambda text: text[:9])
def test_the_deepest_nesting_is_survived(text: str) -> None:
    checked: list[object] = []

    def check() -> None:
        checked.append(check_source(text, THROWS))
        checked.append(digest_of(text))
        checked.append(docstring_of(text, "Agent"))

    check()
    thread = threading.Thread(target=check)  # Another stack than the main thread's.
    thread.start()
    thread.join()
    assert checked[:3] == checked[3:]
    assert isinstance(checked[0], Rejection)


WORDS = "class Agent|(object)|def act|(self, o)|return|'ROCK'|import os|from . import|lambda|yield"
MARKS = "async |__init__|if 1:|:|\n| |  |x|=|(|)|[|{|@|*|**|/|,|\\|'''|#|f'|\0|\t|ä|\udfff"
PIECES = st.sampled_from([*WORDS.split("|"), *MARKS.split("|")])


@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=200))
@example("class Agent(Agent, *Agent, **Agent): act = Agent = act")
@example("class A(B): ...\nclass B(A): ...\nAgent = A")
@example("A = B\nB = A\nAgent = A")
@example("class Agent[T]: ...")
@example("import Agent")
@example("for Agent.act in x: ...")
@example("match x:\n case Agent: ...")
@example("class Agent:\n def act(self, o): ...\n del act")
def test_any_text_gets_a_verdict(source: str) -> None:
    for contract in (THROWS, HANDS):
        found = check_source(source, contract)
        assert found is None or (isinstance(found, Rejection) and found.message)
    digest = digest_of(source)
    assert digest == "" or re.fullmatch("[34]:[0-9a-f]{32}", digest)
    assert isinstance(docstring_of(source, "Agent"), str)


SIGNATURES = st.builds(
    lambda before, defaults, star, keyword: ", ".join(
        [f"a{i}" for i in range(before)]
        + [f"d{i}=0" for i in range(defaults)]
        + (["*rest"] if star else ["*"] if keyword else [])
        + ([f"key{keyword - 1 and '=0'}".replace("key0", "key")] if keyword else [])
    ),
    st.integers(0, 4),
    st.integers(0, 3),
    st.booleans(),
    st.sampled_from([0, 1, 2]),
)


@given(signature=SIGNATURES, arguments=st.integers(0, 3), static=st.booleans())
def test_a_signature_passes_if_and_only_if_python_can_make_the_call(
    signature: str, arguments: int, static: bool
) -> None:
    decorator = " @staticmethod\n" if static else ""
    source = f"class Agent:\n{decorator} def act({signature}): return 'ROCK'\n"
    try:
        ast.parse(source)
    except SyntaxError:
        return
    namespace: dict[str, type] = {}
    exec(source, namespace)
    try:
        namespace["Agent"]().act(*[None] * arguments)
        works = True
    except TypeError:
        works = False
    found = check_source(source, AuthorContract("Agent", {"act": arguments}, {}))
    assert (found is None) == works, found


def test_nothing_is_executed_or_imported() -> None:
    source = "import calendar, colorsys\nraise SystemExit\nclass Agent:\n def act(self, o): ..."
    loaded = set(sys.modules)
    assert check_source(source, THROWS) is None
    assert set(sys.modules) == loaded
