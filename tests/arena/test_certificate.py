"""Certificates of finals: what was played, in the open, and what is changed is found."""

import json
import random
import shutil
from dataclasses import replace
from datetime import timedelta

import pytest

from arena.contest import verification
from arena.contest.certificate import (
    compose,
    digest_of_document,
    takings_of,
)
from arena.contest.final import facts_of
from arena.contest.issuing import issue
from arena.contest.playing import play_again
from arena.contest.reading import Malformed, facts_in, read_certificate
from arena.contest.table import author_summary
from arena.contest.verification import verify
from arena.errors import UsageFault
from arena.home import open_home
from registry import Status, TournamentConflict
from tests.arena.contests import KUHN, PROCESS, problems, with_value


def test_a_certificate_holds_with_sources_and_without(issued, bare):
    home, certificate = issued
    assert problems(certificate) == problems(bare) == []
    assert all("source" in one for one in certificate["entrants"])
    assert not any("source" in one for one in (*bare["entrants"], *bare["hidden"]))
    assert certificate["digest"] == digest_of_document(bare)
    assert home.registry.tournament("spring").certificate == certificate["digest"]


def test_it_is_the_same_when_it_is_issued_again(issued):
    home, certificate = issued
    assert json.loads(json.dumps(issue(home, "spring"))) == certificate


def test_it_tells_authors_tables_and_copies(certificate):
    assert {row["author"] for row in certificate["authors"]} == {"ada", "bob", "cy"}
    assert [row["rank"] for row in certificate["table"]] == [1, 2, 3]
    assert all(row["matches"] == 4 * 4 for row in certificate["table"])
    assert certificate["alike"] == [
        {"one": "bob/y@1", "other": "cy/z@1", "likeness": 1.0, "same": True}
    ]
    assert len(certificate["matches"]) == 36
    assert len({line["deal_seed"] for line in certificate["matches"]}) == 18


def test_its_matches_come_out_the_same_when_they_are_played_again(certificate, bare):
    facts = facts_in(certificate)
    (found,) = play_again(facts, 40, chance=random.Random(1), workers=1, wall=PROCESS)
    assert (found.problem, found.detail) == ("", "36 matches")
    with pytest.raises(UsageFault, match="leaves out the source"):
        play_again(facts_in(bare), 40, chance=random.Random(1), workers=1, wall=PROCESS)
    sources = {one.digest: one.source for one in (*facts.entrants, *facts.hidden)}
    found = play_again(
        facts_in(bare), 2, chance=random.Random(1), sources=sources, workers=1, wall=PROCESS
    )
    assert [one.problem for one in found] == [""]


def leaves(value, place=()):
    """Places of all that is neither object nor list."""
    if isinstance(value, dict | list):
        keys = value if isinstance(value, dict) else range(len(value))
        for key in keys:
            yield from leaves(value[key], (*place, key))
    else:
        yield place


def changed(value):
    """Another value of the same type."""
    match value:
        case bool():
            return not value
        case None:
            return 0
        case int() | float():
            return value + 1
        case str():
            last = "1" if value[-1:] != "1" else "2"
            return value[:-1] + last
    raise AssertionError(value)


def test_every_field_that_is_changed_is_found(bare):
    places = list(leaves(bare))
    assert len(places) > 400
    for place in places:
        value = bare
        for key in place:
            value = value[key]
        assert problems(with_value(bare, place, changed(value))), place


def test_every_part_that_is_removed_added_or_moved_is_found(bare):
    for key in bare:
        assert problems({k: v for k, v in bare.items() if k != key}), key
        if isinstance(bare[key], list) and bare[key]:
            assert problems({**bare, key: bare[key][1:]}), key
            assert problems({**bare, key: [*bare[key], bare[key][0]]}), key
            if len(bare[key]) > 1:
                assert problems({**bare, key: bare[key][::-1]}), key
    assert problems({**bare, "more": 1})


DERIVED = {"season", "root", "table", "authors", "matches", "entries", "entrants"}
BOUND_BY_THE_DIGEST_ALONE = {"returns", "moves", "termination", "fault_seat", "created", "number"}
"""What follows from nothing: to play again finds what is wrong with a match's."""


def test_a_forger_who_makes_the_digest_anew_is_found_all_the_same(bare):
    tried = 0
    for place in leaves(bare):
        if place[0] not in DERIVED or BOUND_BY_THE_DIGEST_ALONE & set(place):
            continue
        if place[-1] == "code_digest" or (place[0] == "matches" and place[1] > 3):
            continue
        value = bare
        for key in place:
            value = value[key]
        doctored = with_value(bare, place, changed(value))
        doctored["digest"] = digest_of_document(doctored)
        found = problems(doctored)
        assert found and not any(one.startswith("digest") for one in found), place
        tried += 1
    assert tried > 100


def test_sources_that_were_changed_are_found(certificate):
    for part, key in (("entrants", "source"), ("hidden", "source"), ("entrants", "code_digest")):
        place = (part, 0, key)
        value = certificate[part][0][key]
        doctored = with_value(certificate, place, value + " ")
        doctored["digest"] = digest_of_document(doctored)
        assert problems(doctored), place


def test_a_code_digest_of_before_private_names_is_believed_and_no_other(certificate, monkeypatch):
    for found, wrong in (("4:" + "0" * 32, False), ("3:" + "0" * 32, True)):
        monkeypatch.setattr(verification, "normalised_digest", lambda *_, found=found: found)
        assert any("code digest" in one for one in problems(certificate)) == wrong


def test_a_result_that_was_made_up_is_found_by_playing(certificate):
    facts = facts_in(certificate)
    outcomes = list(facts.outcomes)
    (won,) = [n for n, one in enumerate(outcomes) if one.returns[0]][:1]
    outcomes[won] = replace(outcomes[won], returns=outcomes[won].returns[::-1])
    forged = compose(replace(facts, outcomes=tuple(outcomes)), KUHN)
    assert problems(forged) == []
    found = play_again(facts_in(forged), 36, chance=random.Random(1), workers=1, wall=PROCESS)
    assert [one.problem for one in found] == [
        f"match {forged['matches'][won]['id'][:12]} came out differently"
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "cannot be read as JSON"),
        ("[]", "no certificate"),
        ("{}", "no certificate"),
        ('{"format": 2}', "has the format 2"),
        ('{"format": true}', "has the format True"),
        ('{"format": NaN}', "NaN is no number"),
        ("[" * 100_000, "cannot be read as JSON"),
        (b"\xff\xfe", "cannot be read as JSON"),
    ],
)
def test_files_that_are_no_certificate(text, told):
    with pytest.raises(Malformed, match=told):
        read_certificate(text)


def test_certificates_of_games_and_rules_that_are_not_here(bare):
    for key, value in (("name", "chess"), ("version", 99)):
        with pytest.raises(UsageFault, match=r"chess|version 99"):
            verify(with_value(bare, ("game", key), value))


def test_a_policy_that_is_quarantined_in_the_final_is_disqualified(issued, tmp_path):
    home = open_home(shutil.copytree(issued[0].path, tmp_path / "home"))
    spring = home.registry.tournament("spring")
    digest = next(one.digest for one in spring.entrants if one.author == "ada")
    home.registry.set_status(digest, Status.QUARANTINED, "did not repeat")
    facts = facts_of(home, spring, home.registry.season(spring.season))
    document = compose(facts, KUHN)
    assert problems(document) == []
    assert document["disqualified"] == [{"ref": "ada/x@2", "reason": "did not repeat"}]
    assert {row["author"] for row in document["authors"]} == {"bob", "cy"}
    assert issue(home, "spring") == issued[1], "what was issued stays"
    (kept,) = home.path.glob("finals/*/certificate.json")
    kept.unlink()
    with pytest.raises(TournamentConflict, match="was changed since"):
        issue(home, "spring")


def test_one_content_of_two_authors_is_one_entrant_and_two_entries(certificate):
    facts = facts_in(certificate)
    (bob,) = [one for one in facts.entered if one.author == "bob"]
    double = replace(bob, author="di", ref="di/same@3", created=bob.created + timedelta(seconds=1))
    entered = tuple(
        sorted((*facts.entered, double), key=lambda one: (one.author, one.created, one.ref))
    )
    known = {one.digest: one for one in facts.entrants}
    twice = replace(facts, entered=entered, entrants=takings_of(entered, known))
    document = compose(twice, KUHN)
    assert problems(json.loads(json.dumps(document))) == []
    rows = {row["author"]: row for row in document["authors"]}
    assert rows["bob"]["rank"] == rows["di"]["rank"]
    assert rows["bob"]["matches"] == rows["di"]["matches"] == 16
    (row,) = [row for row in document["table"] if row["ref"] == "bob/y@1"]
    assert row["also"] == ["di/same@3"]
    assert {"one": "bob/y@1", "other": "di/same@3", "likeness": 1.0, "same": True} in document[
        "alike"
    ]


def test_the_best_of_several_entries_stands_for_its_author(certificate):
    facts = facts_in(certificate)
    best, worst = (certificate["table"][place]["digest"] for place in (0, -1))
    order = {one.digest: one for one in facts.entered}
    mine = [replace(order[digest], author="ada") for digest in (worst, best)]
    (row,) = [row for row in author_summary(mine, certificate["table"]) if row["author"] == "ada"]
    assert (row["rank"], row["best"]) == (1, order[best].ref)
    assert len(row["entries"]) == 2 and row["matches"] == 32
