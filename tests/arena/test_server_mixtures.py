"""What cheats were tried at a server with mixtures, whose scores are put together from others'."""

import pytest

from arena.audit import quarantine
from arena.errors import NotAllowed, UsageFault
from arena.games.rrps.game import RRPS
from arena.home import open_home
from arena.kinds.mixture import payload_of
from arena.players import DEEPEST, members_of, resolver
from arena.submission import prepare
from registry.errors import UnknownPolicy
from registry.values import Status, Submission
from tests.arena.serving import served

ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"
PAPER = ROCK.replace("ROCK", "PAPER")
HOUSE = ("house/greenberg", "house/iocainebot")


@pytest.fixture
def there(new_home):
    with served(new_home()) as running:
        yield running


def mixture(name, weights):
    return Submission("rrps", name, "mixture", payload_of(weights))


def test_an_author_mixes_what_is_the_authors_own(there, as_):
    """By weights from the public table, two bots of the house would stand above both of them."""
    ada, bob, boss = as_("ada"), as_("bob"), as_("boss")
    mine = ada.submit(ROCK, "rrps", "ada/rock").version.digest
    theirs = bob.submit(PAPER, "rrps", "bob/paper").version.digest
    one, other = (ada.policy(ref, "rrps").digest for ref in HOUSE)
    for weights in ({one: 1.0}, {one: 0.7, other: 0.3}, {mine: 0.5, theirs: 0.5}):
        with pytest.raises(NotAllowed, match=r"of others none may be in it"):
            ada.register(mixture("ada/mixed", weights))
    third = boss.submit(ROCK.replace("ROCK", "SCISSORS"), "rrps", "boss/scissors").version.digest
    for weights in ({mine: 0.5, theirs: 0.25, third: 0.25}, {one: 1.0}, {mine: 0.2, one: 0.8}):
        with pytest.raises(NotAllowed, match="with which the run began"):
            ada.register(mixture("csro/ada-run", weights), ours=True)
    ours = ada.register(mixture("csro/ada-run", {mine: 0.5, theirs: 0.5}), ours=True)
    assert (ours.name, ours.status) == ("csro/ada-run", Status.QUALIFIED)
    # Who hands in the same program as somebody else owns it as well.
    assert ada.submit(PAPER, "rrps", "ada/paper").version.digest == theirs
    again = ada.register(mixture("ada/mixed", {mine: 0.5, theirs: 0.5}))
    assert (again.name, again.status) == ("ada/mixed", Status.QUALIFIED), "its own name of the same"
    assert boss.register(mixture("boss/mixed", {one: 0.7, other: 0.3})).status is Status.QUALIFIED
    ada.withdraw("ada/rock", "rrps")
    with pytest.raises(NotAllowed, match="was withdrawn: reinstate it"):
        ada.register(mixture("ada/more", {mine: 1.0}))


def test_runs_that_find_the_same_programs_both_mix_them(there, as_):
    """Runs of the grammar follow from seed and key, so two with the same options are the same."""
    digests = []
    for who in ("ada", "bob"):
        door = as_(who)
        found = [
            prepare(RRPS, source, name=f"csro/{who}-k{k:02}", status=Status.CANDIDATE)
            for k, source in enumerate((ROCK, PAPER))
        ]
        entered = door.enter("rrps", found, ours=True)
        digests.append([one.version.digest for one in entered])
        for digest in digests[-1]:
            door.admit(digest, "joined")
        half = dict.fromkeys(digests[-1], 0.5)
        assert door.register(mixture(f"csro/{who}", half), ours=True).status is Status.QUALIFIED
    assert digests[0] == digests[1]


def test_mixtures_of_mixtures_end_no_game(there, as_):
    """34 of them, each of the one before, made every leaderboard and round robin fail for good."""
    ada = as_("ada")
    mine = ada.submit(ROCK, "rrps", "ada/rock").version.digest
    first = ada.register(mixture("ada/m0", {mine: 1.0}))
    with pytest.raises(UsageFault, match=r"ada/m0@1 is a mixture itself: name its members"):
        ada.register(mixture("ada/m1", {first.digest: 1.0}))
    assert ada.leaderboard("rrps").rows


def test_a_mixture_goes_into_quarantine_with_its_member(there, as_):
    ada, boss = as_("ada"), as_("boss")
    mine = ada.submit(ROCK, "rrps", "ada/rock").version.digest
    shield = ada.register(mixture("ada/shield", {mine: 1.0}))
    both = boss.register(
        mixture("boss/both", {mine: 0.5, ada.policy(HOUSE[0], "rrps").digest: 0.5})
    )
    found = quarantine(open_home(there.home).registry, mine, "its moves did not repeat")
    assert {one.digest for one in found} == {mine, shield.digest, both.digest}
    for digest in (mine, shield.digest, both.digest):
        told = ada.policy(digest, "rrps")
        assert told.status is Status.QUARANTINED
        assert "did not repeat" in told.status_reason
    assert "it mixes ada/rock@1" in ada.policy(shield.digest, "rrps").status_reason
    with pytest.raises(NotAllowed):
        ada.reinstate("ada/shield", "rrps")
    # Nor does it come back under a new name.
    paper = ada.submit(PAPER, "rrps", "ada/paper").version.digest
    again = ada.register(mixture("ada/again", {mine: 0.9, paper: 0.1}))
    assert again.status is Status.QUARANTINED
    assert not {row.ref for row in ada.leaderboard("rrps").rows} & {
        "ada/rock@1", "ada/shield@1", "boss/both@1", "ada/again@1",
    }  # fmt: skip


def test_who_withdraws_a_program_first_saves_no_mixture_of_it(there, as_):
    ada = as_("ada")
    mine = ada.submit(ROCK, "rrps", "ada/rock").version.digest
    shield = ada.register(mixture("ada/shield", {mine: 1.0}))
    ada.withdraw("ada/rock", "rrps")
    quarantine(open_home(there.home).registry, mine, "its moves did not repeat")
    assert ada.policy(shield.digest, "rrps").status is Status.QUARANTINED


def test_who_withdraws_a_mixture_first_does_not_get_it_back(there, as_):
    ada = as_("ada")
    mine = ada.submit(ROCK, "rrps", "ada/rock").version.digest
    ada.register(mixture("ada/shield", {mine: 1.0}))
    ada.withdraw("ada/shield", "rrps")
    assert ada.reinstate("ada/shield", "rrps").status is Status.QUALIFIED
    ada.withdraw("ada/shield", "rrps")
    quarantine(open_home(there.home).registry, mine, "its moves did not repeat")
    with pytest.raises(NotAllowed, match="ada/rock@1, which is in quarantine"):
        ada.reinstate("ada/shield", "rrps")


def test_a_local_home_has_an_end_to_nesting_as_well(arena):
    last = arena.policy(HOUSE[0], "rrps").digest
    for level in range(DEEPEST):
        last = arena.register(mixture(f"me/m{level}", {last: 1.0})).digest
    with pytest.raises(UsageFault, match=f"more than {DEEPEST} deep"):
        arena.register(mixture("me/deeper", {last: 1.0}))
    assert arena.leaderboard("rrps").rows
    versions = arena.versions([last]).values()
    drawn = resolver(members_of(arena.home.registry, versions))
    assert drawn(last, 7) == arena.policy(HOUSE[0], "rrps").digest


def test_a_local_home_stores_no_mixture_that_nobody_could_play(arena):
    house = arena.policy(HOUSE[0], "rrps").digest
    before = arena.policies("rrps", kind="mixture")
    with pytest.raises(UsageFault, match=r"me/broken is no mixture: .*JSON"):
        arena.register(Submission("rrps", "me/broken", "mixture", "{"))
    with pytest.raises(UnknownPolicy):
        arena.register(mixture("me/half", {house: 0.5, "0" * 32: 0.5}))
    assert arena.policies("rrps", kind="mixture") == before


def test_mixtures_that_share_members_are_opened_once_each(arena):
    """Of two on each level, each over both below, there are 2^levels ways down."""
    pair = [arena.policy(ref, "rrps").digest for ref in HOUSE]
    for level in range(DEEPEST):
        names = (f"me/a{level}", f"me/b{level}")
        weights = ({pair[0]: 0.5, pair[1]: 0.5}, {pair[0]: 0.25, pair[1]: 0.75})
        pair = [
            arena.register(mixture(name, one)).digest
            for name, one in zip(names, weights, strict=True)
        ]
    assert arena.leaderboard("rrps").rows
