"""Budgets of matches that go where they decide something: all spent, and the same every time."""

import pytest
from click.testing import CliRunner

from arena.cli import main
from arena.errors import UsageFault
from arena.house.population import population_of
from arena.kinds.mixture import payload_of
from registry.values import Status, Submission


@pytest.fixture
def new_kuhn(new_arena):
    """Arenas in which the house plays Kuhn poker alone."""

    def make(place):
        arena = new_arena(place)
        arena.withdraw("starter/kuhn", "kuhn")
        return arena

    return make


def stored(arena):
    return {row.id: row.return_low for row in arena.matches("kuhn", limit=None)}


@pytest.mark.parametrize("focus", ["leaderboard", "nash"])
def test_the_budget_is_spent_unevenly_and_once(new_kuhn, focus):
    arena = new_kuhn(focus)
    report = arena.play("kuhn", 1_000, focus=focus, budget=120)
    assert (report.played, report.skipped, report.left) == (120, 0, 0)
    again = arena.play("kuhn", 1_000, focus=focus, budget=120)
    assert (again.played, again.skipped) == (0, 120)
    table = arena.payoffs(
        "kuhn", [v.digest for v in arena.policies("kuhn", status=Status.QUALIFIED)]
    )
    met = table.count[table.count > 0]
    assert met.min() >= 8
    # As many to all would be 20; who is open gets more than thrice what it began with.
    assert met.max() >= 28 and (met == met.max()).sum() < len(met) / 2
    assert (met % 2 == 0).all()


def test_interrupted_and_enlarged_it_goes_on_where_it_was(new_kuhn):
    straight, cut = new_kuhn("straight"), new_kuhn("cut")
    straight.play("kuhn", 1_000, focus="leaderboard", budget=96)

    def stop(done, wanted):
        if done > 60:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cut.play("kuhn", 1_000, focus="leaderboard", budget=96, progress=stop)
    assert 0 < len(stored(cut)) < 96
    cut.play("kuhn", 1_000, focus="leaderboard", budget=96)
    assert stored(cut) == stored(straight)
    cut.play("kuhn", 1_000, focus="leaderboard", budget=112)
    assert stored(straight).items() < stored(cut).items()


def mixed(arena, **weights):
    members = {arena.policy(f"house/{name}", "kuhn").digest: w for name, w in weights.items()}
    submission = Submission("kuhn", "ada/mixed", "mixture", payload_of(members))
    return arena.register(submission, ours=True).digest


@pytest.mark.parametrize("focus", ["leaderboard", "nash"])
def test_members_that_are_no_entrants_play_for_their_mixture(new_kuhn, focus):
    arena = new_kuhn(focus)
    mixture = mixed(arena, AlwaysPass=0.5, NeverBluffs=0.5)
    gone = [arena.policy(f"house/{name}", "kuhn").digest for name in ("AlwaysPass", "NeverBluffs")]
    for digest in gone:  # they meet the entrants, and never each other
        arena.withdraw(digest, "kuhn")
    report = arena.play("kuhn", 1_000, focus=focus, budget=64)
    assert (report.played, report.left) == (64, 0)
    entrants = [v.digest for v in arena.policies("kuhn", status=Status.QUALIFIED)]
    assert mixture in entrants
    assert not arena.payoffs("kuhn", entrants).missing()
    assert arena.payoffs("kuhn", gone).missing()


def test_a_mixtures_budget_goes_to_the_member_with_the_share(new_kuhn):
    arena = new_kuhn("share")
    mixture = mixed(arena, AlwaysPass=0.05, NeverBluffs=0.95)
    for name in ("AlwaysPass", "NeverBluffs"):
        arena.withdraw(f"house/{name}", "kuhn")
    arena.play("kuhn", 1_000, focus="nash", budget=100)
    rare, heavy, other = (
        arena.policy(f"house/{name}", "kuhn").digest
        for name in ("AlwaysPass", "NeverBluffs", "Kuhn1950")
    )
    count = arena.payoffs("kuhn", [rare, heavy, other, mixture]).count
    assert 8 <= count[0, 2] < count[1, 2] / 5


def test_without_another_word_a_pair_may_get_all_of_the_budget(new_kuhn):
    named, silent = new_kuhn("named"), new_kuhn("silent")
    named.play("kuhn", 80, focus="nash", budget=80)
    silent.play("kuhn", focus="nash", budget=80)
    assert stored(silent) == stored(named)
    counts = silent.payoffs("kuhn", list(population_of("kuhn", None).digests)).count
    assert counts.max() > 16


@pytest.mark.parametrize("share", [1, 2, 12])
def test_no_pair_gets_more_than_its_share(new_kuhn, share):
    arena = new_kuhn("share")
    report = arena.play("kuhn", share, focus="nash", budget=1_000)
    assert report.played == 6 * share


@pytest.mark.parametrize(
    "options",
    [
        {"focus": "nash"},
        {"budget": 100},
        {"focus": "nash", "budget": 10},
        {"focus": "nash", "budget": 100, "precision": 1.0},
        {"focus": "nash", "budget": 100, "only": ["house/Kuhn1950"]},
    ],
)
def test_a_budget_without_a_focus_or_for_some_is_refused(arena, options):
    with pytest.raises(UsageFault, match="budget"):
        arena.play("kuhn", 16, **options)


@pytest.mark.parametrize("words", [("--focus", "nash"), ("--budget", "9")])
def test_what_does_not_go_together_is_refused_before_a_home_is_made(tmp_path, words):
    home = tmp_path / "none"
    refused = CliRunner().invoke(main, ["play", "--game", "kuhn", *words, "--home", str(home)])
    assert refused.exit_code == 2
    assert "go together" in refused.stderr
    assert not home.exists()
