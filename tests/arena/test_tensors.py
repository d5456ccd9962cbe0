"""Games as numbers: the same play as at the table, and what the engine's tensors hold."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pyspiel
import pytest

from arena.games import GAMES, Game
from arena.games.leduc import table as tables
from arena.games.parts import Tensors
from tests.arena.at_the_table import IDLE, at_random, legal_in

with_tensors = pytest.mark.parametrize(
    "game", [one for one in GAMES.values() if one.tensors], ids=lambda game: game.name
)


def tensors_of(game: Game) -> Tensors:
    assert game.tensors is not None
    return game.tensors


def legal_replies(tensors: Tensors, messages: npt.NDArray[Any], rng: random.Random) -> bytes:
    """A random legal action of each seat that is asked, 253 of the others."""
    return bytes(
        rng.choice(np.flatnonzero(tensors.legal(message[None])[0]).tolist()) if asked else 253
        for message, asked in zip(messages, tensors.asks(messages), strict=True)
    )


@with_tensors
def test_a_field_says_and_pays_what_the_table_does(game: Game) -> None:
    """Message by message, over whole matches that do not end together."""
    tensors, seeds = tensors_of(game), [11, 12, 13]
    field, rng = tensors.field(len(seeds)), random.Random(5)
    assert field.over.all()
    field.begin(np.arange(3), seeds)
    tables, won = [game.table([seed]) for seed in seeds], np.zeros(3)
    size = len(tables[0].messages()) // 2
    while not field.over.all():
        going = np.flatnonzero(~field.over)
        replies = []
        for match in going:
            told = np.frombuffer(tables[match].messages(), np.uint8).reshape(2, size)
            seen = field.messages[match]
            asked = told[:, 0] != IDLE
            assert (seen[:, 0] != IDLE).tolist() == asked.tolist()
            assert (seen[asked] == told[asked]).all()
            both = legal_replies(tensors, told, rng)
            tables[match].advance(both)
            replies.append([0 if reply == 253 else reply for reply in both])
        won[going] += field.advance(going, np.array(replies, dtype=np.uint8))
    for match, table in enumerate(tables):
        assert game.score(seeds[match], table.moves(0), None)[0] == won[match]


@with_tensors
def test_rows_may_stand_still_and_begin_again(game: Game) -> None:
    tensors = tensors_of(game)
    field = tensors.field(2)
    field.begin(np.array([0, 1]), [3, 4])
    still = field.messages[1].copy()
    while not field.over[0]:
        rng = random.Random(1)
        replies = legal_replies(tensors, field.messages[0], rng)
        field.advance(np.array([0]), np.frombuffer(replies, np.uint8).reshape(1, 2) % 253)
    assert (field.messages[1] == still).all() and not field.over[1]
    field.begin(np.array([0]), [4])
    begun, asked = field.messages[0], tensors.asks(still)
    assert (tensors.asks(begun) == asked).all() and (begun[asked] == still[asked]).all()
    assert not field.over[0]


@with_tensors
def test_an_author_turns_observations_back_into_messages(game: Game) -> None:
    """A seat makes observations of messages, and the author makes the same messages of them."""
    tensors = tensors_of(game)
    heard: list[bytes] = []
    told: list[bytes] = []
    rng = random.Random(2)

    def reply(message: bytes) -> int:
        heard.append(message)
        return int(rng.choice(np.flatnonzero(tensors.legal(as_rows(message))[0])))

    table = game.table([8])
    seats = [game.seat(tensors.author(reply)), game.seat(at_random(game, 3))]
    while not table.done:
        messages = table.messages()
        size = len(messages) // 2
        if tensors.asks(as_rows(messages[:size]))[0]:
            told.append(messages[:size])
        table.advance(
            bytes(
                seat.reply(messages[number * size : (number + 1) * size])
                for number, seat in enumerate(seats)
            )
        )
    assert table.fault(0) is None
    assert heard == told


def as_rows(message: bytes) -> npt.NDArray[np.uint8]:
    return np.frombuffer(message, np.uint8).reshape(1, -1)


@with_tensors
def test_observations_are_exact_and_of_the_stated_size(game: Game) -> None:
    tensors, seen = tensors_of(game), []
    field, rng = tensors.field(4), random.Random(9)
    field.begin(np.arange(4), [1, 2, 3, 4])
    for _ in range(300):
        flat = field.messages.reshape(8, -1)
        seen.append(tensors.see(flat[flat[:, 0] != IDLE]))
        replies = np.frombuffer(legal_replies(tensors, flat, rng), np.uint8) % 253
        field.advance(np.arange(4), replies.reshape(4, 2))
    numbers = np.vstack(seen)
    assert numbers.shape[1] == tensors.size
    assert np.abs(numbers).max() <= 1 and (numbers * 16 == np.rint(numbers * 16)).all()


@pytest.mark.parametrize("seed", range(5))
def test_a_hand_of_leduc_is_the_engines_information_state(seed: int) -> None:
    """The first 24 numbers, at every decision of a hand, against the engine's tensor."""
    game, engine = GAMES["leduc"], pyspiel.load_game("leduc_poker(suit_isomorphism=true)")
    tensors, rng = tensors_of(game), random.Random(seed)
    heard: list[tuple[bytes, int]] = []

    def watched(number: int) -> Any:
        def reply(message: bytes) -> int:
            action = int(rng.choice(np.flatnonzero(tensors.legal(as_rows(message))[0])))
            heard.append((message, action))
            return action

        return game.seat(tensors.author(reply))

    table = game.table([seed])
    seats = [watched(0), watched(1)]
    while not table.done:
        messages = table.messages()
        table.advance(
            bytes(seat.reply(messages[6 * n : 6 * n + 6]) for n, seat in enumerate(seats))
        )
    deals, script = tables.dealt(seed)[1], iter(heard)
    for deal in deals:
        state = engine.new_initial_state()
        cards = iter(tables.rank_of(card) for card in tables.DEALS[deal])
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(next(cards))
                continue
            message, action = next(script)
            theirs = state.information_state_tensor(state.current_player())
            assert tensors.see(as_rows(message))[0, :24].tolist() == theirs
            state.apply_action(action)
    assert next(script, None) is None


def test_the_opponents_throw_is_seen() -> None:
    tensors = tensors_of(GAMES["rrps"])
    seen = tensors.see(np.array([[255], [0], [2]], np.uint8))
    assert seen.tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 1]]
    assert legal_in(GAMES["rrps"], None) == list(GAMES["rrps"].actions)
