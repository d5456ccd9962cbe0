"""Editions: short digests that change with what the grammar or the prompts write."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from oracle import prompts
from oracle.grammar.edition import edition
from oracle.grammar.genome import GRAMMARS


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    edition.cache_clear()
    yield
    edition.cache_clear()


@pytest.mark.parametrize("game", GRAMMARS)
def test_an_edition_is_the_same_in_every_process(game: str) -> None:
    code = f"from oracle.grammar.edition import edition; print(edition({game!r}))"
    told = [
        subprocess.check_output(
            [sys.executable, "-c", code], text=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).strip()
        for seed in ("1", "2")
    ]
    assert told == [edition(game)] * 2
    assert len(edition(game)) == 12


GRAMMAR = GRAMMARS["rrps"]
CHANGES = {
    "full": lambda: GRAMMAR.single(random.Random(1)),
    "draw": GRAMMAR.single,
    "grow": lambda sentence, rng: sentence,
    "mutate": lambda sentence, rng: sentence,
    "credulous": GRAMMAR.single,
    "render": lambda *told: f"{GRAMMAR.render(*told)}# more\n",
}
"""An operation of the grammar -> another one in its place."""


@pytest.mark.parametrize("operation", CHANGES)
def test_a_grammar_that_writes_something_else_is_another_edition(
    monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    before = edition("rrps")
    edition.cache_clear()
    changed = {**GRAMMARS, "rrps": replace(GRAMMAR, **{operation: CHANGES[operation]})}
    for module in ("genome", "edition"):  # where programs are rendered, and where they are drawn
        monkeypatch.setattr(f"oracle.grammar.{module}.GRAMMARS", changed)
    assert edition("rrps") != before


def test_prompts_are_told_by_their_version_and_digest() -> None:
    assert prompts.edition() == f"{prompts.VERSION}-{prompts.digest()[:12]}"
