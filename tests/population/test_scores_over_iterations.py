"""Scores over iterations stand at the same place in everything that shows them."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

from click.testing import CliRunner

from arena import Arena
from arena.figures.text import number
from population.cli import main
from population.evolution import points_of, scored
from population.records import RunRecord
from population.report.facts import gather, sigmas_of
from population.runs import Runs


def report(arena: Arena, *words: str) -> str:
    wide = CliRunner(env={"COLUMNS": "200"})  # no cell of a table is broken into lines
    result = wide.invoke(main, ["report", "s1", *words, "--home", str(arena.home.path)])
    assert result.exit_code == 0
    return result.stdout


def test_scores_stand_at_the_number_of_iterations_that_ended(
    measured: Arena, tmp_path: Path
) -> None:
    """Everywhere alike: row k has those of the meta-strategy after iteration k."""
    runs = Runs(measured.home.path)
    facts = gather(measured, runs, "s1")
    sigmas = sigmas_of(facts.record, runs.iterations("s1"))
    points = dict(points_of(scored(facts.measured, sigmas), "AggScore"))
    assert list(points) == [0.0, 1.0, 2.0]  # as on the page and in evolution.csv
    assert facts.scores is not None
    assert points[2.0] == facts.scores.agg_score  # the final one is there
    values = [one.value for one in points.values()]

    document = json.loads(report(measured, "--json", "--csv", str(tmp_path)))
    assert document["initial_scores"]["agg_score"]["value"] == values[0]
    told = {one["k"]: one["scores"]["agg_score"]["value"] for one in document["iterations_told"]}
    assert told == {1: values[1], 2: values[2]}
    with open(tmp_path / "iterations.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["k"] for row in rows] == ["0", "1", "2"]
    assert [float(row["agg_score"]) for row in rows] == values
    assert rows[0]["u"] == rows[0]["accepted"] == ""

    column, lines = "AggScore after k [95 %]", report(measured).splitlines()
    while column not in lines[0]:
        del lines[0]
    head = lines.pop(0)
    place = head.index(column)
    shown = [line[place:].split()[0] for line in lines[:3]]
    assert [line.split()[0] for line in lines[:3]] == ["0", "1", "2"]
    assert shown == [number(value) for value in values]
    assert "tokens" not in head  # nobody asked a model


def test_a_run_that_goes_on_has_no_score_after_its_last_iteration_yet(measured: Arena) -> None:
    runs = Runs(measured.home.path)
    going_on = replace(runs.get("s1"), final=None)

    class GoingOn(Runs):
        def get(self, name: str) -> RunRecord:
            return going_on

    whole, part = gather(measured, runs, "s1"), gather(measured, GoingOn(measured.home.path), "s1")
    assert part.begun == whole.begun
    assert [step.scores for step in part.steps] == [whole.steps[0].scores, None]
    assert part.scores == whole.steps[0].scores
