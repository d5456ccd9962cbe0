"""Whoever hands in a guess at a server learns nothing of whether a tournament has it hidden."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from arena.errors import NotAllowed
from arena.games.rrps.game import RRPS
from arena.home import open_home
from arena.kinds.mixture import payload_of
from arena.rejection import Rejection
from arena.submission import prepare
from registry.errors import UnknownPolicy
from registry.values import Parent, Status, Submission
from tests.arena.serving import served

ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"
SECRET = ROCK.replace("ROCK", "PAPER") + "# secret\n"


@pytest.fixture
def there(new_home):
    with served(new_home()) as running:
        yield running


def hide(there, boss, whose):
    """A tournament with `SECRET`; returns the name under which it is kept."""
    closes = datetime.now(UTC) + timedelta(days=1)
    if whose == "operator":
        boss.office.announce("spring", "rrps", None, closes, secret=[("x", SECRET)])
        return "operator/spring-x@1"
    registry = open_home(there.home).registry
    digest = registry.submit(prepare(RRPS, SECRET, name="prof/x")).version.digest
    registry.set_status(digest, Status.CANDIDATE, "kept for the final")
    boss.office.announce("spring", "rrps", None, closes, hidden=["prof/x"])
    return "prof/x@1"


def hand_in(ada, how, name, source):
    """Hands in a policy, and returns what is said of it then."""
    facts = {"labels": {"iteration": "k01"}, "provenance": {"model": "m"}, "description": "Mine."}
    if how in ("submit", "withdraw"):
        found = ada.submit(source, "rrps", name, **facts)
        seen = [found.version]
        seen += [ada.withdraw(f"{name}@1", "rrps", "mine")] if how == "withdraw" else []
    else:
        parent = Parent(ada.policy("house/rockbot", "rrps").digest, "responds-to")
        one = prepare(RRPS, source, name=name, status=Status(how), parents=(parent,), **facts)
        (found,) = ada.enter("rrps", [one], ours=True)
        seen = [found.version]
    return found.version.digest, [(found.created, found.credited, len(found.trial))], seen


def as_told(one):
    """A whole policy, but for what is its own."""
    credits = [(name.ref, name.status, name.description) for name in one.credits]
    assert len(credits) == 1 and credits[0][0] == one.ref and one.created == one.credits[0].created
    own = {"digest": "", "name": "", "created": None, "code_digest": "", "credits": ()}
    return replace(one, **own, payload=one.payload[:5]), credits[0][1:]


@pytest.mark.parametrize(
    ("whose", "how"),
    [
        *(("operator", how) for how in ("submit", "withdraw", "candidate", "qualified")),
        ("prof", "withdraw"),
    ],
)
def test_nothing_tells_a_guess_that_is_hidden_from_one_that_is_not(there, as_, whose, how):
    """Whoever sees a difference, in anything, can ask of any program whether it is hidden."""
    ada, boss, eve = as_("ada"), as_("boss"), as_("eve")
    kept = hide(there, boss, whose)
    author = "csro" if how in ("candidate", "qualified") else "ada"
    names = [f"{author}/ada-{rest}" for rest in ("z0", "guess", "other", "z1")]
    sources = [f"{ROCK}# 0\n", SECRET, f"{SECRET}# another\n", f"{ROCK}# 1\n"]
    handed = [hand_in(ada, how, *one) for one in zip(names, sources, strict=True)]
    for who in (ada, eve):
        answers = []
        for name, (digest, said, seen) in zip(names, handed, strict=True):
            ref = f"{name}@1"
            seen = [*seen, who.policy(ref), who.policy(digest), who.versions([digest])[digest]]
            listed = who.policies("rrps")
            seen += [one for one in (*listed, *who.policies(author=author)) if one.ref == ref]
            matches = who.matches("rrps", ref, limit=None)
            assert {one.ref for row in matches for one in who.match(row.id).versions} >= {ref}
            seen += [v for row in matches for v in who.match(row.id).versions if v.ref == ref]
            changes = [(one.status, one.reason, one.ref == ref) for one in who.history(ref)]
            answers.append((said, changes, [as_told(one) for one in seen]))
        assert answers[0] == answers[1] == answers[2] == answers[3]
        assert answers[1][2][0][0].labels == {"iteration": "k01"}
        order = [f"{name}@1" for name in names]
        assert [one.ref for one in who.policies("rrps", author=author)] == order
        assert [one.ref for one in who.policies("rrps")][-4:] == order
        assert not who.policies("rrps", author=whose)
        with pytest.raises(UnknownPolicy):
            who.policy(kept, "rrps")
    seen = boss.policy(kept, "rrps")
    assert (seen.status, seen.payload) == (Status.CANDIDATE, SECRET)
    assert boss.office.tournaments()[0].hidden == (seen.digest,)


def test_authors_hand_in_no_candidates_of_their_own(there, as_):
    """They are what operators hide: who handed in one would no more see it if it is hidden."""
    ada, boss = as_("ada"), as_("boss")
    hide(there, boss, "operator")
    mine = ada.submit(ROCK, "rrps", "ada/rock").version.digest
    mixed = Submission(
        "rrps", "ada/mixed", "mixture", payload_of({mine: 1.0}), status=Status.CANDIDATE
    )
    for source in (SECRET, f"{SECRET}# another\n"):
        with pytest.raises(NotAllowed, match="only runs have those"):
            ada.enter("rrps", [prepare(RRPS, source, name="ada/x", status=Status.CANDIDATE)])
    with pytest.raises(NotAllowed, match="only runs have those"):
        ada.register(mixed)
    assert ada.register(replace(mixed, name="csro/ada-m"), ours=True).status is Status.CANDIDATE


def test_a_quarantine_does_not_name_what_is_kept(there, as_):
    ref = hide(there, as_("boss"), "operator")
    registry = open_home(there.home).registry
    code = registry.get("rrps", ref).code_digest
    registry.quarantine_code("rrps", code, "it does not repeat")
    refused = as_("ada").submit(SECRET + "\n", "rrps", "ada/guess")
    assert isinstance(refused, Rejection) and "it does not repeat" in refused.message
    assert "operator" not in str(refused) and "spring" not in str(refused)
