"""What a run may not show a model of the opponents, no prompt shows: whatever the oracle."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from oracle.describe import FIELDS
from oracle.models.protocol import Request
from oracle.values import Task
from population.config import ORACLES, OracleChoice, RunConfig
from population.oracles import Spending, workshop
from population.runs import Runs
from tests.oracle.scripted_model import ScriptedModel
from tests.oracle.stated_returns import RRPS, Evaluation, opponents, program

DESCRIBED = json.dumps(dict.fromkeys(FIELDS, "plays one throw for ever"))
MARKS = [f"NAME = 'opponent{place}'" for place in range(2)]
"""A line that only an opponent's program has."""


def asked_by(oracle: str, shown: str, folder: Path) -> list[Request]:
    """Everything that a variant asks a model whose programs lose, some of them broken."""
    number = itertools.count()

    def answer(request: Request) -> str:
        if request.key.startswith("describe/"):
            return DESCRIBED
        place = next(number)
        if place % 5 == 3:
            return "no code at all"
        return f"```python\n{program(-9.0 + place / 16, f'mine{place}', faulty=place % 7 == 4)}```"

    model = ScriptedModel(answer)
    runs = Runs(folder)
    choice = OracleChoice(oracle, "gemini:made-up", shown, "all", refinements=6, drafts=4)
    record = runs.start("run", RunConfig("rrps", choice))
    first, second = opponents(0.75, 0.25)
    task = Task(RRPS, (first, second), first.source, 7, "k03")
    workshop(runs, record, Spending(), model).oracle.respond(task, Evaluation(task))
    return model.requests


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("shown", ["none", "description"])
def test_no_prompt_holds_an_opponents_program(oracle: str, shown: str, tmp_path: Path) -> None:
    requests = asked_by(oracle, shown, tmp_path)
    writing = [one for one in requests if not one.key.startswith("describe/")]
    describing = [one for one in requests if one.key.startswith("describe/")]
    assert len(writing) > (0 if oracle == "zero-shot" else 3)
    assert len(describing) == (2 if shown == "description" else 0)
    for request in writing:
        text = f"{request.system}\n{request.prompt}"
        assert not [mark for mark in MARKS if mark in text], request.key
    if shown == "description":
        assert "plays one throw for ever" in writing[0].prompt


@pytest.mark.parametrize("oracle", ORACLES)
def test_with_code_every_prompt_holds_them(oracle: str, tmp_path: Path) -> None:
    for request in asked_by(oracle, "code", tmp_path):
        assert all(mark in request.prompt for mark in MARKS), request.key
