"""What every game says of itself: its rules, who is in the house, how a match is told and drawn."""

from __future__ import annotations

import ast
import json
import re
import textwrap
from html.parser import HTMLParser

import pytest

from arena import Arena, Rejection
from arena.games import GAMES, Game
from arena.games.parts import Forfeit
from arena.house.population import default_population, population
from arena.kinds.host import host_policy
from arena.submission import prepare
from registry import digest_of
from registry.values import Status
from tests.arena.at_the_table import play, record, scripted

HOSTILE = "</div><script>alert(1)</script>\"'<img src=x onerror=alert(2)>&"

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))


# --- the rules -------------------------------------------------------------------------------


@every_game
def test_the_rules_tell_what_the_contract_asks(game: Game) -> None:
    assert re.findall(r"rules version (\d+)", game.rules) == [str(game.version)]
    calls = re.findall(r"^    (\w+)\.(\w+)\(self(?:, (.*?))?\)", game.rules, re.MULTILINE)
    assert {name for name, _, _ in calls} == {game.contract.class_name}
    asked = {method: len(args.split(",")) if args else 0 for _, method, args in calls}
    assert asked == dict(game.contract.methods)
    for action in game.actions:
        assert f'"{action}"' in game.rules
    assert f"{game.length}" in game.rules and game.unit.rstrip("s") in game.rules


@every_game
def test_the_examples_are_what_authors_get(game: Game) -> None:
    for example in game.examples:
        heard = [
            seen
            for author in scripted(game, example.deal_seed, example.moves)
            for seen in author.heard
        ]
        assert (example.method, example.observation) in heard, example.told


@every_game
def test_the_examples_stand_in_the_rules(game: Game) -> None:
    blocks = re.findall(r"^    (\{.*?\})\n\n", game.rules, re.DOTALL | re.MULTILINE)
    shown = [ast.literal_eval(textwrap.dedent(block)) for block in blocks]
    assert shown and len(shown) == len(game.examples)
    for example in game.examples:
        assert example.observation in shown and example.told.endswith(".")
    assert {example.method for example in game.examples} <= set(game.contract.methods)


# --- who plays -------------------------------------------------------------------------------


@every_game
def test_the_house_and_the_starter_are_entrants(game: Game, arena: Arena) -> None:
    """A new home has them all, so the starter passed its trial in the sandbox."""
    names = {version.name for version in arena.policies(game, status=Status.QUALIFIED)}
    assert names == {game.starter.name, *(one.name for one in game.house())}
    assert game.starter.name == f"starter/{game.name}"
    assert f"class {game.contract.class_name}" in game.starter.source
    assert game.starter.path.is_file() and game.starter.place.endswith(f"{game.name}/starter.py")
    assert game.starter.description.endswith(".")


@every_game
def test_the_house_says_who_everybody_is(game: Game) -> None:
    house = game.house()
    assert [one.name for one in house] == sorted(one.name for one in house)
    for one in house:
        assert one.game == game.name and one.name.startswith("house/")
        assert one.description.endswith(".")
        assert {"author", "year", "source"} <= set(one.provenance)
        document = json.loads(one.payload)
        assert one.payload == json.dumps(document, sort_keys=True, separators=(",", ":"))
    assert len({one.description for one in house}) == len(house)


@every_game
def test_everybody_in_the_house_plays_a_match(game: Game) -> None:
    house = game.house()
    for number, one in enumerate(house):
        rival = house[(number + 1) % len(house)]
        players = [
            host_policy(game, entrant.kind, entrant.payload, 7 + seat)
            for seat, entrant in enumerate((one, rival))
        ]
        assert play(game, [number], players).fault(0) is None


@every_game
def test_the_evaluation_populations_are_of_the_house(game: Game) -> None:
    house = {one.name: digest_of(one.game, one.kind, one.payload) for one in game.house()}
    for name, members in game.populations.items():
        assert re.fullmatch(rf"{game.name}-{len(members)}@\d+", name)
        assert list(members) == sorted(members)
        frozen = population(name)
        assert (frozen.game, frozen.members) == (game.name, members)
        assert [house[member] for member in members] == list(frozen.digests)
    assert default_population(game.name).name == list(game.populations)[-1]


@every_game
def test_the_initial_policy_is_taken_in(game: Game, arena: Arena) -> None:
    prepared = prepare(game, game.initial, name="somebody/initial")
    assert not isinstance(prepared, Rejection), prepared
    (entered,) = arena.enter(game, [prepared])
    assert not isinstance(entered, Rejection), entered
    assert game.match_counts.pair >= 4 and game.match_counts.mixture >= 4


# --- how it is told --------------------------------------------------------------------------


class WellFormed(HTMLParser):
    """Every element that is opened is closed, in order; nothing of a stranger is among them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert all(not name.startswith("on") for name, _ in attrs)
        if tag not in ("br", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def looked_at(html: str) -> str:
    """The text of a fragment that is well-formed and of our own making."""
    parser = WellFormed()
    parser.feed(html)
    parser.close()
    assert not parser.open and not parser.seen & {"script", "a", "style", "iframe"}
    assert all(HOSTILE not in part for part in re.findall("<[^>]*>", html))
    return "".join(parser.text)


@every_game
def test_every_event_is_told_and_drawn(game: Game) -> None:
    moves = record(game, 4, 4)
    events = game.account(4, moves, None).events
    rows = [game.telling.row(event) for event in events]
    assert len({tuple(row) for row in rows}) == 1
    assert [row["So far"] for row in rows] == [event["total"] for event in events]
    assert game.step.capitalize() in rows[0]
    json.dumps(rows)
    for at in (1, 2, len(events) // 2, len(events)):
        text = looked_at(game.telling.picture(events, at, (HOSTILE, HOSTILE), None))
        assert str(at) in text and text.count(HOSTILE) == 2
        # Seats are called what all else calls them; players of a hand, what observations do.
        assert text.count("seat 0") >= 1 and text.count("seat 1") >= 1
        if game.telling.window == 1:
            first = events[at - 1]["betting"][0]
            first = first if isinstance(first[0], int) else first[0]
            roles = re.findall(r"player ([01]), (deals|acts first)", text)
            assert sorted(roles) == [("0", "acts first"), ("1", "deals")]
            assert roles[first[0]][0] == "0" and "player 0" in game.telling.legend


@every_game
@pytest.mark.parametrize("seat", [0, 1])
def test_a_forfeit_is_drawn(game: Game, seat: int) -> None:
    moves = record(game, 4, 4)
    for cut in (b"", moves[:2], moves[:40]):
        account = game.account(4, cut, seat)
        step = len(account.totals) + 1
        forfeit = Forfeit(step, seat, HOSTILE, game.length, account.returns[0])
        drawn = game.telling.picture(account.events, step, (HOSTILE, HOSTILE), forfeit)
        assert "\N{MULTIPLICATION X}" in looked_at(drawn)


@every_game
def test_habits_are_tables(game: Game) -> None:
    events = game.account(4, record(game, 4, 4), None).events
    for seat in (0, 1):
        found = game.telling.habits(events, seat)
        assert len({tuple(row) for row in found.rows}) == 1
        assert set(found.shares) <= set(found.rows[0])
        shares = [float(str(row[name])) for row in found.rows for name in found.shares]
        assert all(0.0 <= share <= 100.0 for share in shares)


@every_game
def test_the_words(game: Game) -> None:
    assert game.step in ("throw", "hand") and game.unit.endswith("s")
    assert game.title.startswith("Repeated ") and len(game.short_title) <= 20
    assert game.title.lower().endswith(game.short_title.lower())
