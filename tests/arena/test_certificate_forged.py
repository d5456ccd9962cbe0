"""Certificates that somebody wrote to break the check, or to get past it."""

import copy
import json
from dataclasses import replace

import pytest

from arena.contest.certificate import (
    compose,
)
from arena.contest.reading import Malformed, facts_in, read_certificate
from arena.contest.verification import verify
from tests.arena.contests import KUHN, problems, signed, with_value


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("tournament", "opens"), "0001-01-01T00:00:00+23:59"),
        (("tournament", "closes"), "9999-12-31T23:59:59-23:59"),
        (("entries", 0, "created"), "0001-01-01T00:00:00+00:01"),
        (("entrants", 0, "kind"), "python\ud800"),
        (("entrants", 0, "source"), "\udfff"),
        (("entrants", 0, "code_digest"), "\ud800"),
        (("software", "\ud800"), "1"),
        (("matches", 0, "returns"), [10**400, -(10**400)]),
        (("matches", 0, "returns"), [1e308, 1e308]),
        (("matches", 0, "returns"), [1e308, -1e308]),
        (("matches", 0, "termination"), "\ud800"),
        (("table", 0, "agg_score", "value"), 10**400),
        (("alike", 0, "likeness"), 10**400),
        (("alike", 0, "one"), "\ud800"),
        (("alike",), [{"forged": "yes"}]),
        (("tournament", "matches"), 0),
        (("season", "number"), 2**31),
    ],
    ids=lambda value: repr(value)[:50],
)
def test_values_that_nothing_can_be_made_of_are_found_in_words(certificate, place, value):
    assert problems(signed(with_value(certificate, place, value)))


def test_a_certificate_of_nobody_is_none(certificate):
    empty = {"entries": [], "entrants": [], "matches": [], "alike": [], "table": [], "authors": []}
    for hidden in (certificate["hidden"], []):
        assert any(
            "nobody" in one for one in problems(signed({**certificate, **empty, "hidden": hidden}))
        )


def test_what_is_nested_too_deep_is_refused_when_it_is_read():
    for deep in ("[" * 600 + "]" * 600, '{"a":' * 9 + "1" + "}" * 9):
        with pytest.raises(Malformed, match="levels"):
            read_certificate('{"format": 1, "more": ' + deep + "}")


def test_a_file_without_end_is_refused(monkeypatch):
    monkeypatch.setattr("arena.contest.reading.MOST_BYTES", 100)
    with pytest.raises(Malformed, match="more than 100 bytes"):
        read_certificate('{"format": 1}' + " " * 100)


def test_copies_that_cannot_be_looked_for_are_not_called_checked(certificate, bare):
    def alikes(document):
        return next(one for one in verify(document) if one.check == "recomputed: alike")

    assert alikes(certificate).checked and alikes(certificate).detail == ""
    one_less = copy.deepcopy(certificate)
    del one_less["entrants"][1]["source"]
    forged = compose(replace(facts_in(one_less), alike=()), KUHN)
    for document in (bare, one_less, json.loads(json.dumps(forged))):
        assert problems(document) == []
        found = alikes(document)
        assert (found.checked, found.detail) == (False, "not checked: sources are missing")
    assert problems(signed({**certificate, "alike": []}))


def test_who_is_disqualified_does_not_take_part(certificate):
    facts = facts_in(certificate)
    for ref in (facts.entrants[0].names[0], facts.hidden[0].names[0]):
        document = compose(replace(facts, disqualified=((ref, "cheated"),)), KUHN)
        (found,) = problems(json.loads(json.dumps(document)))
        assert found == f"entries: {ref} is disqualified and takes part"
    out = (("zoe/b@1", "late"), ("zoe/a@1", "late"))
    assert problems(compose(replace(facts, disqualified=out), KUHN))
    assert problems(compose(replace(facts, disqualified=out[::-1]), KUHN)) == []
