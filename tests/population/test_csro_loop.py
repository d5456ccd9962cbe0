"""The loop on a real home and a real sandbox: what a run leaves behind, and that it repeats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from arena.play import PlayOptions, play_pairs
from population.payoff import exact_payoffs

from arena.analysis.meta_strategy import SOLVERS
from arena.errors import UsageFault
from arena.games import game
from arena.home import Home, open_home
from arena.kinds.mixture import weights_of
from arena.standings import payoff_table
from oracle.values import Failure, Rejected, Score
from population.errors import RunBusy, RunExists, UnknownRun
from population.evaluator import Evaluator, Lineage
from population.matches import Matches
from population.members import task_of
from population.records import RunState
from population.report.facts import gather
from population.report.page import page
from population.runs import Runs
from registry.values import Status
from sandbox.choose import WallChoice
from tests.population.scripted_oracles import SmallOracle
from tests.population.small_run import ITERATIONS, run_small, small_config, told


def test_same_seed_in_another_home_is_the_same_run(finished_home: Home, tmp_path: Path) -> None:
    home = open_home(tmp_path)
    run_small(home, "another-name", 1)
    assert told(home, "another-name") == told(finished_home, "s1")


def test_another_seed_is_another_run(finished_home: Home) -> None:
    assert told(finished_home, "s1") != told(finished_home, "s2")


def test_members_join_and_candidates_stay_candidates(finished_home: Home) -> None:
    runs = Runs(finished_home.path)
    accepted = [one.accepted for one in runs.iterations("s1")]
    assert len(accepted) == ITERATIONS
    for k, one in enumerate(runs.iterations("s1"), 1):
        tried = finished_home.registry.find("rrps", name=f"csro/s1-k{k:02}")
        assert {version.digest for version in tried} == {
            attempt.digest for attempt in one.attempts if attempt.score
        }
        for version in tried:
            joined = version.digest in accepted
            assert version.status is (Status.QUALIFIED if joined else Status.CANDIDATE)
            responds = {p.digest for p in version.parents if p.relation == "responds-to"}
            assert responds == set(one.sigma.support)


def test_accepted_is_what_scored_best_and_failures_have_no_score(finished_home: Home) -> None:
    for one in Runs(finished_home.path).iterations("s1"):
        scores = [attempt.score for attempt in one.attempts if attempt.score]
        assert one.u == max(score.u for score in scores)
        kinds = [attempt.failure.kind for attempt in one.attempts if attempt.failure]
        assert kinds == [Rejected.FAULTY, Rejected.NOT_A_POLICY]
        assert all(a.score is None or a.failure is None for a in one.attempts)


def test_score_is_sigmas_mean_of_stored_matches(finished_home: Home) -> None:
    rrps = game("rrps")
    for one in Runs(finished_home.path).iterations("s2"):
        for attempt in one.attempts:
            if attempt.score is None:
                continue
            wanted = {(attempt.digest, a.digest): a.matches for a in attempt.score.against}
            digests = (attempt.digest, *one.sigma.support)
            table = exact_payoffs(finished_home.store, rrps, digests, wanted)
            u = sum(
                weight * table.mean[0, table.index()[digest]]
                for digest, weight in one.sigma.support.items()
            )
            assert attempt.score.u == pytest.approx(u)


def test_final_sigma_solves_the_stored_table_and_is_registered(finished_home: Home) -> None:
    record = Runs(finished_home.path).get("s1")
    assert record.state is RunState.FINISHED
    assert record.final is not None
    members = tuple(record.final.weights)
    pairs = {(a, b): 4 for i, a in enumerate(members) for b in members[i + 1 :]}
    table = exact_payoffs(finished_home.store, game("rrps"), members, pairs)
    solved = SOLVERS["nash"](table.mean, table.stderr)
    assert np.allclose(solved.weights, list(record.final.weights.values()))
    version = finished_home.registry.by_digests([record.mixture])[record.mixture]
    assert version.kind == "mixture"
    assert finished_home.registry.get("rrps", "csro/s1").digest == record.mixture
    for digest, weight in weights_of(version.payload).items():
        assert weight == pytest.approx(record.final.weights[digest], abs=1e-5)


def test_mixture_plays(finished_home: Home) -> None:
    mixture = finished_home.registry.get("rrps", "csro/s2").digest
    bot = finished_home.registry.get("rrps", "house/rockbot").digest
    options = PlayOptions(4, workers=1, wall=WallChoice("process"))
    report = play_pairs(finished_home, game("rrps"), [(mixture, bot)], options)
    assert report.played == 4
    assert report.forfeits == 0


def test_further_matches_of_the_same_pairs_do_not_change_a_run(
    finished_home: Home, tmp_path: Path
) -> None:
    home = open_home(tmp_path)
    run_small(home, "s1", 1, iterations=1)
    first, second = Runs(home.path).get("s1").initial, Runs(home.path).iterations("s1")[0].accepted
    options = PlayOptions(12, workers=1, wall=WallChoice("process"))
    play_pairs(home, game("rrps"), [(first, second)], options)
    assert payoff_table(home, game("rrps"), [first, second]).count[0, 1] == 12
    assert (
        exact_payoffs(home.store, game("rrps"), (first, second), {(first, second): 4}).count[0, 1]
        == 4
    )
    run_small(home, "longer", 1)
    reference = told(finished_home, "s1")
    assert told(home, "longer") == reference


def test_an_oracle_that_finds_nothing_leaves_the_population_as_it_is(tmp_path: Path) -> None:
    home = open_home(tmp_path)
    result = run_small(home, "poor", 3, oracle=SmallOracle(empty_handed=("k01", "k02")))
    assert [member.label for member in result.members] == ["initial"]
    assert weights_of(result.mixture.payload) == {result.members[0].digest: 1.0}
    for one in Runs(home.path).iterations("poor"):
        assert (one.accepted, one.u, one.stderr) == ("", None, None)
        kinds = [attempt.failure.kind for attempt in one.attempts if attempt.failure]
        assert kinds == [Rejected.FAULTY, Rejected.NOT_A_POLICY]
        assert all(a.failure.reason for a in one.attempts if a.failure)
    facts = gather(home, Runs(home.path), "poor")
    assert [step.rejected for step in facts.steps] == [{"faulty": 1, "not-a-policy": 1}] * 2
    html = page(facts)
    assert html.count("nothing joined") == html.count("1 faulty, 1 not-a-policy") == 2


def test_equal_mixtures_of_two_runs_answer_to_both_names(tmp_path: Path) -> None:
    home = open_home(tmp_path)
    nothing = SmallOracle(empty_handed=("k01",))
    for name in ("first", "second"):
        run_small(home, name, 3, oracle=nothing, iterations=1)
    found = {home.registry.get("rrps", ref).digest for ref in ("csro/first", "second")}
    assert len(found) == 1


def test_tasks_do_not_depend_on_the_runs_name(finished_home: Home) -> None:
    runs = Runs(finished_home.path)
    one = runs.iterations("s1")[1]
    members = run_small(finished_home, "s1", 1).members[:2]
    task = task_of(game("rrps"), small_config(1), members, one.sigma, 2)
    again = task_of(game("rrps"), small_config(1), members, one.sigma, 2)
    assert task == again
    assert [opponent.digest for opponent in task.opponents] == list(one.sigma.support)
    assert sum(opponent.weight for opponent in task.opponents) == pytest.approx(1.0)
    other = task_of(game("rrps"), small_config(2), members, one.sigma, 2)
    assert other.seed != task.seed


def test_a_member_that_sigma_does_not_play_cannot_join_again(finished_home: Home) -> None:
    members = run_small(finished_home, "s1", 1).members
    sigma = Runs(finished_home.path).iterations("s1")[0].sigma
    task = task_of(game("rrps"), small_config(1), members[:1], sigma, 1)
    labels = {member.digest: member.label for member in members}
    with Matches(finished_home, game("rrps"), 1, WallChoice("process")) as matches:
        evaluate = Evaluator(matches, task, "csro/x", 4, lambda source: Lineage(), labels)
        refused, own = evaluate([members[1].source, members[0].source])
    assert isinstance(refused, Failure)
    assert refused.kind is Rejected.DUPLICATE
    assert "k01" in refused.reason
    assert isinstance(own, Score)
    assert own.u == 0.0


def test_runs_are_looked_up_with_good_errors(finished_home: Home) -> None:
    runs = Runs(finished_home.path)
    with pytest.raises(UnknownRun, match="s1, s2"):
        runs.get("s3")
    with pytest.raises(RunExists, match="csro resume s1"):
        runs.start("s1", small_config(9))
    with pytest.raises(UsageFault, match="cannot name a run"):
        runs.start("<script>", small_config(9))
    with runs.working_on("s1"), pytest.raises(RunBusy), runs.working_on("s1"):
        pass
