"""What a source uses and defines nowhere, and what stands in it twice."""

from __future__ import annotations

import ast

import pytest

from arena import game
from arena.loose_ends import doubled, loose_end
from arena.source_check import check_source, read_program

WHOLE = '''
from __future__ import annotations

import random
from collections import deque as ring

BEATS = {"ROCK": "PAPER"}


class Base:
    def shared(self):
        return 1


class Agent:
    """Uses what there is."""

    table = [row for row in range(3)]

    def __init__(self):
        self.seen = ring(maxlen=3)
        self.count: int = 0
        self.count += 1

    def act(self, observation: Unknown) -> Unknown:
        try:
            first, *rest = [1]
        except ValueError as error:
            print(error, __name__)
        with open("x") as file:
            pass
        match observation:
            case {"a": a, **more}:
                return a, more
        if (found := self.helper(self.table)) and self.__class__:
            return BEATS[random.choice(found)], rest, first, lambda x: x, file
        return self.seen

    def helper(self, rows):
        return {key: value for key, value in zip(rows, rows)}
'''


def end(source: str) -> str:
    return loose_end(ast.parse(source), "Agent")


def test_a_whole_program_has_no_loose_end() -> None:
    assert end(WHOLE) == ""


@pytest.mark.parametrize(
    ("written", "instead", "said"),
    [
        ("import random", "", "line 36: the name random is defined nowhere"),
        ('BEATS = {"ROCK": "PAPER"}', "", "line 36: the name BEATS is defined nowhere"),
        ("self.__class__", "strange", "line 35: the name strange is defined nowhere"),
        ("return self.seen", "return len(rests)", "line 37: the name rests is defined nowhere"),
    ],
)
def test_a_name_that_nothing_defines_is_told(written: str, instead: str, said: str) -> None:
    assert end(WHOLE.replace(written, instead)) == said


@pytest.mark.parametrize(
    "more", ["from math import *", "exec('y = 1')", "globals()['y'] = 1", "y = 1", "import y.z"]
)
def test_a_name_that_may_come_from_anywhere_is_not_told(more: str) -> None:
    assert "the name y" in end("def f():\n    return y\n")
    assert end(f"{more}\ndef f():\n    return y\n") == ""


AGENT = "class Agent:\n    def act(self, o):\n        return self.plan\n"


def test_an_attribute_that_nothing_sets_is_told() -> None:
    assert end(AGENT) == "line 3: self.plan is set nowhere"
    assert end(AGENT.replace("self", "me")) == "line 3: me.plan is set nowhere"


@pytest.mark.parametrize(
    "source",
    [
        AGENT.replace("class Agent:", "class Agent(dict):"),
        AGENT.replace("class Agent:", "class Agent(metaclass=M):\n    M = type"),
        AGENT.replace("class Agent:", "def mark(a):\n    return a\n@mark\nclass Agent:"),
        AGENT.replace("class Agent:", "class Agent:\n    plan = 1"),
        AGENT.replace("class Agent:", "class Agent:\n    plan: int"),
        AGENT + "    def plan(self): pass\n",
        AGENT + "    def __init__(self): self.plan = 1\n",
        AGENT + "    def __init__(self): setattr(self, 'pl' + 'an', 1)\n",
        AGENT + "    def __init__(self): self.__dict__.update(plan=1)\n",
        AGENT + "    def __getattr__(self, name): return 1\n",
        AGENT + "Agent.plan = 3\n",
        AGENT.replace("def act", "@staticmethod\n    def act"),
        AGENT.replace("self.plan", "self.plan if hasattr(self, 'plan') else 1"),
        AGENT.replace("self, o", "self, /, plan").replace("self.plan", "plan.get(1)"),
        AGENT + "    def __init__(self): object.__setattr__(self, 'plan', 1)\n",
        AGENT.replace("self.plan", "(lambda self: self.plan)(o)"),
        AGENT.replace(
            "return self.plan", "\n        class A(dict):\n            def f(self): self.plan"
        ),
        "class Agent:\n    def __new__(cls):\n        return cls.__name__\n",
    ],
)
def test_an_attribute_that_may_be_set_is_not_told(source: str) -> None:
    assert "is set nowhere" not in end(source)


def test_what_stands_twice_in_one_body_is_told() -> None:
    twice = (
        "def f(): pass\ndef f(): pass\nclass Agent:\n    def a(self): pass\n    def a(self): pass\n"
    )
    assert doubled(ast.parse(twice)) == ("f", "Agent.a")
    fine = (
        "if x:\n    def f(): pass\nelse:\n    def f(): pass\n"
        "class A:\n    @property\n    def v(self): pass\n    @v.setter\n    def v(self, v): pass\n"
        "    def f(self): pass\nclass B:\n    def f(self): pass\ndef _(): pass\ndef _(): pass\n"
    )
    assert doubled(ast.parse(fine)) == ()


def test_long_names_and_many_are_told_in_part() -> None:
    long = "n" * 20_000
    methods = "".join(f"    def m{n}(self): pass\n" * 2 for n in range(400))
    source = f"class {long}:\n{methods}class Agent:\n    def act(self, o): return {long[1:]}\n"
    reading = read_program(source, game("rrps").contract)
    assert reading.rejection is None
    assert len(reading.loose_end) < 200
    assert len(reading.doubled) == 20 and len(reading.doubled[0]) < 300


def test_a_reading_tells_both_and_refuses_neither() -> None:
    contract = game("rrps").contract
    source = (
        "class Agent:\n    def act(self, o):\n        return y\n    def act(self, o): return z\n"
    )
    reading = read_program(source, contract)
    assert reading.loose_end == "line 3: the name y is defined nowhere"
    assert reading.doubled == ("Agent.act",)
    assert check_source(source, contract) is None
    assert read_program("class Agent(:", contract).loose_end == ""
