"""What strangers may see: hidden populations stay unknown, withdrawn content stays unread."""

from datetime import UTC, datetime, timedelta

import pytest

from arena.contest.hidden import take_in
from arena.games import game as game_named
from arena.submission import prepare
from arena.visibility import (
    hidden_digests,
    history_without_kept,
    is_hidden,
    shows_source,
    without_kept,
)
from registry import Status
from registry.values import Submission

CLOSED = datetime(2026, 1, 8, tzinfo=UTC)
WEEK = timedelta(days=7)
ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"
KEPT = "operator/spring-secret@1"
PAPER = ROCK.replace("ROCK", "PAPER")


@pytest.fixture
def secret(arena):
    """Digest of a program that the operator took in for a tournament."""
    (digest,) = take_in(
        arena.home, arena.check, game_named("rrps"), "spring", [], [("secret", ROCK)]
    )
    return digest


def put(arena, source, name, status=Status.QUALIFIED):
    prepared = prepare(game_named("rrps"), source, name=name, status=status)
    assert isinstance(prepared, Submission)
    return arena.home.registry.submit(prepared, reserved=True).version


def announce(arena, *hidden):
    arena.home.registry.announce("spring", "rrps", CLOSED - WEEK, CLOSED, hidden=hidden)


def test_a_hidden_policy_is_known_when_the_final_has_its_certificate(arena, secret):
    registry = arena.home.registry
    assert hidden_digests(registry) == {secret}  # and before the tournament is announced
    announce(arena, secret)
    version = registry.get("rrps", "operator/spring-secret@1")
    assert hidden_digests(registry) == {secret} and is_hidden(version, hidden_digests(registry))
    registry.freeze("spring", (), CLOSED + WEEK)
    assert hidden_digests(registry) == {secret}  # its matches are being played
    registry.certify("spring", "0" * 64)
    assert hidden_digests(registry) == frozenset()
    assert not is_hidden(version, frozenset())
    assert without_kept(version) == version and version.credits
    history = registry.history(secret)
    assert history_without_kept(history) == history and history


def test_what_takes_part_is_no_secret_but_for_the_name_that_the_operator_gave_it(arena, secret):
    registry = arena.home.registry
    house = arena.policy("house/rockbot", "rrps")
    entered = put(arena, ROCK, "ada/rock")
    assert entered.digest == secret
    announce(arena, secret, house.digest)
    assert hidden_digests(registry) == {KEPT}  # the name alone
    assert not is_hidden(registry.get("rrps", "ada/rock"), frozenset())
    assert not is_hidden(registry.get("rrps", secret), frozenset())
    assert is_hidden(registry.get("rrps", "operator/spring-secret"), frozenset())
    assert {one.ref for one in without_kept(registry.get("rrps", secret)).credits} == {entered.ref}
    assert {one.ref for one in history_without_kept(registry.history(secret))} == {entered.ref}


def test_where_nothing_is_veiled_a_guess_is_tried_and_taken_in_as_if_it_were_new(arena, secret):
    """As on the pages, which hand in by the operator's hand."""
    labels, other = {"whose": "ada"}, f"{ROCK}# another\n"
    found = [arena.submit(one, "rrps", "ada/rock", labels=labels) for one in (ROCK, other)]
    assert [(one.created, one.credited, len(one.trial)) for one in found] == [(True, True, 2)] * 2
    assert found[0].version.digest == secret
    assert [one.labels for one in arena.policies("rrps", author="ada")] == [labels] * 2


def test_who_withdraws_what_a_tournament_has_hidden_still_sees_it_and_no_more(arena, secret):
    registry = arena.home.registry
    entered = put(arena, ROCK, "ada/rock")
    announce(arena, secret)
    registry.set_status(secret, Status.YANKED, "mine", ref=entered.ref)
    assert hidden_digests(registry) == {KEPT}  # the name alone
    assert not is_hidden(registry.get("rrps", entered.ref), frozenset())
    assert is_hidden(registry.get("rrps", "operator/spring-secret@1"), frozenset())
    for ref in (entered.ref, secret):
        assert {one.ref for one in without_kept(registry.get("rrps", ref)).credits} == {entered.ref}
    assert {one.ref for one in history_without_kept(registry.history(secret))} == {entered.ref}
    assert not shows_source(registry.get("rrps", entered.ref))


@pytest.mark.parametrize("status", [Status.CANDIDATE, Status.YANKED, Status.QUARANTINED])
def test_what_a_run_tried_is_known_even_where_a_tournament_names_it(arena, secret, status):
    """A run may be an author's: who has it try a program must not learn who is hidden."""
    registry = arena.home.registry
    tried = put(arena, ROCK, "csro/ada-k01", Status.CANDIDATE)
    assert tried.digest == secret
    registry.set_status(secret, status, "so", ref=tried.ref)
    announce(arena, secret)
    found = registry.get("rrps", tried.ref)
    assert not is_hidden(found, hidden_digests(registry))
    assert {one.ref for one in without_kept(found).credits} == {tried.ref}
    assert {one.ref for one in history_without_kept(registry.history(secret))} == {tried.ref}
    assert is_hidden(registry.get("rrps", "operator/spring-secret"), hidden_digests(registry))
    assert shows_source(found) is (status is Status.CANDIDATE)


def test_content_is_shown_while_one_of_its_names_takes_part(arena):
    registry = arena.home.registry
    digest = put(arena, ROCK, "ada/rock").digest
    put(arena, ROCK, "bob/stone")
    registry.set_status(digest, Status.YANKED, "mine", ref="ada/rock@1")
    assert shows_source(registry.get("rrps", "ada/rock"))  # bob's is open
    registry.set_status(digest, Status.YANKED, "mine", ref="bob/stone@1")
    assert not shows_source(registry.get("rrps", "ada/rock"))


def test_quarantine_and_the_operators_candidates_are_not_read(arena, secret):
    registry = arena.home.registry
    assert not shows_source(registry.get("rrps", secret))
    version = put(arena, PAPER, "ada/paper")
    assert shows_source(version)
    registry.set_status(version.digest, Status.QUARANTINED, "does not repeat")
    assert not shows_source(registry.get("rrps", version.digest))
