"""One seat of a language-model agent: what it asks, and what it plays without an answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from arena.errors import UsageFault
from arena.games import GAMES
from arena.games import game as game_named
from oracle.agent.agents import MOVES_TO_TRY, Agents, SilentModel, shorter
from oracle.agent.player import AgentPlayer
from oracle.agent.price import estimate
from oracle.agent.settings import AgentSettings, dialogue_of, settings_of
from oracle.models.errors import ModelRefuses, PromptRefused, TranscriptExhausted
from oracle.models.prices import Price
from oracle.models.protocol import Finish, Reply, Request
from tests.oracle.scripted_model import ScriptedModel

RRPS = game_named("rrps")
WORDS = dialogue_of(RRPS)
SETTINGS = AgentSettings("rrps", WORDS.version, "openai:any", history=2, temperature=0.0)
THROWS = (("ROCK", "PAPER"), ("PAPER", "PAPER"), ("SCISSORS", "ROCK"))


def observed(throw: tuple[str, str] | None = None) -> dict[str, str | None]:
    mine, theirs = throw or (None, None)
    return {"my_action": mine, "opponent_action": theirs}


def test_it_shows_the_last_of_the_past_and_plays_what_beats_the_next() -> None:
    asked: list[tuple[str, int, int]] = []

    def ask(question: str, move: int, number: int) -> str:
        asked.append((question, move, number))
        return "S R"

    player = AgentPlayer(WORDS, 2, ask, 1)
    assert [player.act(observed(one)) for one in (None, *THROWS)] == ["PAPER"] * 4
    assert asked == [
        ("(nothing was thrown yet)", 0, 0),
        ("R P", 1, 0),
        ("R P\nP P", 2, 0),
        ("P P\nS R", 3, 0),
    ]


def test_without_an_answer_it_reminds_once_and_then_draws_by_its_seed() -> None:
    def drawn(seed: int) -> tuple[list[str], list[int], list[str]]:
        asked, lost = list[str](), list[int]()

        def ask(question: str, move: int, number: int) -> str:
            asked.append(question)
            return "R P" if move == 1 else "?"

        def heard(move: int, named: bool) -> None:
            lost.extend([] if named else [move])

        player = AgentPlayer(WORDS, 2, ask, seed, heard)
        moves = [player.act(observed(THROWS[0] if move else None)) for move in range(40)]
        return moves, lost, asked

    moves, lost, asked = drawn(5)
    assert lost == [0, *range(2, 40)] and len(asked) == 2 * 39 + 1
    assert asked[1] == f"{asked[0]}\n\n{WORDS.again}"
    assert set(moves) == set(RRPS.actions) and moves[1] == "SCISSORS"
    assert drawn(5)[0] == moves != drawn(6)[0]


def scripted(say: Callable[[Request], str]) -> ScriptedModel:
    return ScriptedModel(say, name=SETTINGS.model)


def asked_by(settings: AgentSettings, model: ScriptedModel, folder: Path) -> list[Request]:
    """What two seats ask in their first two moves, and what they play follows from the journal."""
    agents = Agents(folder, lambda name: model)
    played = []
    for seed in (11, 12):
        player = agents(RRPS, settings.payload, seed)
        played += [player.act(observed()), player.act(observed(THROWS[0]))]
    agents.close()
    silent = Agents(folder, SilentModel)
    again = []
    for seed in (11, 12):
        player = silent(RRPS, settings.payload, seed)
        again += [player.act(observed()), player.act(observed(THROWS[0]))]
    assert again == played and not silent.drawn(RRPS, settings.payload)
    with pytest.raises(TranscriptExhausted, match="not kept"):
        player.act(observed(THROWS[1]))
    return model.requests


def test_a_question_is_asked_once_where_it_has_one_answer(tmp_path: Path) -> None:
    requests = asked_by(SETTINGS, scripted(lambda request: "R R"), tmp_path)
    assert [one.prompt for one in requests] == ["(nothing was thrown yet)", "R P"]
    assert requests[0].system == WORDS.task and requests[0].temperature == 0.0


@pytest.mark.parametrize("temperature", [None, 0.7])
def test_else_every_move_of_every_match_has_its_own(
    tmp_path: Path, temperature: float | None
) -> None:
    settings = replace(SETTINGS, temperature=temperature)
    answers = iter("RPS" * 2)
    requests = asked_by(settings, scripted(lambda one: f"R {next(answers)}"), tmp_path)
    assert len(requests) == 4 and len({one.key for one in requests}) == 4
    assert not any(str(seed) in one.key for seed in (11, 12) for one in requests)


def test_who_asks_the_same_at_once_pays_once(tmp_path: Path) -> None:
    slow = threading.Event()

    def say(request: Request) -> str:
        slow.wait(0.05)
        return "R P"

    model = ScriptedModel(say)
    agents = Agents(tmp_path, lambda name: model)
    players = [agents(RRPS, SETTINGS.payload, seed) for seed in range(8)]
    threads = [threading.Thread(target=player.act, args=(observed(),)) for player in players]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(model.requests) == 1 == agents.spent(RRPS, SETTINGS.payload).calls
    agents.close()


def test_a_shorter_question_keeps_its_end() -> None:
    question = "\n".join([*(f"hand {number}" for number in range(20)), "Now: what?"])
    reminded = f"{question}\n\nOne word."
    forms = shorter(reminded)
    sizes = [len(form) for form in forms]
    assert forms and sizes == sorted(set(sizes), reverse=True)
    assert all(form.endswith("hand 19\nNow: what?\n\nOne word.") for form in forms)
    assert shorter("R P\nP P") == ()


def test_what_was_withheld_is_no_answer(tmp_path: Path) -> None:
    replies = iter([Reply("", Finish.BLOCKED), Reply("R S")])
    agents = Agents(tmp_path, lambda name: ScriptedModel(lambda request: next(replies)))
    assert agents(RRPS, SETTINGS.payload, 1).act(observed()) == "ROCK"
    assert agents.drawn(RRPS, SETTINGS.payload) == 0
    agents.close()


def turned_down(request: Request) -> str:
    """A server that will not hear of two draws in a row."""
    if request.prompt.startswith("P P\nP P"):
        raise PromptRefused("the server answered 400: never")
    return "R R"


def played_out(
    agents: Agents,
    throws: Sequence[tuple[str, str]],
    seed: int = 1,
    settings: AgentSettings = SETTINGS,
) -> list[str]:
    player = agents(RRPS, settings.payload, seed)
    return [player.act(observed(one)) for one in (None, *throws)]


def test_a_refused_question_costs_its_move_alone_and_is_not_asked_again(tmp_path: Path) -> None:
    model = scripted(turned_down)
    agents = Agents(tmp_path, lambda name: model)
    draws = [THROWS[1]] * 2
    moves = played_out(agents, draws)
    # Refused once, without a reminder: "R R" is answered by paper, and the last throw is drawn.
    assert moves[:2] == ["PAPER", "PAPER"] and len(model.requests) == 3
    assert agents.drawn(RRPS, SETTINGS.payload) == 1
    assert agents.spent(RRPS, SETTINGS.payload).calls == 2
    agents.close()
    again = Agents(tmp_path, lambda name: model)
    assert played_out(again, draws) == moves and len(model.requests) == 3
    # Another match has the same question: its move is a note of its own.
    played_out(again, draws, seed=2)
    assert len(model.requests) == 4 and again.drawn(RRPS, SETTINGS.payload) == 2
    again.close()
    assert played_out(Agents(tmp_path, SilentModel), draws) == moves


def test_after_nine_refusals_in_a_row_it_ends_and_the_next_session_gets_further(
    tmp_path: Path,
) -> None:
    model = scripted(turned_down)
    settings = replace(SETTINGS, temperature=0.7)  # each move has a question of its own
    draws = [THROWS[1]] * 20
    # The ninth, whose move is not drawn yet, is asked once more and does not count.
    for drawn, asked in ((8, 2 + 9), (17, 1 + 9)):
        agents = Agents(tmp_path, lambda name: model)
        with pytest.raises(ModelRefuses, match="none of the last 9 questions"):
            played_out(agents, draws, settings=settings)
        assert agents.drawn(RRPS, settings.payload) == drawn
        agents.close()
        assert len(model.requests) == asked
        model.requests.clear()
    agents = Agents(tmp_path, lambda name: model)
    assert len(played_out(agents, draws, settings=settings)) == 21
    assert len(model.requests) == 2 and agents.drawn(RRPS, settings.payload) == 19
    agents.close()


def test_one_question_for_all_is_refused_once_for_all(tmp_path: Path) -> None:
    model = scripted(turned_down)
    agents = Agents(tmp_path, lambda name: model)
    assert len(played_out(agents, [THROWS[1]] * 20)) == 21
    assert len(model.requests) == 3 and agents.drawn(RRPS, SETTINGS.payload) == 19
    agents.close()


def test_a_model_that_never_names_a_move_is_not_asked_for_a_whole_match(tmp_path: Path) -> None:
    model = scripted(lambda request: "I would rather not say.")
    agents = Agents(tmp_path, lambda name: model)
    with pytest.raises(ModelRefuses, match=f"any of the first {MOVES_TO_TRY} moves"):
        played_out(agents, [(throw, "ROCK") for throw in RRPS.actions * 20])
    assert agents.drawn(RRPS, SETTINGS.payload) == MOVES_TO_TRY
    agents.close()
    # Its kept answers are played again all the same.
    silent = Agents(tmp_path, SilentModel)
    player = silent(RRPS, SETTINGS.payload, 1)
    again = [player.act(observed(("PAPER", "ROCK"))) for _ in range(MOVES_TO_TRY)]
    assert len(again) == MOVES_TO_TRY


def test_one_named_move_is_enough_to_go_on(tmp_path: Path) -> None:
    model = scripted(lambda request: "R R" if "thrown yet" in request.prompt else "Hm.")
    agents = Agents(tmp_path, lambda name: model)
    played_out(agents, [THROWS[0]] * 2 * MOVES_TO_TRY)
    assert agents.drawn(RRPS, SETTINGS.payload) == 2 * MOVES_TO_TRY
    agents.close()


def test_settings_are_the_payload_and_changed_words_are_refused(tmp_path: Path) -> None:
    assert settings_of(RRPS, SETTINGS.payload) == SETTINGS
    assert replace(SETTINGS, history=3).payload != SETTINGS.payload
    for payload in ("{", "[]", '{"game": "rrps"}', SETTINGS.payload.replace("history", "past")):
        with pytest.raises(ValueError, match="no payload"):
            settings_of(RRPS, payload)
    with pytest.raises(ValueError, match="plays 'rrps'"):
        settings_of(game_named("kuhn"), SETTINGS.payload)
    old = replace(SETTINGS, dialogue="rrps-0")
    with pytest.raises(UsageFault, match="rrps-0"):
        Agents(tmp_path, SilentModel)(RRPS, old.payload, 1)


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_a_price_counts_the_questions_of_a_match(game) -> None:
    settings = AgentSettings(game.name, dialogue_of(game).version, "openai:any")
    one = estimate(game, settings, 1, Price(1.0, 2.0))
    many = estimate(game, settings, 688, None)
    assert game.length <= one.calls <= 4 * game.length and many.cost is None
    assert many.calls == pytest.approx(688 * one.calls, rel=0.01)
    assert one.cost == pytest.approx(one.calls * (one.prompt_tokens + 8) / 1e6)
    assert f"{one.calls:,} model calls, up to twice as many" in str(one)
    little = estimate(game, replace(settings, history=1), 1, None)
    assert little.prompt_tokens < one.prompt_tokens / 2 and little.calls == one.calls
