"""The Leduc table against the engine, the paper's examples, and policies that misbehave."""

from __future__ import annotations

import copy
import functools
import itertools
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.games.leduc import table as tables
from arena.games.leduc.table import IDLE, NONE, Seat, Table

GOLDEN = Path(__file__).parents[1] / "golden" / "leduc_paper_examples.json"
ENGINE = pyspiel.load_game("leduc_poker")
CALLED = tables.ACTIONS.index("CALL")


class Recorder:
    """Plays by a function of the observation and keeps everything that it is told."""

    def __init__(self, choose: Callable[[dict[str, Any]], Any]) -> None:
        self.choose = choose
        self.heard: list[tuple[str, Any]] = []

    def restart(self, player_id: int) -> None:
        self.heard.append(("restart", player_id))

    def receive_outcome(self, obs: dict[str, Any]) -> None:
        self.heard.append(("outcome", copy.deepcopy(obs)))

    def act(self, obs: dict[str, Any]) -> Any:
        self.heard.append(("act", copy.deepcopy(obs)))
        return self.choose(obs)

    def of(self, what: str) -> list[Any]:
        return [value for kind, value in self.heard if kind == what]


def random_player(seed: int) -> Recorder:
    rng = random.Random(seed)
    return Recorder(lambda obs: rng.choice(obs["player_view"]["legal_actions"]))


def always(action: str) -> Recorder:
    return Recorder(lambda obs: action)


def parts(messages: bytes) -> Iterator[bytes]:
    size = tables.MESSAGE_BYTES
    return (messages[at : at + size] for at in range(0, len(messages), size))


def tick(table: Table, seats: Sequence[Seat]) -> None:
    messages = parts(table.messages())
    replies = [seat.reply(message) for seat, message in zip(seats, messages, strict=True)]
    table.advance(bytes(replies))


def play(deal_seeds: Sequence[int], policies: Sequence[Any]) -> Table:
    table, seats = Table(deal_seeds), [Seat(policy) for policy in policies]
    while not table.done:
        tick(table, seats)
    return table


# --- against the engine ---------------------------------------------------------------------


def engine_at(cards: Sequence[int], actions: Sequence[int]) -> Any:
    """The engine's state; it has dealt whatever was to be dealt."""
    state, chance, betting = ENGINE.new_initial_state(), iter(cards), iter(actions)
    while not state.is_terminal():
        action = next(chance) if state.is_chance_node() else next(betting, None)
        if action is None:
            return state
        state.apply_action(action)
    return state


def engine_observation(state: Any, player: int) -> dict[str, Any]:
    """What the author contract shows of an engine state, from the engine's own accessors."""
    over = state.is_terminal()
    acts = not over and state.current_player() == player
    history: dict[str, list[dict[str, Any]]] = {"PREFLOP": [], "POSTFLOP": []}
    dealt = 0
    for event in state.full_history():
        if event.player < 0:
            dealt += 1
        else:
            name = "PREFLOP" if dealt < 3 else "POSTFLOP"
            action = tables.ACTIONS[event.action]
            history[name].append({"player_id": event.player, "action": action})
    folded = "FOLD" in json.dumps(history)

    def rank(card: int) -> str | None:
        return "JQK"[card // 2] if card >= 0 else None

    hands = [{"player_id": who, "hand": rank(state.private_card(who))} for who in (0, 1)]
    result = {
        "outcome": "FOLD" if folded else "SHOWDOWN",
        "returns": state.returns(),
        "showdown_hands": None if folded else hands,
    }
    return {
        "player_view": {
            "player_id": player,
            "current_player": acts,
            "hand": rank(state.private_card(player)),
            "legal_actions": [tables.ACTIONS[a] for a in state.legal_actions()] if acts else [],
        },
        "public_state": {
            "round": "PREFLOP" if state.round() == 1 else "POSTFLOP",
            "chips": state.money(),
            "pot_size": state.pot(),
            "public_card": rank(state.public_card()),
        },
        "action_history": history,
        "game_result": result if over else None,
    }


def engine_lines(actions: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Every complete betting line of a hand, by the engine (the same for all cards)."""
    state = engine_at((0, 2, 4), actions)
    if state.is_terminal():
        yield actions
        return
    for action in state.legal_actions():
        yield from engine_lines((*actions, action))


def seed_of_first_deal(deal: int, first_seat: int) -> int:
    """A deal seed whose first hand has these cards, with player 0 in that seat."""
    return FIRST_DEALS[deal, first_seat]


def _first_deals() -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    seed = 0
    while len(found) < 2 * len(tables.DEALS):
        first, deals = tables.dealt(seed)
        found.setdefault((deals[0], first), seed)
        seed += 1
    return found


FIRST_DEALS = _first_deals()


def first_hand(seed: int, line: Sequence[int]) -> dict[int, Recorder]:
    """Plays the first hand along a line, and on until both players were told its outcome."""
    script = iter([*line, CALLED])
    players = [Recorder(lambda obs: tables.ACTIONS[next(script)]) for _ in (0, 1)]
    table, seats = Table([seed]), [Seat(player) for player in players]
    for _ in range(len(line) + 1):
        tick(table, seats)
    for seat, message in zip(seats, parts(table.messages()), strict=True):
        if message[0] != IDLE:  # who acts second hears of the outcome now
            script = iter([CALLED])
            seat.reply(message)
    first, _ = tables.dealt(seed)
    return {0: players[first], 1: players[1 - first]}


def plain(value: Any) -> Any:
    """Floats that are whole numbers as int, so that types can be compared exactly."""
    return json.loads(json.dumps(value), parse_float=lambda text: int(float(text)))


@functools.cache
def at_decision(cards: tuple[int, ...], line: tuple[int, ...]) -> tuple[int, str]:
    """Who acts there and, as text, so that types count too, what he sees."""
    state = engine_at(cards, line)
    actor = state.current_player()
    return actor, repr(plain(engine_observation(state, actor)))


def test_every_deal_and_betting_line_is_the_engines() -> None:
    lines = list(engine_lines())
    assert (len(tables.DEALS), len(lines)) == (120, 49)
    for deal, cards in enumerate(tables.DEALS):
        for number, line in enumerate(lines):
            players = first_hand(seed_of_first_deal(deal, (deal + number) % 2), line)
            expected: dict[int, list[str]] = {0: [], 1: []}
            for at in range(len(line)):
                actor, seen = at_decision(cards, line[:at])
                expected[actor].append(seen)
            for player, recorder in players.items():
                hand = recorder.heard[: recorder.heard.index(("restart", 1 - player))]
                assert hand[0] == ("restart", player)
                assert [repr(seen) for kind, seen in hand if kind == "act"] == expected[player]
                final = plain(engine_observation(engine_at(cards, line), player))
                assert repr(hand[-1]) == repr(("outcome", final))


def test_the_tree_of_the_table_is_the_engines() -> None:
    for node in tables.NODES:
        line = (*node.rounds[0], *node.rounds[1])
        state = engine_at((0, 2, 4), line)
        assert state.is_terminal() == (node.actor is None)
        assert tuple(state.legal_actions()) == node.legal
        if node.actor is not None:
            assert state.current_player() == node.actor
            assert [100 - chips for chips in state.money()] == list(node.paid)


@pytest.mark.parametrize("example", json.loads(GOLDEN.read_text())["examples"])
def test_the_papers_example_observations(example: dict[str, Any]) -> None:
    ranks = tuple(tables.RANKS.index(rank) for rank in example["cards"])
    deal = next(
        index
        for index, cards in enumerate(tables.DEALS)
        if tuple(tables.rank_of(card) for card in cards) == ranks
    )
    line = [tables.ACTIONS.index(action) for action in example["actions"]]
    over = example["observation"]["game_result"] is not None
    players = first_hand(seed_of_first_deal(deal, 1), line if over else [*line, CALLED])
    assert example["observation"] in players[example["player"]].of("outcome" if over else "act")


# --- matches --------------------------------------------------------------------------------


def test_a_whole_match_in_the_order_of_the_contract() -> None:
    players = [random_player(1), random_player(2)]
    play([7], players)
    first, _ = tables.dealt(7)
    for seat, player in enumerate(players):
        kinds = [kind for kind, _ in player.heard]
        assert kinds.count("restart") == kinds.count("outcome") == 100
        trimmed = [kind for kind in kinds if kind != "act"]
        assert trimmed == ["restart", "outcome"] * 100
        ids = player.of("restart")
        assert ids[0] == (0 if seat == first else 1)
        assert all(one != other for one, other in itertools.pairwise(ids))


def test_the_other_card_shows_in_showdowns_only() -> None:
    players = [random_player(3), random_player(4)]
    play([11], players)
    fields = {"player_id", "current_player", "hand", "legal_actions"}
    for player in players:
        for outcome in player.of("outcome"):
            result = outcome["game_result"]
            assert (result["showdown_hands"] is None) == (result["outcome"] == "FOLD")
            assert set(outcome["player_view"]) == fields
        for seen in player.of("act"):
            assert seen["game_result"] is None and set(seen["player_view"]) == fields


@given(st.integers(0, 119), st.integers(0, 999))
@settings(max_examples=100)
def test_no_message_depends_on_the_hidden_card(seed: int, luck: int) -> None:
    """Before a showdown, deals that differ in the other's card alone look the same."""
    deal, first = seed % len(tables.DEALS), luck % 2
    mine, theirs, public = tables.DEALS[deal]
    other_card = next(card for card in range(6) if card not in (mine, theirs, public))
    twin = tables.DEALS.index((mine, other_card, public))
    pair = [Table([seed_of_first_deal(one, first)]) for one in (deal, twin)]
    rng = random.Random(luck)
    while True:
        one, other = (list(parts(table.messages())) for table in pair)
        assert one[first] == other[first]
        asked = next(number for number, part in enumerate(one) if part[0] != IDLE)
        replies = [NONE, NONE]
        replies[asked] = rng.choice(tables.NODES[one[asked][1]].legal)
        for table in pair:
            table.advance(bytes(replies))
        if engine_at((0, 2, 4), pair[0].moves(0)).is_terminal():
            break


def test_halves_of_a_duplicate_swap_policies_and_nothing_else() -> None:
    """The seats keep their cards and places; only who sits there changes."""
    halves = [
        [always("CALL"), Recorder(_raise_if_legal)],
        [Recorder(_raise_if_legal), always("CALL")],
    ]
    for half in halves:
        play([9], half)
    for seat in (0, 1):
        one, other = halves[0][seat], halves[1][seat]
        assert one.of("restart") == other.of("restart")
        cards = [
            [
                (seen["player_view"]["hand"], seen["public_state"]["public_card"])
                for seen in outcomes
            ]
            for outcomes in (one.of("outcome"), other.of("outcome"))
        ]
        assert cards[0] == cards[1]


def _raise_if_legal(obs: dict[str, Any]) -> str:
    return "RAISE" if "RAISE" in obs["player_view"]["legal_actions"] else "CALL"


def test_dealing_is_uniform_and_fixed() -> None:
    counts = [0] * len(tables.DEALS)
    firsts = 0
    for seed in range(600):
        first, deals = tables.dealt(seed)
        firsts += first
        for deal in deals:
            counts[deal] += 1
    expected = 600 * 100 / len(tables.DEALS)
    chi_square = sum((count - expected) ** 2 / expected for count in counts)
    assert chi_square < 190  # 119 degrees of freedom, p = 0.00003
    assert abs(firsts - 300) < 60
    first, deals = tables.dealt(2026)  # another way to deal would be another version of the game
    assert (first, deals[:6], deals[-3:]) == (0, (60, 61, 103, 12, 26, 72), (37, 110, 11))
