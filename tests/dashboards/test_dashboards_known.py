"""Hidden populations are as unknown as what is not there, and withdrawn sources stay unread."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from arena import Arena
from arena.analysis.estimates import Estimate
from arena.contest.hidden import take_in
from arena.games import game as game_named
from arena.home import open_home
from arena.submission import prepare
from oracle.insight import Gain
from population.attempt_tree import tree_of
from population.exploit import Exploit
from population.exploits import keep_exploit
from population.runs import Runs
from population.situations import Situations
from registry.values import Parent, PolicyVersion, Status, Submission
from tests.dashboards.conftest import MadeOnce

Page = Callable[..., AppTest]

CLOSED = datetime(2026, 1, 8, tzinfo=UTC)
SECRET = "class Agent:\n    def act(self, observation):\n        return 'ROCK'  # hush\n"
REF = "operator/spring-secret1@1"
NOT_SHOWN = "so its source is not shown."


def said(app: AppTest) -> str:
    """Everything that a page says, tables and choices included."""
    kinds = ("markdown", "caption", "info", "error", "text", "code", "expander")
    texts = [
        str(getattr(one, "value", "") or getattr(one, "label", ""))
        for kind in kinds
        for one in app.get(kind)
    ]
    texts += [one.value.to_string() for one in app.dataframe]
    texts += [str(one.options) for one in app.selectbox]
    texts += [str(one.proto) for one in app.get("graphviz_chart")]
    return re.sub(r"\\([^\w\s])", r"\1", "\n".join(texts))


def put(
    home: Path, source: str, name: str, status: Status = Status.QUALIFIED, *parents: Parent
) -> PolicyVersion:
    prepared = prepare(game_named("rrps"), source, name=name, status=status, parents=parents)
    assert isinstance(prepared, Submission)
    return open_home(home).registry.submit(prepared, reserved=True).version


@pytest.fixture(scope="session")
def announced_home(played_home: Path, made_once: MadeOnce) -> Path:
    """A home with a tournament whose hidden population is one program."""

    def make(path: Path) -> None:
        shutil.copytree(played_home, path)
        with Arena(path, sandbox="process", workers=1) as arena:
            hidden = take_in(
                arena.home, arena.check, game_named("rrps"), "spring", [], [("secret1", SECRET)]
            )
            opens = CLOSED - timedelta(days=7)
            arena.home.registry.announce("spring", "rrps", opens, CLOSED, hidden=hidden)
            arena.play_pairs("rrps", {(hidden[0], arena.policy("house/rockbot", "rrps").digest): 2})

    return made_once("announced", make)


@pytest.fixture
def home(announced_home: Path, tmp_path: Path) -> Path:
    """The same, for tests that add to it."""
    return Path(shutil.copytree(announced_home, tmp_path / "home"))


def secret_of(home: Path) -> PolicyVersion:
    return open_home(home).registry.get("rrps", REF)


def errors(app: AppTest) -> list[str]:
    assert not app.exception
    return [re.sub(r"\\([^\w\s])", r"\1", one.value) for one in app.error]


@pytest.mark.parametrize("part", ["Results", "Source", "Lineage", "Faults", "Matches", "Exploit"])
def test_a_hidden_policy_has_no_page(page: Page, home: Path, part: str) -> None:
    app = page(home, "policy", policy=REF, part=part)
    assert errors(app) == [f"there is no policy '{REF}' in rrps; `arena list` shows what there is"]
    assert not app.get("download_button") and "hush" not in said(app)


def test_what_is_near_or_in_another_game_does_not_name_it(page: Page, home: Path) -> None:
    digest = secret_of(home).digest
    words = "there is no policy '{}' in {}; `arena list` shows what there is"
    for game, ref in (
        ("rrps", digest),
        ("rrps", digest[:8]),
        ("rrps", "operator/spring-secret1"),
        ("rrps", "operator/spring-secret2"),  # is not there
        ("kuhn", REF),
    ):
        assert errors(page(home, "policy", game, policy=ref)) == [words.format(ref, game)]
    (near,) = errors(page(home, "policy", policy="house/rockbott"))
    assert near.startswith("there is no policy 'house/rockbott' in rrps; did you mean house/rock")
    elsewhere = errors(page(home, "policy", "kuhn", policy="house/rockbot"))
    assert elsewhere == ["there is no policy 'house/rockbot' in kuhn (there is one in rrps)"]


def test_its_relatives_and_opponents_do_not_tell_of_it(page: Page, home: Path) -> None:
    secret = secret_of(home)
    child = put(
        home,
        SECRET.replace("hush", "mine"),  # the same code, but for a comment
        "ada/child",
        Status.QUALIFIED,
        Parent(secret.digest, "made-from"),
    )
    assert child.code_digest == secret.code_digest
    for ref, part in ((child.ref, "Lineage"), (child.ref, "Source"), ("house/rockbot", "Matches")):
        app = page(home, "policy", policy=ref, part=part)
        assert not errors(app)
        assert "spring" not in said(app) and secret.digest not in said(app)


def test_its_matches_are_neither_listed_nor_told(page: Page, home: Path) -> None:
    (newest, *_) = open_home(home).store.matches("rrps", 1, of=secret_of(home).digest)
    listed = page(home, "replay")
    assert not errors(listed) and "spring" not in said(listed)
    assert newest.id[:12] not in said(listed)
    words = "no stored match begins with {}; `arena matches` lists them"
    for asked in (newest.id, "0" * 32):
        assert errors(page(home, "replay", match=asked)) == [words.format(asked)]


def test_after_the_final_it_is_known(page: Page, home: Path) -> None:
    registry = open_home(home).registry
    registry.freeze("spring", (), CLOSED + timedelta(days=1))
    assert errors(page(home, "policy", policy=REF))
    registry.certify("spring", "0" * 64)
    assert not errors(page(home, "policy", policy=REF))
    assert "spring-secret1" in said(page(home, "policy", policy="house/rockbot", part="Matches"))


@pytest.mark.parametrize("status", [Status.YANKED, Status.QUARANTINED])
def test_withdrawn_and_quarantined_sources_are_not_shown(
    page: Page, home_copy: Path, status: Status
) -> None:
    version = put(home_copy, SECRET, "ada/rock")
    assert "hush" in said(page(home_copy, "policy", policy="ada/rock", part="Source"))
    open_home(home_copy).registry.set_status(version.digest, status, "as it is")
    app = page(home_copy, "policy", policy="ada/rock", part="Source")
    assert NOT_SHOWN in said(app) and "hush" not in said(app)
    assert not app.get("download_button")
    assert "as it is" in said(page(home_copy, "policy", policy="ada/rock"))  # the rest stays


def test_nothing_stands_beside_a_withdrawn_source(page: Page, home_copy: Path) -> None:
    first = put(home_copy, SECRET, "ada/rock")
    put(home_copy, SECRET.replace("hush", "mine"), "ada/rock")
    app = page(home_copy, "policy", policy="ada/rock@2", part="Source", beside="ada/rock@1")
    assert "ada/rock@1" in said(app)
    open_home(home_copy).registry.set_status(first.digest, Status.YANKED, "mine")
    app = page(home_copy, "policy", policy="ada/rock@2", part="Source", beside="ada/rock@1")
    assert not errors(app) and "ada/rock@1" not in said(app) and "hush" not in said(app)


def test_what_a_run_tried_is_shown(page: Page, home_copy: Path) -> None:
    put(home_copy, SECRET, "csro/one-k01", Status.CANDIDATE)
    app = page(home_copy, "policy", policy="csro/one-k01", part="Source")
    assert "hush" in said(app) and app.get("download_button")


def test_an_opponent_that_became_hidden_has_no_name(page: Page, home: Path) -> None:
    registry = open_home(home).registry
    digest = registry.get("rrps", "house/rockbot").digest
    registry.set_status(digest, Status.YANKED, "kept for the final")
    opens = CLOSED - timedelta(days=7)
    registry.announce("summer", "rrps", opens, CLOSED, hidden=(digest,))
    app = page(home, "policy", policy="eve/hostile")
    assert not errors(app)
    assert "policy=unknown" in said(app) and "house%2Frockbot" not in said(app)


def test_attempts_of_a_run_show_sources_but_those_in_quarantine(
    page: Page, runs_home: Path, tmp_path: Path
) -> None:
    home = Path(shutil.copytree(runs_home, tmp_path / "home"))
    registry = open_home(home).registry
    for tried in tree_of(Runs(home).iterations("s1")).tried:
        if tried.attempt.digest:
            digest = tried.attempt.digest
            name = tried.name
    address = {"run": "s1", "part": "Refinement", "attempt": name}
    app = page(home, "runs", **address)
    assert "Source" in [tab.label for tab in app.tabs]
    registry.set_status(digest, Status.QUARANTINED, "does not repeat")
    app = page(home, "runs", **address)
    assert not errors(app) and NOT_SHOWN in said(app)
    assert not {"Source", "Changes"} & {tab.label for tab in app.tabs}


def test_exploits_that_are_withdrawn_keep_their_numbers(page: Page, home: Path) -> None:
    registry = open_home(home).registry
    target = registry.get("rrps", "house/rockbot")
    program = put(home, SECRET.replace("hush", "found it").replace("ROCK", "PAPER"), "eve/won")
    gain = Estimate(1.0, 0.1, 0.8, 1.2)
    for one in (program, secret_of(home)):
        keep_exploit(Runs(home), Exploit(target, one, gain, 40, None, 7, None), "zero-shot")
    app = page(home, "policy", policy="house/rockbot", part="Exploit")
    assert "found it" in said(app) and "eve/won" in said(app)
    assert "spring" not in said(app) and "hush" not in said(app)
    registry.set_status(program.digest, Status.YANKED, "mine")
    app = page(home, "policy", policy="house/rockbot", part="Exploit")
    assert not errors(app) and NOT_SHOWN in said(app) and "found it" not in said(app)
    assert "eve/won" in said(app)


def test_an_exploit_says_where_it_gains_and_claims_no_more_than_is_known(
    page: Page, home: Path
) -> None:
    registry = open_home(home).registry
    target = registry.get("leduc", "house/AlwaysCall")
    program = registry.get("leduc", "house/AlwaysFold")
    ends = tuple(Gain(f"end {place}", 1 / 14, 7.0 - place) for place in range(14))
    kinds = (("end", ends), ("place", (Gain("acted first", 0.5, 4.0),)))
    where = Situations((1.0, 1.0, 1.0, 1.0), 1.0, 1.0, 1.0, 1.0, 6, kinds)
    luck = Estimate(160.0, 2.0, 156.0, 164.0)
    keep_exploit(Runs(home), Exploit(target, program, luck, 40, where, 7, 146.67), "zero-shot")
    asked = {"policy": "house/AlwaysCall", "part": "Exploit"}
    app = page(home, "policy", "leduc", **asked)
    assert not errors(app) and "no program wins more than 146.67 (exact)" in said(app)
    assert "at least" not in said(app)
    _, ended, placed = (one.value for one in app.dataframe)
    assert list(placed["By place"]) == ["acted first"]
    assert list(ended["Gained"]) == [7.0, 6.0, 5.0, 4.0, 3.0, -2.0, -3.0, -4.0, -5.0, -6.0]
    # What was kept before says nothing of that.
    before = replace(where, kinds=())
    keep_exploit(Runs(home), Exploit(target, program, luck, 40, before, 7, None), "zero-shot")
    app = page(home, "policy", "leduc", **asked)
    assert not errors(app) and "so it can be exploited by 156.0 at least" in said(app)
    assert len(app.dataframe) == 1
    assert "forfeited" not in said(app)
    frail = replace(before, forfeits=2, by_forfeits=156.5)
    keep_exploit(Runs(home), Exploit(target, program, luck, 40, frail, 7, None), "zero-shot")
    app = page(home, "policy", "leduc", **asked)
    last = app.dataframe[0].value.iloc[-1]
    assert list(last) == ["left of the 2 matches that it forfeited", 156.5]
    assert "each time with what it forfeited" in said(app)


def test_who_hands_in_the_same_program_is_seen_by_the_own_name(page: Page, home: Path) -> None:
    entered = put(home, SECRET, "ada/rock")
    (newest, *_) = open_home(home).store.matches("rrps", 1, of=entered.digest)
    for app in (
        page(home, "replay", match=newest.id),
        page(home, "policy", policy=entered.digest, part="Lineage"),
    ):
        assert not errors(app) and "ada/rock" in said(app) and "spring" not in said(app)
    assert errors(page(home, "policy", policy=REF))
