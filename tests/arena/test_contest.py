"""Tournaments: who takes part, a final with seeds of its own, and a certificate that holds."""

import copy
import json
import random
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from arena import Arena
from arena.contest.certificate import (
    compose,
    digest_of_document,
    lines_of,
    takings_of,
    without_sources,
)
from arena.contest.entries import Phase, entries_of, pairs_of, phase_of
from arena.contest.final import counting, facts_of, play_final
from arena.contest.issuing import issue
from arena.contest.likeness import alike
from arena.contest.merkle import root_of
from arena.contest.playing import play_again
from arena.contest.reading import Malformed, facts_in, read_certificate
from arena.contest.table import author_summary, pair_sums
from arena.contest.values import Taking
from arena.contest.verification import verify
from arena.errors import UsageFault
from arena.games import GAMES
from arena.home import Home, open_home
from registry import Status, TournamentConflict
from registry.tournaments import Tournament
from registry.values import Credit, PolicyVersion
from tests.conftest import ROOT

KUHN = GAMES["kuhn"]
OPENS = datetime(2026, 3, 1, 12, tzinfo=UTC)
CLOSES = OPENS + timedelta(days=7)
HOUR = timedelta(hours=1)

SOURCE = '''
import random


class RepeatedKuhnPokerBot:
    """{words}"""

    def restart(self, player_id):
        self.{seat} = player_id
        self.{count} = 0

    def act(self, observation):
        {card} = observation["player_view"]["hand"]
        self.{count} += 1
        if {card} == "{bets}":
            return "BET"
        if self.{count} > {most} or random.random() < {chance}:
            return "PASS"
        return "BET" if {card} == "K" else "PASS"

    def receive_outcome(self, observation):
        if self.{seat} == 7:
            self.{count} = 0
'''
NAMES = {"seat": "seat", "count": "count", "card": "card"}
FIRST = SOURCE.format(words="First.", bets="K", most=90, chance=0.1, **NAMES)
SECOND = """
class RepeatedKuhnPokerBot:
    def restart(self, player_id):
        self.hands = [player_id, *getattr(self, "hands", [])][:5]

    def act(self, observation):
        strength = {"J": 0, "Q": 1, "K": 2}[observation["player_view"]["hand"]]
        bets = [move for move in observation["action_history"] if move["action"] == "BET"]
        return ("PASS", "BET")[strength + len(self.hands) % 2 > 1 + len(bets)]

    def receive_outcome(self, observation):
        for move in observation["action_history"]:
            if move["action"] == "BET" and len(self.hands) > 3:
                self.hands = self.hands[1:]
"""
OTHER = SOURCE.format(words="Other.", bets="Q", most=10, chance=0.2, **NAMES)
COPY = OTHER.replace("count", "moves").replace("card", "own").replace("Other.", "All mine.")
SECRET = SOURCE.format(words="Hidden.", bets="J", most=20, chance=0.7, **NAMES)


@pytest.fixture(scope="module")
def finished(house, tmp_path_factory):
    """A home with a tournament whose final was played."""
    folder = shutil.copytree(house, tmp_path_factory.mktemp("contest") / "home")
    with Arena(folder, sandbox="process", workers=1) as arena:
        registry, began = arena.home.registry, datetime.now(UTC)
        secret = arena.submit(SECRET, "kuhn", "prof/secret").version
        registry.set_status(secret.digest, Status.CANDIDATE, "")
        hidden = (secret.digest, arena.policy("house/AlwaysPass", "kuhn").digest)
        closes = began + timedelta(minutes=10)
        registry.announce("spring", "kuhn", began, closes, matches=4, hidden=hidden)
        for name, source in (("ada/x", FIRST), ("ada/x", SECOND), ("bob/y", OTHER), ("cy/z", COPY)):
            assert arena.submit(source, "kuhn", name).created
        home = arena.home
    with pytest.raises(TournamentConflict, match="is open until"):
        play_final(home, "spring", now=closes - HOUR, workers=1)
    report = play_final(home, "spring", now=closes, workers=1)
    assert (report.played, report.left) == (9 * 4, 0)
    return home


@pytest.fixture(scope="module")
def certificate(finished):
    return json.loads(json.dumps(issue(finished, "spring")))


@pytest.fixture(scope="module")
def bare(certificate):
    return without_sources(certificate)


def problems(document):
    """What the checks object to; Malformed is an objection, too."""
    try:
        return [f"{one.check}: {one.problem}" for one in verify(document) if one.problem]
    except UsageFault as error:
        return [str(error)]


# Who takes part.


def version(name, number, created, status=Status.QUALIFIED, kind="python", digest=""):
    credit = Credit(name, number, status, "", "", created)
    digest = digest or f"{name}@{number}"
    return PolicyVersion(
        digest, "kuhn", name, number, kind, "", status, "", "", {}, {}, (), "", created, (credit,)
    )


def tournament(**fields):
    known = {"name": "t", "game": "kuhn", "created": OPENS, "opens": OPENS, "closes": CLOSES}
    return Tournament(**{**known, "entries": 1, "matches": 2, **fields})


def test_the_last_entries_of_each_author_count_and_no_others():
    versions = [
        version("ada/early", 1, OPENS - HOUR),
        version("ada/x", 1, OPENS),
        version("ada/x", 2, OPENS + HOUR),
        version("ada/x", 3, CLOSES),
        version("bob/y", 1, OPENS + HOUR, Status.YANKED),
        version("cy/z", 1, OPENS + HOUR, Status.QUARANTINED),
        version("di/m", 1, OPENS + HOUR, kind="mixture"),
        version("house/h", 1, OPENS + HOUR),
        version("csro/h", 1, OPENS + HOUR),
        version("eve/secret", 1, OPENS + HOUR, digest="hidden"),
        version("flo/w", 1, CLOSES - timedelta(microseconds=1)),
    ]

    def refs(**fields):
        return [one.ref for one in entries_of(tournament(hidden=("hidden",), **fields), versions)]

    assert refs() == ["ada/x@2", "flo/w@1"]
    assert refs(entries=2) == refs(entries=9) == ["ada/x@1", "ada/x@2", "flo/w@1"]


def test_whoever_hands_in_the_same_content_has_an_entry_of_their_own():
    two = version("ada/x", 1, OPENS)
    later = Credit("bob/y", 1, Status.QUALIFIED, "", "", OPENS + HOUR)
    two = PolicyVersion(
        **{name: getattr(two, name) for name in two.__slots__ if name != "credits"},
        credits=(*two.credits, later),
    )
    found = entries_of(tournament(), [two])
    assert [(one.ref, one.digest) for one in found] == [
        ("ada/x@1", "ada/x@1"),
        ("bob/y@1", "ada/x@1"),
    ]


def test_where_a_tournament_is_follows_from_the_moment_it_is_asked():
    moments = (OPENS - HOUR, OPENS, CLOSES - HOUR, CLOSES)
    assert [phase_of(tournament(), now) for now in moments] == [
        Phase.ANNOUNCED,
        Phase.OPEN,
        Phase.OPEN,
        Phase.CLOSED,
    ]
    assert phase_of(tournament(frozen=CLOSES), OPENS) is Phase.FINAL
    assert phase_of(tournament(certificate="c"), OPENS) is Phase.CERTIFIED


def test_everybody_meets_everybody_and_the_hidden_meet_only_entrants():
    assert pairs_of(["b", "a", "b"], ["h", "g"]) == (
        ("a", "b"),
        ("a", "g"),
        ("a", "h"),
        ("b", "g"),
        ("b", "h"),
    )
    assert pairs_of(["a"], ["a"]) == ()


def test_the_root_is_of_the_lines_and_their_order():
    lines = [bytes([n]) for n in range(7)]
    roots = {root_of(lines[:n]) for n in range(8)} | {root_of(lines[::-1])}
    assert len(roots) == 9
    pair = bytes.fromhex(root_of(lines[:1])) + bytes.fromhex(root_of(lines[1:2]))
    assert root_of([b"\1" + pair]) != root_of(lines[:2]) != root_of([pair])


# The final.


def test_what_was_frozen_is_what_counted(finished):
    spring = finished.registry.tournament("spring")
    assert [one.ref for one in counting(finished, spring)] == ["ada/x@2", "bob/y@1", "cy/z@1"]
    report = play_final(finished, "spring", now=spring.closes, workers=1)
    assert (report.played, report.skipped) == (0, 36)
    assert finished.registry.tournament("spring") == spring


def test_the_final_is_seen_by_no_leaderboard(finished):
    with Arena(finished.path, sandbox="process") as arena:
        digests = {one.digest for one in finished.registry.tournament("spring").entrants}
        met = [row for row in arena.matches("kuhn", limit=None) if set(row.seats) <= digests]
        assert met == []
        assert not any("secret" in row.ref for row in arena.leaderboard("kuhn").rows)


def test_sums_over_the_lines_are_those_of_the_store(finished):
    spring = finished.registry.tournament("spring")
    season = finished.registry.season(spring.season)
    facts = facts_of(finished, spring, season)
    final = Home(finished.path / "finals" / f"spring-{spring.season}", finished.registry, True)
    pairs = {(one.low, one.high): spring.matches for one in facts.outcomes}
    stored = final.store.exact_pair_stats(KUHN, pairs)
    ours = pair_sums(lines_of(facts), 2).select(stored.column_names)
    assert ours.to_pylist() == stored.to_pylist()


def test_a_final_takes_two(new_arena):
    arena = new_arena()
    arena.home.registry.announce("lonely", "kuhn", OPENS, CLOSES)
    with pytest.raises(UsageFault, match="a final needs two"):
        play_final(arena.home, "lonely", now=CLOSES)
    assert arena.home.registry.tournament("lonely").frozen is None
    with pytest.raises(UsageFault, match="has not begun"):
        issue(arena.home, "lonely")


# The certificate.


def test_a_certificate_holds_with_sources_and_without(finished, certificate, bare):
    assert problems(certificate) == problems(bare) == []
    assert all("source" in one for one in certificate["entrants"])
    assert not any("source" in one for one in (*bare["entrants"], *bare["hidden"]))
    assert certificate["digest"] == digest_of_document(bare)
    assert finished.registry.tournament("spring").certificate == certificate["digest"]


def test_it_is_the_same_when_it_is_issued_again(finished, certificate):
    assert json.loads(json.dumps(issue(finished, "spring"))) == certificate


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
    (found,) = play_again(facts, 40, chance=random.Random(1), workers=1)
    assert (found.problem, found.detail) == ("", "36 matches")
    with pytest.raises(UsageFault, match="leaves out the source"):
        play_again(facts_in(bare), 40, chance=random.Random(1), workers=1)
    sources = {one.digest: one.source for one in (*facts.entrants, *facts.hidden)}
    found = play_again(facts_in(bare), 2, chance=random.Random(1), sources=sources, workers=1)
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


def with_value(document, place, value):
    doctored = copy.deepcopy(document)
    inner = doctored
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return doctored


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


def test_a_result_that_was_made_up_is_found_by_playing(certificate):
    facts = facts_in(certificate)
    outcomes = list(facts.outcomes)
    (won,) = [n for n, one in enumerate(outcomes) if one.returns[0]][:1]
    outcomes[won] = replace(outcomes[won], returns=outcomes[won].returns[::-1])
    forged = compose(replace(facts, outcomes=tuple(outcomes)), KUHN)
    assert problems(forged) == []
    found = play_again(facts_in(forged), 36, chance=random.Random(1), workers=1)
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


def test_a_policy_that_is_quarantined_in_the_final_is_disqualified(finished, certificate, tmp_path):
    home = open_home(shutil.copytree(finished.path, tmp_path / "home"))
    spring = home.registry.tournament("spring")
    digest = next(one.digest for one in spring.entrants if one.author == "ada")
    home.registry.set_status(digest, Status.QUARANTINED, "did not repeat")
    facts = facts_of(home, spring, home.registry.season(spring.season))
    document = compose(facts, KUHN)
    assert problems(document) == []
    assert document["disqualified"] == [{"ref": "ada/x@2", "reason": "did not repeat"}]
    assert {row["author"] for row in document["authors"]} == {"bob", "cy"}
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


def taking(name, source, kind="python"):
    return Taking(f"{name}@1", kind, (f"{name}@1",), "", source)


def test_a_copy_with_a_few_changes_is_reported_and_another_idea_is_not():
    touched = COPY.replace("self.moves += 1", "self.moves += 1\n        extra = [self.moves, 3]")
    found = alike([taking("ada/x", OTHER), taking("bob/x", touched), taking("cy/x", SECOND)], "")
    assert [(one["one"], one["other"], one["same"]) for one in found] == [
        ("ada/x@1", "bob/x@1", False)
    ]
    assert 0.6 <= found[0]["likeness"] < 1.0
    assert alike([taking("ada/x", OTHER), taking("ada/y", touched)], "") == ()
    assert alike([taking("ada/x", OTHER), taking("bob/x", OTHER, kind="neural")], "") == ()


def test_what_everybody_has_from_the_starter_counts_for_nobody():
    starter = KUHN.starter.source
    both = [taking("ada/x", starter + "\nA = 1\n"), taking("bob/x", starter + "\nB = [2]\n")]
    assert len(alike(both, "")) == 1
    assert alike(both, starter) == ()


def test_programs_of_one_style_are_far_from_copies():
    files = [*ROOT.glob("examples/*.py"), *ROOT.glob("arena/games/*/starter.py")]
    assert len(files) >= 5
    everybody = [taking(f"a{n}/x", file.read_text()) for n, file in enumerate(sorted(files))]
    found = alike(everybody, "", least=0.0)
    assert len(found) == len(files) * (len(files) - 1) // 2
    assert max(float(one["likeness"]) for one in found) < 0.2


@pytest.mark.parametrize("text", ["class", "\0", "(" * 5_000, "x = " + "-" * 60_000 + "1", ""])
def test_texts_that_are_no_program_are_like_nothing(text):
    assert alike([taking("ada/x", text), taking("bob/x", text)], "") == ()


# Certificates that somebody wrote to break the check, or to get past it.


def signed(document):
    """With the digest that goes with it."""
    return {**document, "digest": digest_of_document(document)}


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
