"""What makes a run the one that it is: options that do nothing have no part in it."""

from __future__ import annotations

from dataclasses import replace

from population.commands import command_of
from population.config import OracleChoice, RunConfig
from population.measuring import measuring_for
from population.reproduction import fills

NOTHING_SHOWN = "CSRO ZeroShot (none; none)"
"""A row of the paper: no opponents, and no filter."""


def test_what_shows_no_opponent_has_one_filter_in_its_identity() -> None:
    config = RunConfig("rrps", OracleChoice("linear", "gemini:m", "none"))
    document = config.to_document()
    assert document["oracle"]["shown"] == "all"
    for filtered in ("top-k:5", "min-support:0.05"):  # as runs of before were stored
        document["oracle"]["shown"] = filtered
        before = RunConfig.from_document(document)
        assert before == config and before.pool == config.pool
    assert config.variant == "linear, M 10, gemini:m, none"
    assert "Opponents shown" not in config.described()
    assert "--opponents none" in command_of(config) and "--filter" not in command_of(config)
    assert fills(RunConfig("rrps", OracleChoice("zero-shot", "gemini:m", "none")), NOTHING_SHOWN)


def test_a_share_that_chooses_nothing_pools_runs_of_the_grammar() -> None:
    config = RunConfig("rrps", OracleChoice("zero-shot", "grammar"))
    matches = measuring_for("rrps", hidden_share=0.5)
    shared = replace(config, hidden_share=0.5, matches=matches)
    assert config.pool == shared.pool
    assert "--hidden-share" not in command_of(shared)
    assert "Hidden opponents' share" not in shared.described()
    by_model = replace(config.oracle, model="gemini:m")  # its prompts tell of the share
    assert replace(config, oracle=by_model).pool != replace(shared, oracle=by_model).pool
