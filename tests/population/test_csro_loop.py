"""The loop on a real home and a real sandbox: what a run leaves behind, and that it repeats."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from arena import Arena
from arena.analysis.meta_strategy import SOLVERS
from arena.errors import UsageFault
from arena.games import game
from arena.kinds.mixture import weights_of
from arena.values import SELECTING
from oracle.values import Failure, Rejected, Score
from population.comparison import title_of
from population.config import RunConfig
from population.errors import RunBusy, RunExists, UnknownRun
from population.evaluator import Evaluator, Lineage
from population.matches import Matches
from population.members import task_of
from population.records import RunState, Sigma
from population.report.facts import gather
from population.report.page import page
from population.runs import Runs
from registry.values import Status
from tests.population.scripted_oracles import SmallOracle
from tests.population.small_run import ITERATIONS, run_small, small_config, told


def test_same_seed_in_another_home_is_the_same_run(finished: Arena, arena: Arena) -> None:
    run_small(arena, "another-name", 1)
    assert told(arena.home.path, "another-name") == told(finished.home.path, "s1")


def test_another_seed_is_another_run(finished: Arena) -> None:
    assert told(finished.home.path, "s1") != told(finished.home.path, "s2")


def test_members_join_and_candidates_stay_candidates(finished: Arena) -> None:
    runs = Runs(finished.home.path)
    accepted = [one.accepted for one in runs.iterations("s1")]
    assert len(accepted) == ITERATIONS
    for k, one in enumerate(runs.iterations("s1"), 1):
        tried = finished.policies("rrps", name=f"csro/s1-k{k:02}")
        assert {version.digest for version in tried} == {
            attempt.digest for attempt in one.attempts if attempt.score
        }
        for version in tried:
            joined = version.digest in accepted
            assert version.status is (Status.QUALIFIED if joined else Status.CANDIDATE)
            responds = {p.digest for p in version.parents if p.relation == "responds-to"}
            assert responds == set(one.sigma.support)


def test_accepted_is_what_scored_best_and_failures_have_no_score(finished: Arena) -> None:
    for one in Runs(finished.home.path).iterations("s1"):
        best = max((a for a in one.attempts if a.score), key=lambda a: a.score.u)
        assert (one.accepted, True) == (best.digest, best.kept)
        kinds = [attempt.failure.kind for attempt in one.attempts if attempt.failure]
        assert kinds == [Rejected.FAULTY, Rejected.NOT_A_POLICY]
        assert all(a.score is None or a.failure is None for a in one.attempts)


def mean_against(
    arena: Arena, sigma: Sigma, digest: str, counts: Mapping[str, int], first: int
) -> tuple[float, bool]:
    """A policy's mean against sigma from so many stored matches, and whether all are stored."""
    wanted = {(digest, opponent): number for opponent, number in counts.items()}
    table = arena.exact_payoffs("rrps", (digest, *counts), wanted, first=first)
    place = table.index()
    u = sum(weight * table.mean[0, place[one]] for one, weight in sigma.support.items())
    return u, all(table.count[0, place[one]] == number for one, number in counts.items())


def test_scores_choose_by_matches_that_u_and_payoffs_do_not_come_from(finished: Arena) -> None:
    for one in Runs(finished.home.path).iterations("s2"):
        for attempt in one.attempts:
            if attempt.score is None:
                continue
            counts = {against.digest: against.matches for against in attempt.score.against}
            told = mean_against(finished, one.sigma, attempt.digest, counts, SELECTING)
            assert told == (pytest.approx(attempt.score.u), True)
            if attempt.digest == one.accepted:
                afresh = mean_against(finished, one.sigma, attempt.digest, counts, 0)
                assert afresh == (pytest.approx(one.u), True)
                assert one.u != attempt.score.u
            else:  # those of its trial at most
                table = finished.payoffs("rrps", (attempt.digest, *counts))
                assert table.count[0, 1:].sum() <= 2


def test_a_run_of_before_goes_on_by_its_own_rule(arena: Arena) -> None:
    document = small_config(1).to_document()
    del document["afresh"]
    before = RunConfig.from_document(document)
    assert not before.afresh
    assert before.pool != small_config(1).pool
    assert "chosen by the matches of its payoffs" in title_of(before)
    run_small(arena, "old", 1, iterations=1, afresh=False)
    (one,) = Runs(arena.home.path).iterations("old")
    assert one.u == max(attempt.score.u for attempt in one.attempts if attempt.score)
    assert {row.match.repetition for row in arena.matches("rrps", limit=None)} == set(range(8))
    with pytest.raises(RunExists, match="afresh is False there, True here"):
        Runs(arena.home.path).start("old", small_config(1, 1))


def test_final_sigma_solves_the_stored_table_and_is_registered(finished: Arena) -> None:
    record = Runs(finished.home.path).get("s1")
    assert record.state is RunState.FINISHED
    assert record.final is not None
    members = tuple(record.final.weights)
    pairs = {(a, b): 4 for i, a in enumerate(members) for b in members[i + 1 :]}
    table = finished.exact_payoffs("rrps", members, pairs)
    solved = SOLVERS["nash"](table.mean, table.stderr)
    assert np.allclose(solved.weights, list(record.final.weights.values()))
    version = finished.versions([record.mixture])[record.mixture]
    assert version.kind == "mixture"
    assert finished.policy("csro/s1", "rrps").digest == record.mixture
    for digest, weight in weights_of(version.payload).items():
        assert weight == pytest.approx(record.final.weights[digest], abs=1e-5)


def test_mixture_plays(finished: Arena) -> None:
    mixture = finished.policy("csro/s2", "rrps").digest
    bot = finished.policy("house/rockbot", "rrps").digest
    report = finished.play_pairs("rrps", {(mixture, bot): 4})
    assert (report.played + report.skipped, report.forfeits) == (4, 0)
    assert len(finished.matches("rrps", "csro/s2", against="house/rockbot")) == 4


def test_further_matches_of_the_same_pairs_do_not_change_a_run(
    finished: Arena, arena: Arena
) -> None:
    run_small(arena, "s1", 1, iterations=1)
    runs = Runs(arena.home.path)
    pair = (runs.get("s1").initial, runs.iterations("s1")[0].accepted)
    arena.play_pairs("rrps", {pair: 12})
    assert arena.payoffs("rrps", pair).count[0, 1] == 12
    assert arena.exact_payoffs("rrps", pair, {pair: 4}).count[0, 1] == 4
    run_small(arena, "longer", 1)
    assert told(arena.home.path, "longer") == told(finished.home.path, "s1")


def test_an_oracle_that_finds_nothing_leaves_the_population_as_it_is(arena: Arena) -> None:
    result = run_small(arena, "poor", 3, oracle=SmallOracle(empty_handed=("k01", "k02")))
    assert [member.label for member in result.members] == ["initial"]
    assert weights_of(result.mixture.payload) == {result.members[0].digest: 1.0}
    runs = Runs(arena.home.path)
    for one in runs.iterations("poor"):
        assert (one.accepted, one.u, one.stderr) == ("", None, None)
        kinds = [attempt.failure.kind for attempt in one.attempts if attempt.failure]
        assert kinds == [Rejected.FAULTY, Rejected.NOT_A_POLICY]
        assert all(a.failure.reason for a in one.attempts if a.failure)
    facts = gather(arena, runs, "poor")
    assert [step.rejected for step in facts.steps] == [{"faulty": 1, "not-a-policy": 1}] * 2
    html = page(facts)
    assert html.count("nothing joined") == html.count("1 faulty, 1 not-a-policy") == 2


def test_equal_mixtures_of_two_runs_answer_to_both_names(arena: Arena) -> None:
    nothing = SmallOracle(empty_handed=("k01",))
    for name in ("first", "second"):
        run_small(arena, name, 3, oracle=nothing, iterations=1)
    found = {arena.policy(ref, "rrps").digest for ref in ("csro/first", "second")}
    assert len(found) == 1


def test_tasks_do_not_depend_on_the_runs_name(finished: Arena) -> None:
    one = Runs(finished.home.path).iterations("s1")[1]
    members = run_small(finished, "s1", 1).members[:2]
    task = task_of(game("rrps"), small_config(1), members, one.sigma, 2)
    again = task_of(game("rrps"), small_config(1), members, one.sigma, 2)
    assert task == again
    assert [opponent.digest for opponent in task.opponents] == list(one.sigma.support)
    assert sum(opponent.weight for opponent in task.opponents) == pytest.approx(1.0)
    other = task_of(game("rrps"), small_config(2), members, one.sigma, 2)
    assert other.seed != task.seed


def test_a_task_names_the_members_that_sigma_does_not_play_newest_first(finished: Arena) -> None:
    members = run_small(finished, "s1", 1).members
    pure = Sigma({members[1].digest: 1.0, members[0].digest: 0.0}, 0.0, "nash")
    task = task_of(game("rrps"), small_config(1), members, pure, 4)
    assert [one.digest for one in task.opponents] == [members[1].digest]
    rest = [one.digest for one in members if one.digest != members[1].digest]
    assert [one.digest for one in task.others] == rest[::-1]
    assert {one.weight for one in task.others} == {0.0}


def test_a_member_that_sigma_does_not_play_cannot_join_again(finished: Arena) -> None:
    members = run_small(finished, "s1", 1).members
    sigma = Runs(finished.home.path).iterations("s1")[0].sigma
    task = task_of(game("rrps"), small_config(1), members[:1], sigma, 1)
    labels = {member.digest: member.label for member in members}
    matches = Matches(finished, game("rrps"))
    evaluate = Evaluator(matches, task, "csro/x", 4, lambda source: Lineage(), labels)
    refused, own = evaluate([members[1].source, members[0].source])
    assert isinstance(refused, Failure)
    assert refused.kind is Rejected.DUPLICATE
    assert "k01" in refused.reason
    assert isinstance(own, Score)
    assert own.u == 0.0


def test_runs_are_looked_up_with_good_errors(finished: Arena) -> None:
    runs = Runs(finished.home.path)
    with pytest.raises(UnknownRun, match="s1, s2"):
        runs.get("s3")
    with pytest.raises(RunExists, match="go on with it"):
        runs.start("s1", small_config(9))
    with pytest.raises(UsageFault, match="cannot name a run"):
        runs.start("<script>", small_config(9))
    with runs.working_on("s1"), pytest.raises(RunBusy), runs.working_on("s1"):
        pass
