"""Budgets of matches that go where they decide something: all spent, and the same every time."""

import pytest
from click.testing import CliRunner

from arena.cli import main
from arena.errors import UsageFault
from registry.values import Status


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
    report = arena.play("kuhn", 1_000, focus=focus, budget=240)
    assert (report.played, report.skipped, report.left) == (240, 0, 0)
    again = arena.play("kuhn", 1_000, focus=focus, budget=240)
    assert (again.played, again.skipped) == (0, 240)
    table = arena.payoffs(
        "kuhn", [v.digest for v in arena.policies("kuhn", status=Status.QUALIFIED)]
    )
    met = table.count[table.count > 0]
    assert met.min() >= 8
    assert met.max() > met.min()
    assert (met % 2 == 0).all()


def test_interrupted_and_enlarged_it_goes_on_where_it_was(new_kuhn):
    straight, cut = new_kuhn("straight"), new_kuhn("cut")
    straight.play("kuhn", 1_000, focus="leaderboard", budget=300)

    def stop(done, wanted):
        if done > 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cut.play("kuhn", 1_000, focus="leaderboard", budget=300, progress=stop)
    assert 0 < len(stored(cut)) < 300
    cut.play("kuhn", 1_000, focus="leaderboard", budget=300)
    assert stored(cut) == stored(straight)
    cut.play("kuhn", 1_000, focus="leaderboard", budget=340)
    assert stored(straight).items() < stored(cut).items()


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
