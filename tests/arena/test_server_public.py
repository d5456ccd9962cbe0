"""Badges and feeds: told to anybody, and well formed whatever a name or a description holds."""

import json
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest

import arena.server.public as public_module
from arena import Arena
from arena.errors import UsageFault
from arena.server.public import Public
from registry.errors import UnknownPolicy
from registry.values import Status
from tests.arena.test_play import ROCK

HOSTILE = 'a <script>alert("x")</script> & \u202e \U0001f600'
SVG, ATOM = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def public(new_home, monkeypatch):
    monkeypatch.setattr(public_module, "FRESH_SECONDS", 0.0)
    home = new_home()
    with Arena(home, sandbox="process", workers=1) as arena:
        arena.submit(ROCK, "kuhn", "ada/rock")
        arena.submit(ROCK, "rrps", "ada/rock", description=HOSTILE)
        opened = Public(arena.home)
        yield opened, arena
        opened.close()


def test_a_badge_says_where_a_policy_stands(public):
    told, arena = public
    (title,) = ElementTree.fromstring(told.badge("rrps", "ada/rock")).iter(f"{SVG}title")
    assert title.text == "ada/rock at rrps: not ranked yet"
    arena.play("rrps", 2, only=["ada/rock"])
    (title,) = ElementTree.fromstring(told.badge("rrps", "ada/rock")).iter(f"{SVG}title")
    row = next(row for row in arena.leaderboard("rrps").rows if row.ref == "ada/rock@1")
    assert title.text.startswith(f"ada/rock at rrps: rank {row.rank} ")
    arena.withdraw("ada/rock@1", "rrps")
    assert "takes no part" in told.badge("rrps", "ada/rock@1")
    for game, ref, error in (("chess", "ada/rock", UsageFault), ("rrps", "a/b", UnknownPolicy)):
        with pytest.raises(error):
            told.badge(game, ref)


def test_a_badge_does_not_tell_who_is_hidden(public):
    told, arena = public
    secret = arena.submit(ROCK + "# 2\n", "rrps", "prof/secret").version
    now = datetime.now(UTC)
    arena.home.registry.set_status(secret.digest, Status.CANDIDATE, "")
    arena.home.registry.announce(
        "spring", "rrps", now, now + timedelta(days=1), matches=4, hidden=(secret.digest,)
    )
    for ref in ("prof/secret", "prof/secret@1", "prof/secre", "ada/secret"):
        with pytest.raises(UnknownPolicy) as refused:
            told.badge("rrps", ref)
        assert not any("prof" in one for one in refused.value.suggestions)
    assert "ada/rock at rrps" in told.badge("rrps", "ada/rock")


def test_feeds_have_the_newest_and_hold_what_anybody_writes(public):
    told, _ = public
    feed = json.loads(told.feed("rrps", "http://here"))
    first = feed["items"][0]
    assert (first["title"], first["content_text"]) == ("ada/rock@1", f"not ranked yet. {HOSTILE}")
    atom = ElementTree.fromstring(told.atom("rrps", "http://here"))
    entries = atom.findall(f"{ATOM}entry")
    assert len(entries) == len(feed["items"]) <= public_module.NEWEST
    assert entries[0].find(f"{ATOM}title").text == "ada/rock@1"
    assert "<script>" in entries[0].find(f"{ATOM}summary").text  # as text, and not as markup
    assert atom.find(f"{ATOM}updated").text == first["date_published"]
