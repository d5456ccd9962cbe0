"""Hidden opponents: who they are, what they weigh, and that a run with them repeats itself."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena import Arena, game
from arena.enrol import Enrolled
from arena.errors import UsageFault
from arena.games import GAMES
from arena.replay import Stored
from arena.submission import Rejection, prepare
from arena.values import SELECTING
from oracle.drafts import Draft
from oracle.grammar.genome import MARK, read_source
from oracle.values import Failure, Rejected, Score
from oracle.writer import WriterOptions, preview
from population.cli import main
from population.commands import command_of
from population.comparison import title_of
from population.config import RunConfig
from population.evaluator import Evaluator, Lineage
from population.hidden import STRANGERS, with_hidden
from population.launch import carry_out
from population.matches import Matches
from population.measuring import Measuring, measuring_for
from population.members import Member, task_of
from population.mutants import mutant
from population.records import Sigma
from population.runs import Runs
from tests.oracle.stated_returns import a_task, score_of
from tests.population.scripted_oracles import SmallOracle
from tests.population.small_run import small_config, told
from tests.population.test_exploit import ROCKS

SHARE = 0.3
CREDULOUS = 2
"""Of these there are fewer here: a program of the grammar takes ten times as long as the others."""
RETOLD = "retold.json"


@pytest.fixture(autouse=True, scope="module")
def few_are_credulous() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("population.hidden.CREDULOUS", CREDULOUS)
        yield


def run(arena: Arena, name: str, iterations: int = 3) -> RunConfig:
    config = replace(small_config(1, iterations), hidden_share=SHARE)
    runs = Runs(arena.home.path)
    runs.start(name, config)
    matches = Matches(arena, game("rrps"), shared=True)
    lineage = Lineage({"run": name})
    carry_out(runs, name, config, SmallOracle(drafts=2), lambda source: lineage, matches)
    return config


@pytest.fixture(scope="module")
def hidden_run(
    house: Path, made_once: Callable[..., Path], few_are_credulous: None
) -> Iterator[Arena]:
    """An arena with one finished run, "h", and how often that had each match retold."""

    def make(path: Path) -> None:
        shutil.copytree(house, path)
        retold: Counter[str] = Counter()
        with Arena(path, sandbox="process", workers=1) as arena:
            retell = arena.match

            def counted(match_id: str) -> Stored:
                retold[match_id] += 1
                return retell(match_id)

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(arena, "match", counted)
                run(arena, "h")
        (path / RETOLD).write_text(json.dumps(retold))

    with Arena(made_once("hidden", make), sandbox="process", workers=1) as arena:
        yield arena


def test_a_share_of_the_score_comes_from_hidden_opponents(hidden_run: Arena) -> None:
    for one in Runs(hidden_run.home.path).iterations("h"):
        for attempt in one.attempts:
            if attempt.score is None:
                continue
            sigma = one.sigma.support
            shown = {a.digest: a.mean for a in attempt.score.against if a.digest in sigma}
            hidden = [a for a in attempt.score.against if a.digest not in sigma]
            assert set(shown) == set(sigma)
            assert len(hidden) >= 2
            assert all(a.matches >= 4 or a.digest == attempt.digest for a in hidden)
            u = sum(sigma[digest] * mean for digest, mean in shown.items())
            among = sum(a.mean for a in hidden) / len(hidden)
            assert attempt.score.u == pytest.approx((1 - SHARE) * u + SHARE * among)


def test_what_is_reported_is_the_return_against_sigma_alone(hidden_run: Arena) -> None:
    for one in Runs(hidden_run.home.path).iterations("h"):
        (kept,) = (a for a in one.attempts if a.kept)
        assert kept.score is not None
        counts = {a.digest: a.matches for a in kept.score.against if a.digest in one.sigma.support}
        met = {row.match.repetition for row in hidden_run.matches("rrps", one.accepted, limit=None)}
        assert max(met) >= SELECTING
        wanted = {(one.accepted, digest): 8 for digest in counts}
        table = hidden_run.exact_payoffs("rrps", (one.accepted, *counts), wanted)
        u = sum(one.sigma.support[d] * table.mean[0, n] for n, d in enumerate(counts, 1))
        if all(8 * weight % 2 == 0 for weight in one.sigma.support.values()):
            assert one.u == pytest.approx(u)


def test_hidden_opponents_are_of_all_kinds_and_none_joins(hidden_run: Arena) -> None:
    runs = Runs(hidden_run.home.path)
    hidden = hidden_run.policies("rrps", name="csro/h-hidden")
    assert {one.status.value for one in hidden} == {"candidate"}
    mutants = {one.digest for one in hidden if one.parents}
    credulous = {one.digest for one in hidden if MARK in one.payload}
    strangers = {one.digest for one in hidden} - mutants - credulous
    iterations = runs.iterations("h")
    last = {a.digest for t in iterations[-1].attempts if t.score for a in t.score.against}
    tried = {t.digest for one in iterations[:-1] for t in one.attempts if t.score}
    accepted = {one.accepted for one in iterations}
    assert last & (tried - accepted)
    assert last & mutants
    assert last & strangers
    assert len(last & credulous) == CREDULOUS
    assert not accepted & {one.digest for one in hidden}


def test_each_match_is_retold_once(hidden_run: Arena) -> None:
    """Programs of the first iteration are looked at in the second and in the third."""
    retold = json.loads((hidden_run.home.path / RETOLD).read_text())
    (first, second, _) = Runs(hidden_run.home.path).iterations("h")
    tried = {
        one.digest
        for iteration in (first, second)
        for one in iteration.attempts
        if one.score is not None
    } - {first.accepted, second.accepted}
    assert tried
    seats = {seat for one in retold for seat in hidden_run.match(one).result.match.seats}
    assert tried <= seats
    assert set(retold.values()) == {1}


def test_a_hidden_member_cannot_join_again(hidden_run: Arena) -> None:
    """It is in the population, whatever it weighs in a score."""
    record = Runs(hidden_run.home.path).get("h")
    (first, *_) = Runs(hidden_run.home.path).iterations("h")
    versions = hidden_run.versions([record.initial, first.accepted])
    members = [
        Member(digest, label, versions[digest].payload)
        for digest, label in ((record.initial, "initial"), (first.accepted, "k01"))
    ]
    sigma = Sigma({members[0].digest: 1.0}, 0.0, "nash")
    task = task_of(game("rrps"), record.config, members, sigma, 2)
    task = replace(task, hidden=task.others, hidden_share=SHARE)
    labels = {member.digest: member.label for member in members}
    matches, lineage = Matches(hidden_run, game("rrps")), Lineage()
    evaluate = Evaluator(matches, task, "csro/x", 4, lambda source: lineage, labels, hidden=2)
    refused, own = evaluate([members[1].source, members[0].source])
    assert isinstance(refused, Failure)
    assert refused.kind is Rejected.DUPLICATE
    assert isinstance(own, Score)
    assert [one.digest for one in own.against] == [member.digest for member in members]
    assert [one.matches for one in own.against] == [0, 2]


def test_a_run_with_hidden_opponents_repeats_itself(hidden_run: Arena, arena: Arena) -> None:
    run(arena, "h", 1)
    first = told(arena.home.path, "h")["iterations"]
    assert first == told(hidden_run.home.path, "h")["iterations"][:1]


def test_without_a_share_nothing_is_hidden(arena: Arena) -> None:
    config = small_config(1)
    initial = Member(arena.policy("starter/rrps", "rrps").digest, "initial", "x = 0\n")
    task = task_of(game("rrps"), config, [initial], Sigma({initial.digest: 1.0}, 0.0, "nash"), 1)
    assert with_hidden(task, Matches(arena, game("rrps")), config, "r", ()) is task
    document = config.to_document()
    del document["hidden_share"], document["credulous"]
    assert RunConfig.from_document(document) == config
    other = replace(config, hidden_share=0.25)
    assert other.pool != config.pool
    assert "hidden share 0.25" in title_of(other)
    with pytest.raises(UsageFault, match="hidden_share"):
        replace(config, hidden_share=1.0)


def test_runs_of_before_met_each_hidden_opponent_four_times() -> None:
    config = RunConfig(
        "rrps", matches=measuring_for("rrps", hidden_share=SHARE), hidden_share=SHARE
    )
    assert config.matches == Measuring(8, 24, 2)
    assert RunConfig.from_document(config.to_document()) == config
    document = config.to_document()
    del document["matches"]["hidden"]
    before = RunConfig.from_document(document)
    assert before.matches == Measuring(8, 24, 4) and before.pool != config.pool
    assert title_of(before) == f"{title_of(config)}; 4 matches with each hidden one"
    assert command_of(before) == "" and command_of(config).endswith("--hidden-share 0.3")
    assert "4 matches each" in before.described()["Hidden opponents' share"]
    for few in (0, 1, 3):
        with pytest.raises(UsageFault, match=f"hidden is {few}"):
            Measuring(hidden=few)
    with pytest.raises(UsageFault, match="payoff is 0"):
        measuring_for("rrps", 0)  # which asks for none, and not for the usual number


def test_where_hands_are_dealt_two_deals_take_four_matches() -> None:
    assert measuring_for("leduc", hidden_share=SHARE).hidden == 4
    assert measuring_for("rrps").hidden == measuring_for("leduc").hidden == 4  # and means nothing


def test_runs_of_before_meet_no_credulous_players(arena: Arena) -> None:
    config = replace(small_config(1), matches=Measuring(4, 8, 2), hidden_share=SHARE)
    assert RunConfig.from_document(config.to_document()) == config
    document = config.to_document()
    del document["credulous"]
    before = RunConfig.from_document(document)
    assert not before.credulous and before.pool != config.pool
    assert title_of(before) == title_of(config).replace("share 0.3", "share 0.3; none credulous")
    assert command_of(before) == "" and "--hidden-share 0.3" in command_of(config)
    initial = Member(arena.policy("starter/rrps", "rrps").digest, "initial", ROCKS)
    task = task_of(game("rrps"), before, [initial], Sigma({initial.digest: 1.0}, 0.0, "nash"), 1)
    matches = Matches(arena, game("rrps"))
    met = {
        told.credulous: with_hidden(task, matches, told, "r", ()).hidden
        for told in (before, config)
    }
    assert met[True][:-CREDULOUS] == met[False]
    assert len({one.digest for one in met[True]}) == len(met[False]) + CREDULOUS
    for one in met[True][-CREDULOUS:]:
        assert read_source(one.source)


def test_a_game_without_a_grammar_has_no_credulous_players(arena: Arena) -> None:
    played = game("kuhn")
    config = replace(small_config(1), game="kuhn", hidden_share=SHARE)
    first = Member(arena.policy(played.starter.name, played).digest, "initial", "")
    task = task_of(played, config, [first], Sigma({first.digest: 1.0}, 0.0, "nash"), 1)
    hidden = with_hidden(task, Matches(arena, played), config, "r", ()).hidden
    assert len(hidden) == STRANGERS  # of a program without its text there are no mutants


def test_the_share_is_an_option_and_is_recorded(home: Path) -> None:
    words = "--game leduc --model grammar --oracle best-of-n --drafts 2 --iterations 1 --name few"
    counts = "--payoff-matches 4 --evaluation-matches 4 --sandbox process --workers 1"
    share = ["--hidden-share", "0.2", "--home", str(home)]
    done = CliRunner().invoke(main, ["run", *words.split(), *counts.split(), *share])
    assert done.exit_code == 0, done.stderr
    runs = Runs(home)
    assert runs.get("few").config.hidden_share == 0.2
    (one,) = runs.iterations("few")
    (kept,) = (attempt for attempt in one.attempts if attempt.kept)
    assert kept.score is not None
    # Sigma's only member, three mutants, three strangers, and the credulous.
    assert len(kept.score.against) == 7 + CREDULOUS


@pytest.mark.parametrize("name", sorted(GAMES))
def test_a_mutant_plays_and_is_another_program(name: str, arena: Arena) -> None:
    played = game(name)
    source = played.starter.source
    copies = [mutant(played, source, random.Random(seed)) for seed in (1, 1, 2)]
    assert copies[0] == copies[1] != copies[2]
    shifted = mutant(played, source, random.Random(1), 1)
    prepared = prepare(played, shifted, name="test/mutant")
    assert not isinstance(prepared, Rejection)
    assert prepared.description.startswith("A copy of another program")
    entered = arena.submit(shifted, played, "test/mutant")
    assert isinstance(entered, Enrolled)
    digest = entered.version.digest
    original = arena.policy(played.starter.name, played).digest
    report = arena.play_pairs(played, {(digest, original): 4})
    assert (report.played + report.skipped, report.forfeits) == (4, 0)


def test_a_shifted_copy_does_what_nobody_who_foresees_the_program_expects(arena: Arena) -> None:
    rock = ROCKS.format(throw="ROCK")
    played = game("rrps")
    entered = arena.submit(mutant(played, rock, random.Random(1), 2), played, "test/shifted")
    assert isinstance(entered, Enrolled)
    digest = entered.version.digest
    arena.play_pairs(played, {(digest, arena.policy("house/rockbot", played).digest): 2})
    (row, _) = arena.matches(played, "test/shifted", against="house/rockbot", limit=None)[:2]
    made = [one.action for one in arena.match(row.id).decisions(digest)]
    assert made.count(played.actions.index("SCISSORS")) > 850


def test_a_mutant_changes_constants_and_no_text() -> None:
    texts = (
        '"""Plays 0.5 of the time, \'0.7\' else."""',
        "Y = '0.25 \\' 0.75' + \"0.5\"",
        "# was 0.3",
    )
    source = "\n".join((*texts, "A, B, C, D = 0.5, 1.0, 12.5, x.0"))
    copies = [mutant(game("rrps"), source, random.Random(seed)) for seed in range(20)]
    drawn = []
    for copy in copies:
        *kept, line = copy.splitlines()[:4]
        assert tuple(kept) == texts
        numbers = line.removeprefix("A, B, C, D = ").split(", ")
        assert numbers.pop() == "x.0"
        drawn.append([float(one) for one in numbers])
        assert all("." in one or "e" in one for one in numbers), "a float is a float"
    assert all(0.3 < a <= 0.8 and 0.6 < b <= 1.0 and 7.8 < c < 20.1 for a, b, c in drawn)
    assert len({tuple(one) for one in drawn}) == 20


def test_a_shift_by_all_actions_is_none() -> None:
    """Two actions: two places further in their list is the action itself."""
    two = game("kuhn")
    said = [mutant(two, "class Agent: ...", random.Random(1), shift) for shift in range(3)]
    assert ["another action" in one for one in said] == [False, True, False]


def test_a_mutant_leaves_the_program_s_own_names_alone(arena: Arena) -> None:
    source = """from random import choice, random


class Agent:
    def act(self, observation):
        return "ROCK" if random() < 0.5 else choice(["ROCK", "PAPER"])
"""
    played = game("rrps")
    entered = arena.submit(mutant(played, source, random.Random(1)), played, "test/names")
    assert isinstance(entered, Enrolled)


def test_the_prompt_says_how_generality_is_scored() -> None:
    task = a_task(0.6, 0.4)
    (stranger,) = a_task(1.0).opponents
    stranger = replace(stranger, digest="f" * 32, source="SECRET = 1\n", weight=0.0)
    hidden = replace(task, hidden=(stranger,), hidden_share=0.25)
    assert hidden.weights == {
        task.opponents[0].digest: pytest.approx(0.45),
        task.opponents[1].digest: pytest.approx(0.3),
        "f" * 32: 0.25,
    }
    score = score_of(hidden, 3.0)
    part = replace(score.against[0], digest="f" * 32, mean=-50.0)
    score = Score(-10.25, 1.0, (*score.against, part))
    text = preview(hidden, Draft("a01", "x = 1\n", score), WriterOptions()).text
    assert "25% of it is the mean return" in text
    assert "| hidden | 25% of the score | -50.00 | 1.00 | 64 |" in text
    assert "SECRET" not in text and "hidden:" not in text
    sorts = {"e" * 32: "tried", "f" * 32: "credulous", "a" * 32: "tried", "b" * 32: "older"}
    of_sorts = tuple(replace(stranger, digest=one, group=sort) for one, sort in sorts.items())
    means = zip(sorts, (10.0, -50.0, 30.0), strict=False)  # the older one was not met
    met = tuple(replace(part, digest=one, mean=mean, stderr=6.0) for one, mean in means)
    hidden = replace(task, hidden=of_sorts, hidden_share=0.25)
    score = Score(0.0, 1.0, (*score_of(task, 3.0).against, *met))
    text = preview(hidden, Draft("a01", "x = 1\n", score), WriterOptions()).text
    assert "| hidden | 25% of the score, 3 met | -3.33 | 3.46 | 192 |\n" in text
    assert "| hidden: tried | 2 of 4 hidden | +20.00 | 4.24 | 128 |\n" in text
    assert "| hidden: credulous | 1 of 4 hidden | -50.00 | 6.00 | 64 |" in text
    assert "hidden: older" not in text
    assert "generality" not in preview(task, Draft("a00"), WriterOptions()).text
