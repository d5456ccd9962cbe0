"""Tournaments: frozen once, with a season that nobody knew before, and one certificate."""

from datetime import UTC, datetime, timedelta

import pytest

from registry import (
    MalformedName,
    Registry,
    RegistryCorrupt,
    TournamentConflict,
    UnknownTournament,
)
from registry.schema import TournamentRow
from registry.tournaments import Entry
from tests.registry.at_once import at_once

OPENS = datetime(2026, 3, 1, 12, tzinfo=UTC)
CLOSES = OPENS + timedelta(days=7)
LATER = CLOSES + timedelta(hours=1)
ENTRIES = (
    Entry("ada", "ada/x@2", "a" * 32, OPENS),
    Entry("bob", "bob/y@1", "b" * 32, OPENS + timedelta(hours=1)),
)
DIGEST, OTHER = "c" * 64, "d" * 64


@pytest.fixture
def announced(registry: Registry) -> Registry:
    registry.current_season()
    registry.announce("spring", "rrps", OPENS, CLOSES, entries=2, matches=8, hidden=["h", "h"])
    return registry


def test_a_tournament_is_announced_once(announced: Registry) -> None:
    spring = announced.tournament("spring")
    assert (spring.game, spring.opens, spring.closes) == ("rrps", OPENS, CLOSES)
    assert (spring.entries, spring.matches, spring.hidden) == (2, 8, ("h",))
    assert (spring.frozen, spring.season, spring.entrants, spring.certificate) == (
        None,
        None,
        (),
        "",
    )
    with pytest.raises(TournamentConflict, match="already"):
        announced.announce("spring", "rrps", OPENS, CLOSES)
    announced.announce("autumn", "leduc", OPENS, LATER)
    assert [one.name for one in announced.tournaments()] == ["spring", "autumn"]
    assert [one.name for one in announced.tournaments("leduc")] == ["autumn"]
    for name in ("winter", "", "a/b"):
        with pytest.raises(UnknownTournament):
            announced.tournament(name)


@pytest.mark.parametrize(
    ("name", "opens", "closes", "entries", "matches"),
    [
        ("x", CLOSES, OPENS, 1, 2),
        ("x", OPENS, OPENS, 1, 2),
        ("x", OPENS, CLOSES, 0, 2),
        ("x", OPENS, CLOSES, 1, 3),
        ("x", OPENS, CLOSES, 1, 0),
        ("a b", OPENS, CLOSES, 1, 2),
    ],
)
def test_tournaments_that_cannot_be(
    registry: Registry, name: str, opens: datetime, closes: datetime, entries: int, matches: int
) -> None:
    with pytest.raises((TournamentConflict, MalformedName)):
        registry.announce(name, "rrps", opens, closes, entries=entries, matches=matches)
    assert registry.tournaments() == ()


def test_it_is_frozen_once_with_a_key_that_is_drawn_then(announced: Registry) -> None:
    before = announced.current_season()
    with pytest.raises(TournamentConflict, match="is open until"):
        announced.freeze("spring", ENTRIES, CLOSES - timedelta(seconds=1))
    assert announced.current_season() == before
    frozen = announced.freeze("spring", ENTRIES, CLOSES)
    season = announced.current_season()
    assert (frozen.frozen, frozen.season, frozen.entrants) == (CLOSES, season.number, ENTRIES)
    assert season.number == before.number + 1 and season.key != before.key
    assert announced.season(before.number).closed is not None
    assert announced.freeze("spring", ENTRIES[:1], LATER) == frozen
    assert announced.current_season() == season
    with pytest.raises(TournamentConflict, match="are frozen"):
        announced.move_closing("spring", LATER)


def test_closing_can_be_moved_until_it_is_frozen(announced: Registry) -> None:
    assert announced.move_closing("spring", LATER).closes == LATER
    with pytest.raises(TournamentConflict, match="before it opens"):
        announced.move_closing("spring", OPENS)
    with pytest.raises(TournamentConflict, match="is open until"):
        announced.freeze("spring", ENTRIES, CLOSES)


def test_a_season_that_was_revealed_too_early_is_replaced(announced: Registry) -> None:
    first = announced.freeze("spring", ENTRIES, CLOSES)
    announced.reveal_season()
    again = announced.freeze("spring", (), LATER)
    assert again.season == announced.current_season().number != first.season
    assert (again.entrants, again.frozen) == (ENTRIES, CLOSES)


def test_one_final_at_a_time(announced: Registry) -> None:
    announced.announce("autumn", "leduc", OPENS, CLOSES)
    announced.freeze("spring", ENTRIES, CLOSES)
    with pytest.raises(TournamentConflict, match="'spring' is being played"):
        announced.freeze("autumn", ENTRIES, CLOSES)
    announced.certify("spring", DIGEST)
    assert announced.freeze("autumn", ENTRIES, CLOSES).season is not None


def test_a_certificate_reveals_the_season_and_stays(announced: Registry) -> None:
    with pytest.raises(TournamentConflict, match="no final yet"):
        announced.certify("spring", DIGEST)
    frozen = announced.freeze("spring", ENTRIES, CLOSES)
    certified, season = announced.certify("spring", DIGEST)
    assert (certified.certificate, season.number) == (DIGEST, frozen.season)
    assert season.closed is not None and announced.current_season().number == season.number + 1
    assert announced.certify("spring", DIGEST) == (certified, season)
    with pytest.raises(TournamentConflict, match="was changed since"):
        announced.certify("spring", OTHER)
    with pytest.raises(TournamentConflict, match="has its certificate"):
        announced.freeze("spring", ENTRIES, LATER)
    with pytest.raises(ValueError, match="no digest"):
        announced.certify("spring", "short")
    assert [one.what for one in announced.events(what="tournament")] == [
        "tournament.announced",
        "tournament.frozen",
        "tournament.certified",
    ]


def test_processes_that_freeze_at_once_agree_on_one_season(target: str) -> None:
    with Registry.open(target) as registry:
        registry.current_season()
        registry.announce("spring", "rrps", OPENS, CLOSES)
    code = """
from datetime import UTC, datetime
with Registry.open(target) as registry:
    print(registry.freeze("spring", (), datetime(2026, 4, 1, tzinfo=UTC)).season)
"""
    assert at_once(target, code) == [["2"]] * 4


def test_a_tournament_that_was_edited_is_refused(announced: Registry) -> None:
    with announced.database.writing() as session:
        row = session.get(TournamentRow, "spring")
        assert row is not None
        row.entrants = [["ada"]]
        session.add(row)
    with pytest.raises(RegistryCorrupt, match="damaged or edited"):
        announced.tournament("spring")
