"""The house of repeated rock-paper-scissors: who is in it, and that it plays."""

from __future__ import annotations

import hashlib
import json

import pytest

from arena.errors import UsageFault
from arena.house import house_submissions
from arena.house.population import default_population, population
from arena.house.roshambo import BOTS, FIRST, SECOND
from arena.kinds.native import bot_names, bot_of
from registry import digest_of
from registry.naming import check_submission


def test_every_bot_of_the_engine_is_in_the_house() -> None:
    house = house_submissions("rrps")
    assert tuple(bot_of(entrant.payload) for entrant in house) == bot_names()
    assert [entrant.name for entrant in house] == [f"house/{bot}" for bot in bot_names()]
    assert {entrant.kind for entrant in house} == {"native"}


def test_house_entrants_can_be_registered() -> None:
    for entrant in house_submissions("rrps"):
        check_submission(entrant)
        assert json.loads(entrant.payload)["engine"] == "open_spiel"


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


def test_the_population_is_frozen() -> None:
    """If this fails, identities changed: stored scores of rrps-43@1 would mean something else."""
    frozen = population("rrps-43@1")
    assert default_population("rrps") is frozen
    assert (frozen.game, len(frozen.digests)) == ("rrps", 43)
    assert frozen.members == tuple(f"house/{bot}" for bot in bot_names())
    fingerprint = hashlib.sha256("\n".join(frozen.digests).encode()).hexdigest()
    assert fingerprint[:16] == "19c197f02122b8bb"
    house = {digest_of(one.game, one.kind, one.payload) for one in house_submissions("rrps")}
    assert set(frozen.digests) == house


def test_unknown_populations_are_refused() -> None:
    with pytest.raises(UsageFault, match="no evaluation population 'rrps-43@2'"):
        population("rrps-43@2")
    with pytest.raises(UsageFault, match="'chess'"):
        default_population("chess")
