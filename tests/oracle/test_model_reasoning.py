"""What a model thought never counts as what it answered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.extract import extract_program
from oracle.models.gemini import GeminiModel
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.options import ServerOptions
from oracle.models.protocol import Request
from oracle.models.reasoning import answer_in
from oracle.values import Rejected
from tests.oracle.llm_server import Step, connected

ASKED = Request("k01/a00", "ping the server")
DRAFT = "```python\nclass Agent:\n    def act(self, o):\n        return 'DRAFT'\n```"
ANSWER = "```python\nclass Agent:\n    def act(self, o):\n        return 'PAPER'\n```"
PAIRS = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<Reasoning>", "</Reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|channel>thought\n", "<channel|>"),
    ("<mm:think>", "</mm:think>"),
    ("<longcat_think>", "</longcat_think>"),
    ("<unused94>thought\n", "<unused95>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
]
HARMONY = (
    "<|channel|>analysis<|message|>{}<|end|>"
    "<|start|>assistant<|channel|>final<|message|>{}<|return|>"
)


@pytest.fixture
def model(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with connected(OpenAIModel("local", ServerOptions(server.url + "/v1"))) as model:
        yield model


@pytest.mark.parametrize(("opens", "closes"), PAIRS)
def test_between_tags_before_one_and_after_one(opens, closes):
    assert answer_in(f"{opens}{DRAFT}{closes}{ANSWER}") == ANSWER
    assert answer_in(f"{opens}\n{DRAFT}\n{closes}\n\n{ANSWER}").strip() == ANSWER
    assert answer_in(f"{DRAFT} so that is it.{closes}{ANSWER}") == ANSWER  # the prompt opened it
    assert answer_in(f"{opens}{DRAFT}") == ""  # it never came to an end
    assert answer_in(f"{opens}a{closes}{opens}b{closes}{ANSWER}") == ANSWER
    assert answer_in(f"{opens}```python\nnever closed\n{closes}{ANSWER}") == ANSWER


def test_what_is_folded_away_as_reasoning_and_nothing_else():
    opens = '<details type="reasoning" done="true" duration="5">\n<summary>Thought</summary>\n'
    assert answer_in(f"{opens}{DRAFT}\n</details>\n{ANSWER}").strip() == ANSWER
    assert answer_in(f"{opens}{DRAFT}") == ""
    folded = f"First.\n<details><summary>The program</summary>\n{ANSWER}\n</details>\n"
    assert answer_in(folded) == folded
    assert answer_in(f"<think>{folded}{DRAFT}</think>{ANSWER}") == ANSWER


def test_a_closing_tag_in_the_code_of_an_answer_ends_nothing():
    code = "```python\n# what comes after </think> is read\nclass Agent:\n    pass\n```"
    for text in (code, f"Here:\n{code}\nthat is all", code.removesuffix("```")):
        assert answer_in(text) == text
    assert answer_in(f"<think>{DRAFT}</think>{code}") == code
    assert answer_in(f"First:\n```python\nnever closed\n</think>{ANSWER}") == ANSWER
    assert answer_in(f"First:\n```python\nnever closed\n</think>\n\n{ANSWER}").strip() == ANSWER
    assert answer_in("I try:\n```python\nx = 1\n</think>\nROCK").strip() == "ROCK"
    bare = "```\nclass Agent:\n    pass\n```"
    assert answer_in(f"I try:\n```python\nx = 1\n</think>\n{bare}").strip() == bare


@pytest.mark.parametrize(("opens", "closes"), PAIRS)
def test_a_closing_tag_behind_the_answer_ends_nothing(opens, closes):
    pair = f"{opens}{DRAFT}{closes}"
    for before in ("", pair):
        assert answer_in(f"{before}{ANSWER}{closes}") == ANSWER
        assert answer_in(f"{before}{ANSWER}\n{closes}\n") == f"{ANSWER}\n\n"
        assert answer_in(f"{before}{ANSWER}\n{closes}\n</thinking>").strip() == ANSWER
        for behind in (f"\nI closed my {closes} tag.", f"\n{closes}\nIt plays paper."):
            assert answer_in(f"{before}{ANSWER}{behind}") == f"{ANSWER}{behind}"
    assert answer_in(f"{pair}ROCK, as I said before {closes} there.") == (
        f"ROCK, as I said before {closes} there."
    )
    bare = ANSWER.replace("```", "").removeprefix("python\n")
    assert answer_in(f"{bare}{closes}") == bare
    assert answer_in(f"```python\n{bare}{closes}") == f"```python\n{bare}"


@pytest.mark.parametrize(
    "answer",
    [
        ANSWER,
        "class Agent:\n    def act(self, o):\n        return 'PAPER'\n",
        '{"idea": "paper"}',
        "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE",
    ],
)
def test_reasoning_that_the_prompt_opened_ends_where_an_answer_follows(answer):
    for tag in ("</think>", "\n</think>\n\n"):
        assert answer_in(f"A plan.\n{DRAFT}\n{tag}{answer}").strip() == answer.strip()
        assert answer_in(f"<think>a</think>No.\n{DRAFT}\n{tag}{answer}").strip() == answer.strip()
    assert answer_in("A plan.\n</think>\nROCK").strip() == "ROCK"
    assert answer_in("<think>\nThe <think> tag,\n</think> is one.</think>ROCK") == "ROCK"


def test_a_name_of_channels_is_none():
    code = ANSWER.replace("'PAPER'", "'<|channel|>'")
    assert answer_in(code) == code
    assert answer_in(f"<think>{DRAFT}</think>{code}") == code


def test_channels():
    assert answer_in(HARMONY.format(DRAFT, ANSWER)) == ANSWER
    assert answer_in(HARMONY.format(DRAFT, ANSWER).removesuffix("<|return|>")) == ANSWER
    cut_off = HARMONY.format(DRAFT, "").partition("<|channel|>final")[0]
    assert answer_in(cut_off) == ""
    tools = "<|channel|>commentary to=x <|constrain|>json<|message|>{}<|call|>"
    assert answer_in(tools + HARMONY.format("a", ANSWER)) == ANSWER
    assert answer_in(f"analysisWe need {DRAFT}assistantfinal{ANSWER}") == ANSWER


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain words",
        ANSWER,
        "An analysis of the game first.\n" + ANSWER,
        "The tag `</think>` is not in my program.\n" + ANSWER,
        "```python\nTAG = '<think>'\nEND = '</think>'\n```",
        "```python\n<think>\n```\nfine",
    ],
)
def test_answers_are_left_as_they_are(text):
    assert answer_in(text) == text


words = st.lists(st.sampled_from(["a", "b", " ", "\n", "```", "'"]), max_size=30).map("".join)


@given(words, words)
def test_whatever_was_thought_is_gone(thought, answer):
    assert answer_in(f"<think>{thought}</think>{answer}") == answer
    begun = thought.replace("```", "")  # in a block the tag would belong to a program
    silent = not answer.strip()  # a tag that ends the text ends nothing else
    assert answer_in(f"{begun}.</think>{answer}") == (f"{begun}.{answer}" if silent else answer)
    assert answer_in(f"<think>{thought}") == ""
    assert answer_in(answer) == answer


@given(st.lists(st.sampled_from(["<think>", "</think>", "\n", "```", "x ", "'", "<|channel|>"])))
def test_any_text_has_an_answer_that_is_part_of_it(parts):
    text = "".join(parts)
    assert len(answer_in(text)) <= len(text)


def test_a_reply_with_reasoning_gives_the_program_that_was_answered(model, server):
    server.then(Step(text=f"<think>First idea: {DRAFT}\nNo.</think>\nHere:\n{ANSWER}"))
    reply = model.generate(ASKED)
    assert "'PAPER'" in extract_program(reply.text, "Agent")
    assert "DRAFT" not in reply.text


def test_fields_of_reasoning_are_not_read(model, server):
    server.then(
        Step(text=ANSWER, extra={"reasoning_content": DRAFT}),
        Step(empty=True, extra={"reasoning_content": DRAFT}),
        Step(empty=True, extra={"reasoning": DRAFT}, finish="MAX_TOKENS"),
    )
    answered, silent, cut = (model.generate(ASKED) for _ in range(3))
    assert answered.text == ANSWER
    assert (silent.text, silent.failure.kind) == ("", Rejected.EMPTY)
    assert "only reasoning" in silent.failure.reason
    assert cut.failure.kind is Rejected.TRUNCATED


def test_reasoning_that_never_ends_is_no_answer(model, server):
    server.then(
        Step(text=f"<think>{DRAFT}", finish="MAX_TOKENS"),
        Step(text=f"<think>{DRAFT}"),
    )
    cut, stopped = model.generate(ASKED), model.generate(ASKED)
    assert cut.failure.kind is Rejected.TRUNCATED
    assert stopped.failure.kind is Rejected.EMPTY
    assert cut.text == stopped.text == ""


def test_content_in_parts(model, server):
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": DRAFT}]},
        {"type": "text", "text": ANSWER},
        "odd",
        {"type": "text", "text": 3},
    ]
    server.then(Step(extra={"content": parts}))
    assert model.generate(ASKED).text == ANSWER
    for bare in ([ANSWER], [{"text": ANSWER}], {"type": "text", "text": ANSWER}):
        server.then(Step(extra={"content": bare}))
        assert model.generate(ASKED).text == ANSWER


def test_a_model_behind_gemini_s_protocol_that_thinks_aloud(server, monkeypatch):
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    server.then(Step(text=f"<think>{DRAFT}</think>{ANSWER}"))
    with connected(GeminiModel("gemma", ServerOptions(server.url))) as model:
        assert model.generate(ASKED).text == ANSWER
