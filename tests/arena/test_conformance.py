"""What holds for an arena, holds for one on this machine and for one behind an address."""

import inspect
import math
from contextlib import contextmanager
from dataclasses import asdict, fields, is_dataclass

import numpy as np
import pytest

from arena import AnyArena, Arena, Rejection, game
from arena.errors import UnknownGame, UsageFault
from arena.kinds.mixture import payload_of
from arena.listings import Matches, Policies
from arena.remote import RemoteArena
from arena.submission import prepare
from registry.errors import MalformedName, UnknownPolicy
from registry.rights import Role
from registry.values import Status, Submission
from tests.arena.serving import served

ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"
PAPER = ROCK.replace("ROCK", "PAPER")
CRASHES = "class Agent:\n    def act(self, observation):\n        raise RuntimeError('paper!')\n"
HOUSE = ("house/rockbot", "house/randbot", "house/copybot")


@contextmanager
def opened(where, home):
    """An arena on a home, here or behind an address, for an operator."""
    if where == "local":
        with Arena(home, sandbox="process", workers=1) as arena:
            yield arena
        return
    with served(home) as there, Arena(there.address, token=there.tokens["boss"]) as arena:
        yield arena


@pytest.fixture(scope="module", params=["local", "remote"])
def arena(request, house, tmp_path_factory):
    """One arena for all tests below: each uses names and pairs of its own."""
    import shutil

    home = shutil.copytree(house, tmp_path_factory.mktemp(request.param) / "home")
    with opened(request.param, home) as made:
        yield made


def same(one, other):
    """Whether two values are equal to the last bit, NaN and arrays included."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True)
    if is_dataclass(one):
        return type(one) is type(other) and all(
            same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one)
        )
    if isinstance(one, dict):
        return same(list(one), list(other)) and same(list(one.values()), list(other.values()))
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and math.isnan(one):
        return math.isnan(other)
    return bool(one == other)


def test_the_remote_one_has_every_method_of_the_seam_and_its_parameters():
    for name in vars(AnyArena):
        if not name.startswith("_"):
            assert name in vars(RemoteArena), name
    assert not inspect.isabstract(RemoteArena)


def test_policies_come_in_are_found_and_go(arena):
    taken = arena.submit(ROCK + "\n# one\n", "rrps", "ada/rock", labels={"a": "b"})
    assert taken.created and taken.version.ref == "ada/rock@1" and len(taken.trial) == 2
    again = arena.submit(ROCK + "\n# one\n", game("rrps"), "ada/rock")
    assert not again.created and again.version == taken.version
    found = arena.policies("rrps", author="ada", status=(Status.QUALIFIED, Status.YANKED))
    assert isinstance(found, Policies) and "ada/rock@1" in [one.ref for one in found]
    assert arena.policies("rrps", labels={"a": None})[0].labels == {"a": "b"}
    assert arena.policies("rrps", author="ada", status="qualified") == found
    with pytest.raises(TypeError, match="autor"):
        arena.policies("rrps", autor="ada")
    with pytest.raises(UsageFault, match="unfit"):
        arena.policies("rrps", status="unfit")
    digest = taken.version.digest
    assert arena.refs({digest}) == {digest: "ada/rock@1"}
    assert arena.versions([digest])[digest].payload == ROCK + "\n# one\n"
    assert arena.withdraw("ada/rock", "rrps", "old").status is Status.YANKED
    with pytest.raises(UsageFault, match="yanked"):
        arena.play("rrps", 2, only=["ada/rock@1", HOUSE[0]])
    assert arena.reinstate("ada/rock@1", "rrps", "new").status is Status.QUALIFIED
    changes = arena.history("ada/rock", "rrps")
    assert [one.status.value for one in changes] == ["qualified", "yanked", "qualified"]
    assert any(one.name == "ada" for one in arena.authors())


def test_rejections_are_values(arena):
    for source in (b"\xff\xfe", "def", CRASHES):
        rejected = arena.submit(source, "rrps", "ada/bad")
        assert isinstance(rejected, Rejection)
    assert "paper!" in arena.check(CRASHES, "rrps").message
    assert arena.check(PAPER, "rrps") is None


def test_practice(arena):
    told = ROCK.replace("        return", "        print('hello')\n        return")
    found = arena.practise(told, "rrps", [HOUSE[0]], 2, seed=3)
    assert [one.seat for one in found] in ([0, 1], [1, 0])
    assert "hello" in found[0].printed and len(found[0].account.events) == 1000
    with pytest.raises(UsageFault, match="at least one match"):
        arena.practise(told, "rrps", [])


def test_errors_are_the_same_class_with_the_same_words(arena):
    with pytest.raises(UnknownPolicy, match="house/nobody") as unknown:
        arena.policy("house/nobody", "rrps")
    assert unknown.value.ref == "house/nobody"
    with pytest.raises(UnknownPolicy) as unknown:
        arena.policy("house/rockbat", "rrps")
    assert "house/rockbot" in " ".join(unknown.value.suggestions)
    with pytest.raises(UnknownGame, match="there is no game 'chess'"):
        arena.leaderboard("chess")
    with pytest.raises(MalformedName):
        arena.submit(ROCK, "rrps", "nonsense")
    with pytest.raises(MalformedName):
        arena.policy("a b", "rrps")
    with pytest.raises(UsageFault, match="no stored match"):
        arena.match("00ff00ff")
    with pytest.raises(TypeError):
        arena.leaderboard()


def test_matches_are_played_counted_told_and_repeated(arena):
    first, second = (arena.policy(name, "rrps").digest for name in HOUSE[:2])
    steps = []
    report = arena.play_pairs(
        "rrps", {(first, second): 4}, progress=lambda done, wanted: steps.append((done, wanted))
    )
    assert (report.played, report.skipped) == (4, 0) and report.walls == {"native": 4}
    assert arena.play_pairs("rrps", {(first, second): 4}).skipped == 4
    rows = arena.matches("rrps", HOUSE[0], against=HOUSE[1], limit=None)
    assert isinstance(rows, Matches) and len(rows) == 4
    arena.play_pairs("rrps", {(first, second): 24})
    assert len(arena.matches("rrps", HOUSE[0], against=HOUSE[1])) == 20
    assert len(arena.matches("rrps", HOUSE[0], against=HOUSE[1], limit=None)) == 24
    assert set(rows.refs.values()) == {f"{name}@1" for name in HOUSE[:2]}
    stored = arena.match(rows[0].id[:16])
    assert stored.game is game("rrps") and len(stored.account.events) == 1000
    assert arena.replay(rows[0].id).same
    assert arena.conduct(HOUSE[0], "rrps").played.shared == 0
    exact = arena.exact_payoffs("rrps", [first, second], {(first, second): 2})
    assert exact.count[0, 1] == 2 and not exact.mean.flags.writeable
    for number, wanted in (
        (-(10**30), 2),
        (2**31, 2),
        (-1, 2),
        (0, 2**31),
        (0, -1),
        (2**30, 2**30),
    ):
        with pytest.raises(UsageFault, match="cannot be counted"):
            arena.exact_payoffs("rrps", [first, second], {(first, second): wanted}, first=number)
    for limit in (-1, 2**31, 2**63, 10**30):
        with pytest.raises(UsageFault, match="cannot be listed"):
            arena.matches("rrps", limit=limit)


def test_scores_and_tables(arena):
    found = arena.evaluate("house/CFR+", "leduc", 4)
    assert found.report.played + found.report.skipped == 8
    table = arena.payoffs("leduc")
    assert table.mean.dtype == np.float64 and np.isnan(table.half_stderr).any()
    board = arena.leaderboard("leduc", by="pop_return", more=True)
    assert board.rows[0].rank == 1 and board.nash_exploitability is not None
    assert str(board) and board.to_arrow().num_rows == len(board.rows)


def test_mixtures_and_aliases(arena):
    digests = [arena.policy(name, "rrps").digest for name in HOUSE[:2]]
    weights = payload_of(dict.fromkeys(digests, 0.5))
    mixed = arena.register(Submission("rrps", "ada/mix", "mixture", weights))
    assert mixed.payload == weights
    arena.call("rrps", "champion", mixed.ref)
    assert arena.policy("champion", "rrps") == mixed
    with pytest.raises(UsageFault):
        arena.register(prepare(game("rrps"), ROCK, name="ada/straight"))


def test_candidates_are_entered_and_admitted(arena):
    candidate = prepare(game("rrps"), PAPER, name="csro/t-k01", status=Status.CANDIDATE)
    bad = Rejection("syntax-error", "no", 3)
    entered, rejected = arena.enter("rrps", [candidate, bad], ours=True)
    assert rejected == bad and entered.version.status is Status.CANDIDATE
    assert arena.admit(entered.version.digest, "joins").status is Status.QUALIFIED


def test_a_round_robin(arena):
    report = arena.play("rrps", 2, only=HOUSE)
    assert report.played + report.skipped == 6
    with pytest.raises(UsageFault, match="focus"):
        arena.play("rrps", 2, focus="leaderboard")


def test_seasons_come_to_an_end(arena):
    first = arena.seasons()[-1]
    closed, opened_now = arena.reveal_season()
    assert (closed.number, opened_now.number) == (first.number, first.number + 1)
    assert closed.key == bytes(range(32))
    (token,) = arena.office.add_accounts([("carol", Role.AUTHOR)]).values()
    assert len(token) == 48


def test_both_tell_the_same_of_one_home(new_home):
    """Every answer of a server equals what the same home answers here."""
    home = new_home()
    with Arena(home, sandbox="process", workers=1) as here:
        here.submit(ROCK, "rrps", "ann/rock", provenance={"steps": [1, 2.5, None]})
        here.play("rrps", 2, only=["ann/rock", *HOUSE])
        here.play("leduc", 2)
        digests = [here.policy(name, "rrps").digest for name in HOUSE]
        match = here.matches("leduc", limit=1)[0].id
        with served(home) as there, Arena(there.address, token=there.tokens["boss"]) as away:
            for asked in (
                lambda arena: arena.policies(),
                lambda arena: arena.history("ann/rock"),
                lambda arena: arena.payoffs("rrps"),
                lambda arena: arena.exact_payoffs("rrps", digests, {(digests[0], digests[1]): 2}),
                lambda arena: arena.leaderboard("leduc", more=True),
                lambda arena: arena.matches("rrps", limit=None),
                lambda arena: arena.conduct("ann/rock", "rrps"),
                lambda arena: arena.match(match),
                lambda arena: arena.match(match).decisions(
                    arena.match(match).result.match.seats[0]
                ),
                lambda arena: arena.wall,
            ):
                assert same(asked(here), asked(away))
                assert same(asked(here), asked(away)), "as it is kept"
            open_season = away.seasons()[-1]
            assert open_season.key is None
            assert asdict(open_season) == asdict(here.seasons()[-1]) | {"key": None}
