"""The digest of what a program does: the same under another layout and other names only."""

import ast
import keyword
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.contract import AuthorContract
from arena.fingerprint import fingerprint

CONTRACT = AuthorContract("Agent", {"act": 1}, {"hint": 1})
POLICY = '''\
import math
import random as rng
from collections import Counter

BEATS = {"ROCK": "PAPER", "PAPER": "SCISSORS", "SCISSORS": "ROCK"}
DECAY = 0.9


def weighed(counts: dict[str, float]) -> str:
    """The heaviest."""
    best = max(counts, key=lambda throw: counts[throw])
    return best


class Agent:
    """Predicts."""

    def __init__(self):
        self.history = []
        self.table = {}

    def learn(self, action, order=2):
        recent = tuple(self.history[-order:])
        counts = self.table.setdefault(recent, dict.fromkeys(BEATS, 0.0))
        for throw in counts:
            counts[throw] *= DECAY
        counts[action] += math.exp(0)

    def act(self, observation):
        last = observation["opponent_action"]
        if last is None:
            return rng.choice(list(BEATS))
        self.learn(last, order=2)
        self.history.append(last)
        recent = tuple(self.history[-2:])
        if recent in self.table:
            return BEATS[weighed(self.table[recent])]
        return BEATS[Counter(self.history).most_common(1)[0][0]]
'''
OWN_NAMES = ("rng", "BEATS", "DECAY", "weighed", "counts", "best", "throw", "history", "table",
             "learn", "action", "recent", "observation", "last")  # fmt: skip


def digest(source: str) -> str:
    return fingerprint(ast.parse(source), CONTRACT)


def renamed(source: str, old: str, new: str) -> str:
    """All through the file; the strings of `POLICY` mention none of its names but its actions."""
    return re.sub(rf"\b{old}\b", new, source)


@given(
    st.dictionaries(st.sampled_from(OWN_NAMES), st.from_regex(r"zz[a-z0-9_]{0,8}", fullmatch=True))
)
@settings(max_examples=60)
def test_the_authors_names_do_not_count(names):
    if len(set(names.values())) < len(names):
        return
    source = POLICY
    for old, new in names.items():
        source = renamed(source, old, new)
    assert digest(source) == digest(POLICY)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n\n\n", "\n\n# a comment\n\n"),
        ('    """Predicts."""\n\n', ""),
        ('"""The heaviest."""', '"""Something else altogether."""'),
        ("(counts: dict[str, float]) -> str", "(counts)"),
        ("    return best", "    pass\n    return (best)"),
        ("0.9", "9e-1"),
        ("-2:", "-0x2:"),
        ('"ROCK": "PAPER"', "'RO' 'CK': 'PAPER'"),
    ],
)
def test_layout_does_not_count(old, new):
    assert old in POLICY
    assert digest(POLICY.replace(old, new)) == digest(POLICY)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("max(", "min("),
        ("0.9", "0.91"),
        ("-2:", "-3:"),
        ("+=", "-="),
        ("is None", "is not None"),
        ("math.exp(0)", "math.cosh(0)"),
        ("most_common(1)", "most_common(2)"),
        ("0.0", "0"),
        ('"ROCK": "PAPER"', '"ROCK": "ROCK"'),
        ("import math", "import cmath as math"),
        ("self.history.append(last)", "self.table.clear()"),
        ("class Agent:", "class Agent(dict):"),
    ],
)
def test_what_it_does_counts(old, new):
    assert old in POLICY
    assert digest(POLICY.replace(old, new)) != digest(POLICY)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # Each pair differs by a name that something else goes by.
        ("def f(key):\n    return sorted([1], key=key)",
         "def f(reverse):\n    return sorted([1], reverse=reverse)"),
        ("from math import sin\nmath = 1\nsin(1)", "from cmath import sin\ncmath = 1\nsin(1)"),
        ("class A:\n    def f(self):\n        self.x = 1\n        return getattr(self, 'x')",
         "class A:\n    def f(self):\n        self.y = 1\n        return getattr(self, 'x')"),
        ("class A(list):\n    def f(self):\n        self.sort = 1",
         "class A(list):\n    def f(self):\n        self.pop = 1"),
        ("def f(xs):\n    xs.sort = 1\n    xs.sort()",
         "def f(xs):\n    xs.reverse = 1\n    xs.reverse()"),
        ("a = 1\nprint(vars())", "b = 1\nprint(vars())"),
        ("def f(): pass\nprint(getattr(f, '__name__'))",
         "def g(): pass\nprint(getattr(g, '__name__'))"),
        ("def f(name):\n    return getattr(f, name)", "def g(name):\n    return getattr(g, name)"),
        ("def f(a, b):\n    return a - b", "def f(a, b):\n    return b - a"),
        ("x = 1\ny = x", "x = 1\ny = y0 = 1"),
        ("def max(a):\n    return a", "def min(a):\n    return a"),
        ("x = 1", "x = True"),
        ("x = 1", "x = 1.0"),
        ("x = 'a'", "x = b'a'"),
    ],
)  # fmt: skip
def test_names_that_something_else_goes_by_count(one, other):
    assert digest(one) != digest(other)


def test_asking_for_an_attribute_by_a_string_hides_nothing():
    ask = "import math\ndef f(seen):\n    math.n = getattr(math, 'n', 0) + seen\n    return math.n"
    assert digest(ask) == digest(renamed(ask, "seen", "looked_at"))


def test_the_contracts_names_count():
    assert digest("class Agent:\n    def hint(self): pass") != digest(
        "class Agent:\n    def tip(self): pass"
    )


@given(st.integers(0, 10**6))
@settings(max_examples=100)
def test_another_use_of_two_names_counts(seed):
    """Exchanging one use of a name for another name makes another program."""
    rng = random.Random(seed)
    uses = [m for name in OWN_NAMES for m in re.finditer(rf"\b{name}\b", POLICY)]
    use, other = rng.choice(uses), rng.choice(OWN_NAMES)
    if other == use.group() or keyword.iskeyword(other):
        return
    assert digest(POLICY[: use.start()] + other + POLICY[use.end() :]) != digest(POLICY)


def test_a_long_chain_is_no_trouble():
    chain = "if x == 0:\n    pass\n" + "".join(
        f"elif x == {n}:\n    y = {n}\n" for n in range(1, 2000)
    )
    assert digest("x = 1\n" + chain).startswith("3:")


@pytest.mark.parametrize(
    "annotations",
    [
        "(a: int, *b: str, c: 'whatever' = 1, **d: list[int]) -> None",
        "(a: dict[str, list[float]], *b, c: int | None = 1, **d) -> tuple[int, ...]",
        "(a: None | int | str, *b, c: tuple[()] = 1, **d) -> type[object]",
    ],
)
def test_annotations_that_compute_nothing_do_not_count(annotations):
    plain = "def f(a, *b, c=1, **d):\n    return a"
    for kind in ("", "async "):
        annotated = f"{kind}def f{annotations}:\n    return a"
        assert digest(annotated) == digest(kind + plain)


@pytest.mark.parametrize(
    "annotation",
    [
        "print()", "lambda: 1", "random", "math.pi", "dict[print()]", "int | print()", "[int]",
        "None | None", "int['x']", "'x' | int", "list[int | print()]", "f'{print()}'", "(x := 1)",
        "int & str", "1", " | ".join(["int"] * 100),
    ],
)  # fmt: skip
def test_an_annotation_that_python_runs_counts(annotation):
    plain = "def f(a, *b, c=1, **d):\n    return a"
    for where in ("a", "*b", "c", "**d"):
        assert digest(plain.replace(where, f"{where}: {annotation}", 1)) != digest(plain)
    assert digest(plain.replace(":", f" -> {annotation}:")) != digest(plain)
    postponed = "from __future__ import annotations\n"
    annotated = plain.replace(":", f" -> {annotation}:")
    assert digest(postponed + annotated) == digest(postponed + plain)


@pytest.mark.parametrize(
    "before",
    ["int = print", "import print as int", "from os import *", "class int: pass",
     "import builtins\nbuiltins.int = print", "for int in (): pass", "def g(int): pass"],
)  # fmt: skip
def test_a_built_in_that_may_be_another_is_no_type(before):
    function = "def f(a):\n    return a\n"
    annotated = function.replace("a)", "a: int)")
    assert digest(annotated) == digest(function)
    assert digest(f"{before}\n{annotated}") != digest(f"{before}\n{function}")


@pytest.mark.parametrize(
    "look",
    ["f.__doc__", "f.__annotations__", "__doc__", "vars()", "__import__('inspect')",
     "typing.get_type_hints(f)"],
)  # fmt: skip
def test_a_program_that_looks_at_itself_has_its_words_counted(look):
    function = "def f(a):\n    return a\n"
    for other in ("def f(a: int):\n    return a\n", "def f(a):\n    'x'\n    return a\n"):
        assert digest(function) == digest(other)
        assert digest(function + look) != digest(other + look)


def test_what_chooses_a_method_by_an_annotation_counts():
    picks = (
        "class Agent:\n    @functools.singledispatchmethod\n    def pick(self, last):\n"
        "        return 'ROCK'\n    @pick.register\n    def _(self, last: {0}):\n"
        "        return 'PAPER'\n    def act(self, seen):\n        return self.pick(None)\n"
    )
    one, other = digest(picks.format("int")), digest(picks.format("object"))
    assert one != other
    assert one.startswith("4:")
    assert digest(picks.format("int") + "vars()").startswith("3:")  # as it always was


def test_a_program_that_can_be_run_as_well_is_recognised():
    program = POLICY + "\nif __name__ == '__main__':\n    Agent()\n"
    assert digest(program) == digest(renamed(program, "weighed", "zz_weighed"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("salt", "grain"), ("_Agent__q", "__q")),  # two attributes of one, one of the other
        (("__p", "__q"), ("_Agent__q", "__q")),
        (("_Agent__p", "__q"), ("_Agent__q", "__q")),
        (("_Other__q", "__q"), ("_Agent__q", "__q")),
    ],
)
def test_names_that_python_makes_one_are_not_two(one, other):
    program = (
        "class Agent:\n    def __init__(self):\n        self.{0} = 20\n        self.{1} = {{}}\n"
        "    def act(self, seen):\n        return hash(str(self.{0}))\n"
    )
    assert digest(program.format(*one)) != digest(program.format(*other))
    own = "class Own:\n    def f(self):\n        self.__q = self._Own__q\n"
    assert digest(own) != digest(own.replace("class Own", "class Other"))


def test_programs_without_private_names_keep_their_digests():
    """Quarantines and certificates hold them."""
    plain = "class Agent:\n def act(self, o):\n  self.x = 1\n  return 'ROCK'\n"
    assert digest(plain) == "3:494861631eef709415262d71b781b479"
    assert digest(plain.replace("self.x", "self.x__y")) == digest(plain)
    assert digest(plain.replace("x", "__x")).startswith("4:")
