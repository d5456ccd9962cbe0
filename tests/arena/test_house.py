"""The house: who is in it, where everyone came from, and the frozen populations."""

from __future__ import annotations

import hashlib
import json

import pytest

from arena.errors import UsageFault
from arena.games import GAMES
from arena.games import game as game_named
from arena.games.rrps.bots import bot_names
from arena.games.rrps.roshambo import BOTS, FIRST, SECOND
from arena.house import house_submissions
from arena.house.population import default_population, population
from arena.kinds.native import bot_of
from registry import digest_of
from registry.naming import check_submission


def test_every_bot_of_the_engine_is_in_the_house() -> None:
    house = house_submissions("rrps")
    assert tuple(bot_of(game_named("rrps"), entrant.payload) for entrant in house) == bot_names()
    assert [entrant.name for entrant in house] == [f"house/{bot}" for bot in bot_names()]
    assert {entrant.kind for entrant in house} == {"native"}


def test_house_entrants_can_be_registered() -> None:
    for entrant in house_submissions():
        check_submission(entrant)
        assert entrant.payload == json.dumps(
            json.loads(entrant.payload), sort_keys=True, separators=(",", ":")
        )


def test_every_bot_has_its_provenance_and_its_own_description() -> None:
    house = house_submissions("rrps")
    for entrant in house:
        assert entrant.provenance["author"]
        assert entrant.provenance["source"]
        assert entrant.provenance["year"] in (1999, 2000)
        assert entrant.description.endswith(".")
    assert len({entrant.description for entrant in house}) == 43
    assert sum(bot.dummy for bot in BOTS) == 18
    assert [bot.name for bot in BOTS if bot.competition == SECOND] == ["greenberg"]
    assert sum(bot.competition == FIRST for bot in BOTS) == 42


@pytest.mark.parametrize(
    ("name", "game", "size", "fingerprint"),
    [
        ("rrps-43@1", "rrps", 43, "19c197f02122b8bb"),
        ("leduc-3@1", "leduc", 3, "3e9f732fd9d3d8e5"),
        ("kuhn-4@1", "kuhn", 4, "95c67da660326093"),
    ],
)
def test_populations_are_frozen(name: str, game: str, size: int, fingerprint: str) -> None:
    """If this fails, identities changed: stored scores under this name would mean something else.

    Give the changed population a new number instead.
    """
    frozen = population(name)
    assert default_population(game) is frozen
    assert (frozen.game, len(frozen.digests)) == (game, size)
    assert list(frozen.members) == sorted(frozen.members)
    found = hashlib.sha256("\n".join(frozen.digests).encode()).hexdigest()
    assert found.startswith(fingerprint)
    house = {one.name: digest_of(one.game, one.kind, one.payload) for one in house_submissions()}
    assert [house[member] for member in frozen.members] == list(frozen.digests)


def test_rrps_is_measured_against_all_43_bots() -> None:
    assert population("rrps-43@1").members == tuple(f"house/{bot}" for bot in bot_names())


def test_the_house_of_one_game_is_part_of_the_whole_house() -> None:
    assert house_submissions("chess") == ()
    everyone = tuple(one for game in sorted(GAMES) for one in house_submissions(game))
    assert everyone == house_submissions()


def test_unknown_populations_are_refused() -> None:
    with pytest.raises(UsageFault, match="no evaluation population 'rrps-43@2'"):
        population("rrps-43@2")
    with pytest.raises(UsageFault, match="'chess'"):
        default_population("chess")
