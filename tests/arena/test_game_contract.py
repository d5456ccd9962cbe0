"""What holds for every game: a new one is added to `GAMES`, and passes this."""

from __future__ import annotations

import ast
import math
import random
import sys
from statistics import fmean, stdev
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.analysis.exact import best_response
from arena.games import GAMES, Game
from arena.kinds.tabular import payload_of, states_of, tabular_policy
from tests.arena.at_the_table import (
    IDLE,
    Author,
    asked,
    at_random,
    legal_in,
    messages_of,
    module_of,
    play,
    record,
    replies_of,
    scripted,
)
from tests.arena.exact_returns import match_value

SEEDS = st.integers(0, 2**63 - 1)
LUCK = st.integers(0, 2**32)
CRASHED, ILLEGAL, MALFORMED, NONE = 250, 251, 252, 253

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
with_states = pytest.mark.parametrize(
    "game", [one for one in GAMES.values() if one.states], ids=lambda one: one.name
)


# --- the table -------------------------------------------------------------------------------


@every_game
def test_the_table_needs_the_standard_library_alone(game: Game) -> None:
    """The sandbox ships this file into a box where nothing else is."""
    tree = ast.parse(game.table_path.read_text(encoding="utf-8"))
    imported = {
        (node.module or ".") if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names
    shipped = module_of(game)
    assert (game.actions, game.length) == (shipped.ACTIONS, shipped.LENGTH)
    codes = (shipped.IDLE, shipped.NONE, shipped.MALFORMED, shipped.ILLEGAL, shipped.RAISED)
    assert codes == (IDLE, NONE, MALFORMED, ILLEGAL, CRASHED)
    assert len(shipped.Table([1, 2]).messages()) == 4 * shipped.MESSAGE_BYTES


@every_game
@given(SEEDS, LUCK)
@settings(max_examples=5)
def test_a_match_ends_and_the_engine_scores_it(game: Game, deal_seed: int, luck: int) -> None:
    moves = record(game, deal_seed, luck)
    returns = game.score(deal_seed, moves, None)
    account = game.account(deal_seed, moves, None)
    assert account.returns == returns and sum(returns) == 0
    assert len(account.events) == len(account.totals) == game.length
    assert account.totals[-1] == returns[0]
    movers = game.movers(deal_seed, moves, None)
    assert len(movers) == len(moves) and set(movers) == {0, 1}
    assert all(move < len(game.actions) for move in moves)


@every_game
@given(SEEDS, LUCK, st.floats(0, 1), st.sampled_from([0, 1]))
@settings(max_examples=10)
def test_a_fault_at_any_point_is_a_forfeit(
    game: Game, deal_seed: int, luck: int, part: float, faulty: int
) -> None:
    """What was over counts; the rest is lost, and it never pays to forfeit."""
    table = game.table([deal_seed])
    seats = [game.seat(at_random(game, luck + seat)) for seat in (0, 1)]
    for _ in range(int(part * (game.length - 1))):
        table.advance(bytes(replies_of(table, seats)))
    before, replies = table.moves(0), replies_of(table, seats)
    replies[faulty] = random.Random(luck).choice((CRASHED, MALFORMED, 240))
    table.advance(bytes(replies))
    assert table.done and table.fault(0) == (faulty, replies[faulty])
    assert table.moves(0) == before and not asked(table)
    account = game.account(deal_seed, before, faulty)
    assert account.returns == game.score(deal_seed, before, faulty)
    assert sum(account.returns) == 0
    so_far = account.totals[-1] if account.totals else 0.0
    lost = (so_far - account.returns[0]) * (1 if faulty == 0 else -1)
    assert lost >= game.length - len(account.totals) > 0
    assert len(account.events) - len(account.totals) in (0, 1)


@every_game
def test_of_two_faults_seat_0_is_looked_at_first(game: Game) -> None:
    for seed in range(4):
        table = game.table([seed])
        table.advance(bytes((CRASHED, 249)))
        assert table.fault(0) == (0, CRASHED)


@every_game
@pytest.mark.parametrize(
    ("answer", "code"),
    [("", ILLEGAL), ("rock", ILLEGAL), (None, MALFORMED), (1, MALFORMED), (b"PASS", MALFORMED)],
)
def test_answers_that_are_no_action(game: Game, answer: Any, code: int) -> None:
    table = game.table([1])
    replies = replies_of(table, [game.seat(Author(game, lambda _: answer)) for _ in (0, 1)])
    guilty = asked(table)
    assert [replies[seat] for seat in guilty] == [code] * len(guilty)
    table.advance(bytes(replies))
    assert table.fault(0) == (guilty[0], code)


@every_game
def test_a_string_that_claims_to_be_every_action_is_none(game: Game) -> None:
    class Loud(str):
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            return True

    table = game.table([1])
    seat = game.seat(Author(game, lambda _: Loud(game.actions[0])))
    assert seat.reply(messages_of(table)[asked(table)[0]]) == MALFORMED


@every_game
def test_what_a_policy_raises_passes_through(game: Game) -> None:
    def fail(_: Any) -> str:
        raise KeyError("mine")

    table = game.table([1])
    with pytest.raises(KeyError, match="mine"):
        game.seat(Author(game, fail)).reply(messages_of(table)[asked(table)[0]])


@every_game
def test_wrong_use_is_refused(game: Game) -> None:
    table = game.table([1])
    with pytest.raises(ValueError, match="3 replies for 2 seats"):
        table.advance(bytes(3))
    table.advance(bytes((CRASHED, CRASHED)))
    with pytest.raises(ValueError, match="every match is over"):
        table.advance(bytes((NONE, NONE)))
    assert game.table([]).done


@every_game
@given(st.lists(st.binary(min_size=4, max_size=4), max_size=60))
@settings(max_examples=50)
def test_any_replies_keep_the_table_sound(game: Game, ticks: list[bytes]) -> None:
    """Whatever a broken or hostile worker answers, the record stays legal and scores."""
    table = game.table([1, 2])
    for replies in ticks:
        if table.done:
            break
        table.advance(replies)
    for match, seed in enumerate((1, 2)):
        fault = table.fault(match)
        returns = game.score(seed, table.moves(match), fault[0] if fault else 0)
        assert sum(returns) == 0


@every_game
@given(st.lists(SEEDS, min_size=1, max_size=4, unique=True))
@settings(max_examples=5)
def test_company_changes_nothing(game: Game, seeds: list[int]) -> None:
    together = play(game, seeds, [at_random(game, s ^ seat) for s in seeds for seat in (0, 1)])
    for match, seed in enumerate(seeds):
        alone = play(game, [seed], [at_random(game, seed), at_random(game, seed ^ 1)])
        assert alone.moves(0) == together.moves(match)


@every_game
def test_deals_matter_where_the_game_says_so(game: Game) -> None:
    """The same moves are legal under any deal, and worth the same only where nothing is dealt."""
    moves = record(game, 9, 3)
    worth = {game.score(seed, moves, None) for seed in range(20)}
    assert (len(worth) > 1) == game.has_deals


@every_game
def test_a_policy_may_spoil_what_it_is_given(game: Game) -> None:
    def spoil(seen: Any) -> str:
        action = rng.choice(legal_in(game, seen))
        for part in seen.values():
            if isinstance(part, dict | list):
                part.clear()
        seen.clear()
        return action

    rng = random.Random(5)
    spoiled = play(game, [3], [Author(game, spoil), at_random(game, 6)])
    honest = play(game, [3], [at_random(game, 5), at_random(game, 6)])
    assert spoiled.moves(0) == honest.moves(0)


# --- the record ------------------------------------------------------------------------------


@every_game
@given(SEEDS, LUCK, st.floats(0, 1))
@settings(max_examples=10)
def test_packing_is_reversible(game: Game, deal_seed: int, luck: int, part: float) -> None:
    moves = record(game, deal_seed, luck)
    # A record of throws has whole throws.
    cut = moves[: 2 * int(part * len(moves) / 2)]
    for one in (moves, cut):
        assert game.unpack(game.pack(one)) == one
    assert len(game.pack(moves)) <= len(moves) // 3


@every_game
@given(st.binary(max_size=12))
@settings(max_examples=200)
def test_what_was_not_packed_is_refused(game: Game, packed: bytes) -> None:
    try:
        moves = game.unpack(packed)
    except ValueError:
        return
    assert game.pack(moves) == packed


@every_game
def test_what_is_no_record_is_refused(game: Game) -> None:
    moves = record(game, 1, 1)
    for broken in (moves[:-2], b"", moves + moves[:2], b"\x03" + moves[1:]):
        for method in (game.score, game.account, game.movers):
            with pytest.raises(ValueError):
                method(1, broken, None)
    with pytest.raises(ValueError, match="fault_seat is 2"):
        game.score(1, moves[:2], 2)


# --- what is exact ---------------------------------------------------------------------------


@with_states
def test_an_observation_names_a_state_in_which_its_actions_are_legal(game: Game) -> None:
    assert game.states
    seen = [author.heard for author in scripted(game, 2, record(game, 2, 2))]
    turns = [told for heard in seen for method, told in heard if method == "act"]
    assert len(turns) > game.length
    states = {game.states.observed(told) for told in turns}
    assert states <= set(game.states.legal)
    assert len(states) > len(game.states.legal) / 4
    for told in turns:
        if "legal_actions" in told["player_view"]:
            assert told["player_view"]["legal_actions"] == legal_in(game, told)


@with_states
def test_sampled_play_agrees_with_exact_values(game: Game) -> None:
    """House against house, and the best response to each; within three standard errors."""
    space = game.states
    assert space
    house = [one.payload for one in game.house()]
    for other in house:
        target = states_of(space, other)
        response = payload_of(space, best_response(space, target))
        for one in (house[0], response):
            sampled = _sampled(game, (one, other), 60)
            error = stdev(sampled) / math.sqrt(len(sampled))
            exact = match_value(space, states_of(space, one), target)
            assert abs(fmean(sampled) - exact) <= 3.5 * error + 1e-9


def _sampled(game: Game, payloads: tuple[str, str], deals: int) -> list[float]:
    """Means over both halves of each duplicate, of what the first policy won."""
    policies = []
    for match in range(2 * deals):
        seated = payloads if match % 2 == 0 else payloads[::-1]
        policies += [tabular_policy(game, seated[s], 7_919 * match + s) for s in (0, 1)]
    table = play(game, [deal for deal in range(deals) for _ in (0, 1)], policies)
    returns = [game.score(m // 2, table.moves(m), None) for m in range(2 * deals)]
    return [(returns[m][0] + returns[m + 1][1]) / 2 for m in range(0, 2 * deals, 2)]
