"""The digest of what a program does: the same for all ways to write it, and for nothing else."""

import ast
import collections
import contextlib
import random
import re
import symtable
import sys
import textwrap
import tokenize
import types
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.contract import AuthorContract
from arena.fingerprint import fingerprint, library
from arena.fingerprint.scopes import resolve
from tests.arena.generated_programs import Writer, changed, renamed

CONTRACT = AuthorContract("Agent", {"act": 1}, {"hint": 1})
ROOT = Path(__file__).resolve().parent.parent.parent
STANDARD_LIBRARY = Path(collections.__file__).parent.parent


def digest(source: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(source, "<test>", "exec")
        return fingerprint(ast.parse(source), CONTRACT)


def edited(source: str, edits: list[tuple[str, str]]) -> str:
    for old, new in edits:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


POLICY = '''\
import math
import random
from typing import Any

BEATS = {"ROCK": "PAPER", "PAPER": "SCISSORS", "SCISSORS": "ROCK"}
DECAY = 0.9


def weighed(counts: dict[str, float]) -> str:
    """The heaviest."""
    best = max(counts, key=lambda throw: counts[throw])
    return best


class Model:
    def __init__(self, order):
        self.order = order
        self.table = {}

    def learn(self, history, action):
        recent = tuple(history[-self.order :])
        counts = self.table.setdefault(recent, {throw: 0.0 for throw in BEATS})
        for throw in counts:
            counts[throw] *= DECAY
        counts[action] += 1.0


class Agent:
    """Predicts."""

    def __init__(self):
        self.models = [Model(order) for order in (1, 2, 3)]
        self.history = []
        self.size = 0

    def act(self, observation: dict[str, Any]) -> str:
        last = observation["opponent_action"]
        if last is not None:
            self._note(last)
        if self.size < 2 and not self.history:
            return random.choice(list(BEATS))
        else:
            return BEATS[weighed(self._votes())]

    def _note(self, last):
        for model in self.models:
            model.learn(self.history, last)
        self.history.append(last)
        self.size += 1

    def _votes(self):
        total = {throw: math.exp(-1) for throw in BEATS}
        for model in self.models:
            found = model.table.get(tuple(self.history[-model.order :]))
            if found:
                for throw, weight in found.items():
                    total[throw] += weight
        return total
'''

SIZE = "self.size += 1"
EDITS = {
    "a comment": [("DECAY = 0.9", "DECAY = 0.9  # slowly")],
    "layout": [("self.table = {}", "self.table = (\n            {})")],
    "a docstring": [('"""Predicts."""', '"""Wins."""')],
    "no docstring": [('    """The heaviest."""\n', "")],
    "a float": [("DECAY = 0.9", "DECAY = 9e-1")],
    "an integer": [("(1, 2, 3)", "(0x1, 0b10, 1 + 2)")],
    "a string": [('["opponent_action"]', "['opponent' '_' + 'action']")],
    "an f-string": [('["opponent_action"]', "[f'opponent{\"_action\"}']")],
    "a local variable": [("best = max", "champion = max"), ("return best", "return champion")],
    "an argument": [
        ("(self, order)", "(me, n)"),
        ("self.order = order", "me.order = n"),
        ("self.table = {}", "me.table = {}"),
    ],
    "an unused variable": [("return total", "unused = 3\n        return total")],
    "an unused copy": [("last = obs", "copied = observation\n        last = obs")],
    "an unused attribute": [("self.size = 0", "self.size = 0\n        self.junk = [1, 2]")],
    "an unused constant": [("DECAY = 0.9", "DECAY = 0.9\nVERSION = 'v2'")],
    "an unused function": [("class Model:", "def noise(x): return noise(DECAY)\nclass Model:")],
    "an unused method": [("    def _note", "    def spare(self): return self.act\n    def _note")],
    "an unused class": [("class Model:", "class Noise:\n x = 1\n def f(s): 2\nclass Model:")],
    "an unused import": [("import math", "import math, re as regular")],
    "an unused type": [("from typing import Any", "from typing import List, Any")],
    "imports in another order": [("import math\nimport random", "import random\nimport math")],
    "one import for two": [("import math\nimport random", "import random, math")],
    "another name of a module": [("import math", "import math as m"), ("math.exp", "m.exp")],
    "pass": [(SIZE, f"pass\n        {SIZE}\n        ...")],
    "an expression": [(SIZE, f"last, None\n        {SIZE}")],
    "an assertion": [(SIZE, f"assert not 0, 'never'\n        {SIZE}")],
    "if True": [(SIZE, f"if True:\n            {SIZE}")],
    "if 0": [(SIZE, f"if 0:\n            gone()\n        {SIZE}")],
    "while False": [(SIZE, f"while False: gone()\n        {SIZE}")],
    "try": [(SIZE, f"try: {SIZE}\n        finally: pass")],
    "continue": [("learn(self.history, last)", "learn(self.history, last); continue")],
    "return": [(SIZE, f"{SIZE}\n        return None")],
    "after return": [("return best", "return best\n    print(best)")],
    "no else": [("        else:\n            return BEATS", "        return BEATS")],
    "an annotation": [("last = obs", "last: str = obs")],
    "fewer annotations": [("counts: dict[str, float]) -> str", "counts)")],
    "more annotations": [("history, action)", "history: list[Any], action: 'str')")],
    "future annotations": [("import math", "from __future__ import annotations\nimport math")],
    "an annotated constant": [("DECAY = 0.9", "DECAY: float = 0.9")],
    "an argument of init": [
        ('s."""\n\n    def __init__(self', 's."""\n    def __init__(self, seed=0')
    ],
    "an argument of act": [("observation: dict[str, Any]", "observation, extra=None, *a, **k")],
}


BLOCKS = {"if 0", "if True", "try"}
"""Edits that move a line, so that no other can stand beside it."""


@pytest.mark.parametrize("edits", EDITS.values(), ids=EDITS.keys())
def test_another_writing_is_the_same_program(edits: list[tuple[str, str]]) -> None:
    assert digest(edited(POLICY, edits)) == digest(POLICY)


def test_all_of_them_together_do_not_help_either() -> None:
    source = POLICY
    for name, edits in EDITS.items():
        if all(source.count(old) == 1 for old, _ in edits) and name not in BLOCKS:
            source = edited(source, edits)
    assert len(source) > len(POLICY) + 300
    assert digest(source) == digest(POLICY)
    assert digest(ast.unparse(ast.parse(source))) == digest(POLICY)


def test_the_order_of_definitions_makes_no_difference() -> None:
    tree = ast.parse(POLICY)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            node.body.sort(key=lambda one: getattr(one, "name", ""), reverse=True)
    assert ast.unparse(tree) != ast.unparse(ast.parse(POLICY))
    assert digest(ast.unparse(tree)) == digest(POLICY)


def chosen(source: str) -> list[str]:
    """All names in a program that mean nothing to the game or to any library."""
    words: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            words.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            words.add(node.name)
        elif isinstance(node, ast.arg):
            words.add(node.arg)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            words.add(node.attr)
    return sorted(words - {"Agent", "act", "__init__"} - library.WORDS)


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_names_make_no_difference(rng: random.Random) -> None:
    names = chosen(POLICY)
    assert len(names) >= 20
    fresh = [f"{rng.choice('abcxyz')}_{number}" for number in range(len(names))]
    new = rng.sample([*names, *fresh], len(names))  # some only change places
    other = renamed(POLICY, dict(zip(names, new, strict=True)))
    assert digest(other) == digest(POLICY), other


def test_one_variable_can_be_renamed_where_others_have_its_name() -> None:
    one = "x = 1\ndef f(x): return x\nclass Agent:\n def act(self, x): return f(x)"
    other = "x = 1\ndef f(y): return y\nclass Agent:\n def act(self, z): return f(z)"
    assert digest(one) == digest(other)
    one = "class A:\n def f(s): s.n = a()\nclass B:\n def f(s): s.n = b()\nx = A(), B()"
    other = "class A:\n def g(s): s.m = a()\nclass B:\n def f(s): s.n = b()\nx = A(), B()"
    assert digest(one) == digest(other)


def outside_of_docs(tree: ast.Module) -> list[ast.AST]:
    """All nodes but docstrings and annotations, in an order that depends on the source only."""
    nodes: list[ast.AST] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        for field, value in ast.iter_fields(node):
            inside = value if isinstance(value, list) else [value]
            if field not in ("annotation", "returns", "ctx"):
                waiting += [one for one in inside if isinstance(one, ast.AST)]
    documents = {id(one.value) for one in nodes if isinstance(one, ast.Expr)}
    return [one for one in nodes if not (isinstance(one, ast.Constant) and id(one) in documents)]


def change(node: ast.AST) -> bool:
    """Changes a node so that it means something else; whether it can."""
    match node:
        case ast.Constant(value=str() as text):
            node.value = text + "x"
        case ast.Constant(value=int() | float() as number):
            node.value = number + 1
        case ast.Constant(value=None):
            node.value = 0
        case ast.BinOp(op=ast.Add()) | ast.AugAssign(op=ast.Add()):
            node.op = ast.Sub()
        case ast.BinOp() | ast.AugAssign():
            node.op = ast.Add()
        case ast.Compare():
            node.ops = [ast.NotEq() if isinstance(node.ops[0], ast.Is | ast.Lt) else ast.Is()]
        case ast.BoolOp():
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.UnaryOp():
            node.op = ast.Invert()
        case ast.Name():
            node.id += "_"
        case ast.arg():
            node.arg += "_"
        case ast.Attribute():
            node.attr += "_"
        case ast.FunctionDef() | ast.ClassDef():
            node.name += "_"
        case ast.keyword():
            node.arg = "other"
        case ast.Call(args=[_, *_]):
            node.args.pop()
        case ast.Return():
            node.value = ast.Constant("SCISSORS")
        case ast.If() | ast.For():
            node.body = [ast.Pass()]
        case ast.Slice():
            node.lower, node.upper = node.upper, node.lower
        case ast.Expr() | ast.Assign():
            node.__class__ = ast.Pass
        case _:
            return False
    return True


def test_whatever_matters_changes_the_digest() -> None:
    size = len(outside_of_docs(ast.parse(POLICY)))
    changes = 0
    for number in range(size):
        tree = ast.parse(POLICY)
        node = outside_of_docs(tree)[number]
        document = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if document or not change(node):
            continue
        source = ast.unparse(ast.fix_missing_locations(tree))
        changes += 1
        assert digest(source) != digest(POLICY), source
    assert changes > 150


class Endless(BaseException):
    """A program made too many calls."""


def behaviour(source: str) -> list[str]:
    """What a policy does in three acts: the first error ends it."""
    found: list[str] = []
    calls = iter(range(3_000))

    def count(*_: object) -> None:
        if next(calls, None) is None:
            raise Endless

    module = types.ModuleType("policy")
    sys.modules["policy"] = module  # dataclasses look there
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        exec(source, vars(module))
        agent = vars(module)["Agent"]()
        found.extend(re.sub(" at 0x.*", "", repr(agent.act(act))) for act in range(3))
    except (Exception, Endless) as error:  # noqa: BLE001 - whatever a random program raises
        found.append(type(error).__name__)
    finally:
        sys.setprofile(before)
        del sys.modules["policy"]
    return found


def acting(body: str, before: str = "", inside: str = "") -> str:
    lines = [textwrap.dedent(before).strip(), "class Agent:"]
    lines += [textwrap.indent(textwrap.dedent(inside).strip("\n"), " ")] if inside else []
    return "\n".join([*lines, " def act(self, o):", textwrap.indent(textwrap.dedent(body), "  ")])


RENAMINGS = {
    "a built-in that is shadowed at times": (
        acting("return max(o, 1)", "if 0 > 1 - 1 + len('x'): max = min"),
        {"max": "most"},
    ),
    "a keyword that is data": (acting("return sorted(dict(b=o, a=1))[0]"), {"a": "c"}),
    "a keyword of a function": (acting("return f(**{'a': o})", "def f(a=1): return a"), {"a": "b"}),
    "a keyword of all": (
        acting("return f(**d)", "d = dict([('a', 4)])\ndef f(a=1): return a"),
        {"f": "g", "a": "b"},
    ),
    "getattr": (acting("self.ab = o\nreturn getattr(self, 'a' + chr(98), None)"), {"ab": "c"}),
    "getattr with a constant": (acting("self.ab = o\nreturn getattr(self, 'ab', 9)"), {"ab": "c"}),
    "vars": (acting("self.ab = o\nreturn list(vars(self))"), {"ab": "c"}),
    "__dict__": (acting("self.ab = o\nreturn list(self.__dict__)"), {"ab": "c"}),
    "globals": (acting("return [k for k in globals() if k == 'a' * 2]", "aa = 1"), {"aa": "b"}),
    "locals": (acting("a = 1\nreturn sorted(locals())"), {"a": "z"}),
    "eval": (acting("a = o\nreturn eval('a' + '+1')"), {"a": "z"}),
    "the text of an exception": (
        acting("try: return a\nexcept NameError as e: return str(e)\na = 1"),
        {"a": "zz"},
    ),
    "an exception's name": (
        acting("try: self.aa\nexcept AttributeError as e: return e.name\nself.aa = 1"),
        {"aa": "zz"},
    ),
    "the name of a function": (acting("return f.__name__", "def f(): 1"), {"f": "g"}),
    "the name of a class": (acting("return type(f()).__name__", "class f: 1"), {"f": "g"}),
    "the text of a class": (acting("return str(type(f()))", "class f: 1"), {"f": "g"}),
    "the text of a class, formatted": (acting("return f'{type(c())}'", "class c: 1"), {"c": "g"}),
    "the text of a class, by %": (acting("return '%s' % type(c())", "class c: 1"), {"c": "g"}),
    "the text of a dataclass": (
        acting(
            "return repr(P())",
            "from dataclasses import dataclass\n@dataclass\nclass P:\n a: int = 1",
        ),
        {"a": "b"},
    ),
    "a named tuple": (
        acting(
            "return P(1)._fields", "from typing import NamedTuple\nclass P(NamedTuple):\n a: int"
        ),
        {"a": "b"},
    ),
    "a named tuple made by a call": (
        acting("return P(4).a", "from collections import namedtuple\nP = namedtuple('P', 'a')"),
        {"a": "b"},
    ),
    "an enumeration": (
        acting("return E(1).name", "from enum import Enum\nclass E(Enum):\n A = 1"),
        {"A": "B"},
    ),
    "attrgetter": (
        acting(
            "self.ab = 5\nreturn attrgetter('a' + 'bc'[o * 0])(self)",
            "from operator import attrgetter",
        ),
        {"ab": "c"},
    ),
    "a format": (acting("self.ab = o\nreturn '{0.ab}'.format(self)"), {"ab": "c"}),
    "__slots__": (
        acting("self.ab = o\nreturn self.ab", inside="__slots__ = ('a' + 'b',)"),
        {"ab": "c"},
    ),
    "__getattr__": (
        acting("self.q = 1\nreturn self.ab", inside="def __getattr__(self, n): return n\nab: int"),
        {"ab": "c"},
    ),
    "private names": (acting("self.__ab = o\nreturn self._Agent__ab"), {"__ab": "__cd"}),
    "a star": (acting("return int(tau)", "from math import *\nif e < 0: tau = 1"), {"tau": "t"}),
    "a name of a list's method": (
        acting("return [A(), [3, 1]][o % 2].sort()", "class A:\n def sort(self): return 5"),
        {"sort": "order_it"},
    ),
    "self that is a list": (
        acting(
            "return Agent.look([4, 5, 6])",
            inside="def look(self): return self.index(5)\ndef index(self, x): return 9",
        ),
        {"index": "place"},
    ),
    "a class of two": (
        acting(
            "return type('D', (list, A), {})([7, 7]).twice()",
            "class A:\n def twice(self): return self.count(7)\n def count(self, x): return 0",
        ),
        {"count": "counted"},
    ),
    "keys": (
        acting(
            "return dict(A())",
            "class A:\n def keys(self): return 'ab'\n def __getitem__(self, k): return 1",
        ),
        {"keys": "words"},
    ),
    "a class pattern": (
        acting("match 3 + 1j:\n case complex(real=r): return r\nself.real = 1"),
        {"real": "unreal"},
    ),
    "__match_args__": (
        acting(
            "match A():\n case A(r): return r",
            "class A:\n __match_args__ = ('a' + 'b',)\n ab = 4\n def f(self): return self.ab",
        ),
        {"ab": "cd"},
    ),
    "setattr": (acting("setattr(self, 'a' * 2, 3)\nreturn self.aa\nself.aa = 1"), {"aa": "b"}),
    "a namespace": (
        acting(
            "n = SimpleNamespace(**{'a' * 2: 1})\nreturn n.aa\nn.aa = 2",
            "from types import SimpleNamespace",
        ),
        {"aa": "b"},
    ),
    "a written object": (
        acting(
            "print('x', file=self)\nreturn self.seen",
            inside="seen = 0\ndef write(self, text): self.seen = text",
        ),
        {"write": "say"},
    ),
    "a function's frame": (
        acting("g = (ab for ab in [1])\nreturn g.gi_code.co_varnames"),
        {"ab": "c"},
    ),
    "a metaclass": (
        acting(
            "return T.names",
            """
            class M(type):
                def __new__(m, name, bases, space):
                    made = type.__new__(m, name, bases, dict(space))
                    made.names = sorted(space)
                    return made
            class T(metaclass=M):
                ab = 1
            """,
        ),
        {"ab": "ba"},
    ),
}


@pytest.mark.parametrize(("source", "names"), RENAMINGS.values(), ids=RENAMINGS.keys())
def test_a_name_that_is_seen_counts(source: str, names: dict[str, str]) -> None:
    other = renamed(source, names)
    assert behaviour(source) != behaviour(other), (behaviour(source), other)
    assert digest(source) != digest(other)


HOOK = "class L(list):\n def __call__(self, f): self.append(1); return f\nlog = L()"
DIFFERENT = {
    "a property that acts": (
        acting(
            "self.x = 0\nreturn self.y",
            inside="y = 1\n@property\ndef x(self): 1\n@x.setter\ndef x(self, v): self.y = 5",
        ),
        [("  self.x = 0\n", "")],
    ),
    "a hook that sees attributes": (
        acting(
            "self.x = 0\nreturn Agent.y",
            inside="y = 1\ndef __setattr__(self, name, value): Agent.y += 1",
        ),
        [("  self.x = 0\n", "")],
    ),
    "an unused function whose decorator acts": (
        acting("return len(log)", f"{HOOK}\n@log\ndef unused(): 1"),
        [("@log\n", "")],
    ),
    "an unused function whose default acts": (
        acting("return len(log)", f"{HOOK}\ndef unused(a=log(1)): 1"),
        [("a=log(1)", "a=1")],
    ),
    "an unused argument whose annotation acts": (
        acting("return len(log)", f"{HOOK}\ndef unused(a: log(1)): 1"),
        [("a: log(1)", "a")],
    ),
    "a base that acts": (
        acting("return len(log)", f"{HOOK}\nclass Unused(log(object)): 1"),
        [("log(object)", "")],
    ),
    "a method that a base asks for": (
        acting(
            "return B().n",
            "from abc import ABC, abstractmethod\nclass A(ABC):\n"
            " n = 1\n @abstractmethod\n def f(self): 1\nclass B(A):\n def f(self): 2",
        ),
        [("\n def f(self): 2", " 2")],
    ),
    "members that are counted": (
        acting("return len(E)", "from enum import Enum\nclass E(Enum):\n A = 1\n B = 2"),
        [("\n B = 2", "")],
    ),
    "a field that is shown": (
        acting(
            "return repr(P())",
            "from dataclasses import dataclass\n@dataclass\nclass P:\n a: int = 1",
        ),
        [("a: int", "a")],
    ),
    "annotations that are read": (
        acting("return Agent.__annotations__", inside="a: int = 1"),
        [("a: int", "a")],
    ),
    "a docstring that is read": (acting("return Agent.__doc__", inside="'one'"), [("one", "1")]),
    "a module's docstring": (acting("return __doc__", "'one'"), [("one", "1")]),
    "an attribute for whoever asks": (
        acting("self.ab = 1\nreturn hasattr(self, 'a' + 'bc'[0 * o])"),
        [("  self.ab = 1\n", "")],
    ),
    "global": (
        acting("f()\nreturn n", "n = 1\ndef f():\n global n\n n = 2"),
        [("\n global n", "")],
    ),
    "nonlocal": (
        acting("n = 1\ndef f():\n  nonlocal n\n  n = 2\nf()\nreturn n"),
        [("    nonlocal n\n", "")],
    ),
    "a yield that is never reached": (
        acting("return f() is None", "def f():\n if 0: yield"),
        [("yield", "pass")],
    ),
    "a name that is local although nothing binds it": (
        acting("return f()", "n = 1\ndef f():\n if 0: n = 2\n return n"),
        [("n = 2", "pass")],
    ),
    "a name that is declared": (
        acting("return f()", "n = 1\ndef f():\n n: int\n return n"),
        [(" n: int\n", "")],
    ),
    "del": (acting("n = o\ndel n\nreturn n"), [("  del n\n", "")]),
    "the class's or the global name": (
        acting("return self.n", "n = 1", "if n > 1: n = 3\nn = n + 1"),
        [("if n > 1", "if 2 > 1")],
    ),
    "a comprehension in a class": (
        acting("return self.a", "n = 1", "n = 2\na = [n for _ in 'x']"),
        [("[n for _ in", "[n, *")],
    ),
    "the end of a handler": (
        acting("e = 1\ntry: 1 / 0\nexcept Exception as e: 1\nreturn e"),
        [("as e: 1", "as f: 1")],
    ),
    "functions of one name": (
        acting("return f()", "def f(): return 1\ndef f(): return 2"),
        [("return 1\ndef f(): return 2", "return 2\ndef f(): return 1")],
    ),
    "imports of one name": (
        acting("return x", "from math import e as x\nfrom math import pi as x"),
        [("e as x\nfrom math import pi as x", "pi as x\nfrom math import e as x")],
    ),
    "arguments in another order": (
        acting("return f(3, o)", "def f(a, b): return a - b"),
        [("f(a, b)", "f(b, a)")],
    ),
    "an argument that is used": (
        acting("return o"),
        [("o):", "o, n=2):"), ("return o", "return n")],
    ),
    "an argument that is filled": (
        acting("return self.act(1, 2) if o else o", inside="act = 0").replace(
            "(self, o)", "(self, o, n=0)"
        ),
        [("(self, o, n=0)", "(self, o)")],
    ),
    "a constant of another type": (acting("return 1"), [("1", "True")]),
    "a number of another type": (acting("return 1"), [("1", "1.0")]),
    "zeros": (acting("return 0.0"), [("0.0", "-0.0")]),
    "bytes": (acting("return 'a'"), [("'a'", "b'a'")]),
    "None and nothing": (acting("return o or None"), [("None", "()")]),
    "a computation that fails": (acting("return o or 1 // 0"), [("1 // 0", "1")]),
    "precedence": (acting("return 2 + 3 * o"), [("2 + 3 * o", "(2 + 3) * o")]),
    "where a call ends": (
        acting("return f(1, 2)()", "def f(a, b=0): return lambda c=0: (a, b, c)"),
        [("f(1, 2)()", "f(1)(2)")],
    ),
    "where a block ends": (acting("if o:\n o = 9\nreturn o"), [("  return o", "   return o")]),
    "else": (acting("if o: o = 3\nelse: o = 4\nreturn o"), [("else: o", "o")]),
    "else of a loop": (
        acting("for i in [1]:\n  break\nelse:\n  o = 7\nreturn o"),
        [("  else:\n    o", "  o")],
    ),
    "finally": (acting("try: return o + 1\nfinally: return o"), [("finally", "except E")]),
    "a NUL in a string": (acting("return 'a\\0b'"), [("'a\\0b'", "'a', 'b'")]),
    "a starred argument": (acting("return max(*[1, 4], o)"), [("*[1, 4]", "[1, 4][0]")]),
    "an operator of sets": (acting("return {o} | {1}"), [("|", "&")]),
    "await": (acting("return f().close()", "async def f(): 1"), [("async def", "def")]),
    "an object's class": (
        acting(
            "a = A()\na.__class__ = B\nreturn a.f()",
            "class A:\n def f(self): return 1\nclass B:\n def f(self): return 2",
        ),
        [("= B\n", "= A\n")],
    ),
    "a format's width": (acting("return f'{o:>3}'"), [(">3", ">4")]),
    "a format's conversion": (acting("return f'{str(o)!r}'"), [("!r", "!s")]),
}


@pytest.mark.parametrize(("source", "edits"), DIFFERENT.values(), ids=DIFFERENT.keys())
def test_what_behaves_differently_has_another_digest(
    source: str, edits: list[tuple[str, str]]
) -> None:
    other = edited(source, edits)
    assert behaviour(source) != behaviour(other), (behaviour(source), other)
    assert digest(source) != digest(other)


def test_generated_programs_of_one_digest_behave_alike() -> None:
    """Of random changes to random programs, about a third do nothing."""
    equal = acted = 0
    for seed in range(80):
        rng = random.Random(seed)
        source = Writer(rng).program()
        with contextlib.suppress(SyntaxError):
            known, acts = digest(source), behaviour(source)
            for _ in range(12):
                with contextlib.suppress(SyntaxError, tokenize.TokenError):
                    other = changed(source, rng)
                    if other != source and digest(other) == known:
                        equal += 1
                        acted += len(acts) == 3
                        assert behaviour(other) == acts, (source, other)
    assert equal > 100 and acted > 20


def modules() -> list[Path]:
    return sorted(STANDARD_LIBRARY.glob("*.py"))[::6]


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="symtable adds comprehensions to functions (PEP 709)"
)
@pytest.mark.parametrize("path", modules(), ids=lambda path: path.stem)
def test_scopes_are_pythons(path: Path) -> None:
    source = path.read_text("utf-8")
    mine: collections.Counter[tuple[str, frozenset[str]]] = collections.Counter()
    owners: dict[ast.AST, set[str]] = {}
    for variable in resolve(ast.parse(source)).of.values():
        if variable.owner is not None and not variable.name.startswith("__"):
            owners.setdefault(variable.owner, set()).add(variable.name)
    for owner, names in owners.items():
        mine["class" if isinstance(owner, ast.ClassDef) else "function", frozenset(names)] += 1
    theirs: collections.Counter[tuple[str, frozenset[str]]] = collections.Counter()
    waiting = [symtable.symtable(source, str(path), "exec")]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        local = {one.get_name() for one in table.get_symbols() if one.is_local()}
        local = {name for name in local if name.isidentifier() and "__" not in name[:2]}
        local -= {name for name in local if re.match("_[A-Za-z]+__", name)}  # mangled
        if local and table.get_type() != "module":
            theirs[str(table.get_type()), frozenset(local)] += 1
    assert mine == theirs


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.stem)
def test_any_program_has_a_digest_that_its_writing_does_not_change(path: Path) -> None:
    source = path.read_text("utf-8")
    assert re.fullmatch("2:[0-9a-f]{32}", digest(source))
    assert digest(ast.unparse(ast.parse(source))) == digest(source)


def test_the_library_is_listed() -> None:
    """What this Python and this numpy have, but for the few words that are newer than the list."""
    words = library.words_of_this_python()
    assert len(words - library.WORDS) < 0.02 * len(words)
    types_of_ours = (list, dict, set, str, int, float, tuple, collections.deque, random.Random)
    for kind in types_of_ours:
        assert {name for name in dir(kind) if name[0] != "_"} <= library.WORDS
    assert not {"_", "history", "table", "opponent"} & library.WORDS
