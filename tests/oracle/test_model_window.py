"""Prompts that a server cannot read whole are noticed, shortened as they say, and told."""

import logging
import random
from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.drafts import Draft
from oracle.models.chat_completions import read_refusal
from oracle.models.gemini import GeminiModel
from oracle.models.journal import JournaledModel, SqliteJournal
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.options import ServerOptions
from oracle.models.prices import Price
from oracle.models.protocol import Reply, Request
from oracle.models.told import Told
from oracle.models.window import PromptTooLong, Window, ask_in_forms
from oracle.values import Rejected
from oracle.writer import ModelWriter
from tests.oracle.llm_server import LLMServer, Step, connected
from tests.oracle.stated_returns import a_task, program, score_of

LINE = "opponent line that is neither short nor long\n"


def question(lines, *shorter, key="k01/a00", **more):
    """A request of so many lines, and shorter forms of it."""
    texts = [f"{LINE * number}end of {number}" for number in (lines, *shorter)]
    return Request(key, texts[0], shorter=tuple(texts[1:]), **more)


@pytest.fixture
def server():
    with LLMServer(lambda prompt: prompt.rpartition("\n")[2]) as server:
        server.count = lambda text: len(text) // 4
        yield server


@pytest.fixture
def at(server, monkeypatch):
    """Makes models of that server."""
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with ExitStack() as open_ones:

        def made(kind=OpenAIModel, **options):
            url = server.url + "/v1" * (kind is OpenAIModel)
            return open_ones.enter_context(connected(kind("local", ServerOptions(url, **options))))

        yield made


@pytest.fixture
def model(at):
    return at(price=Price(1, 1))


def warnings(caplog):
    return [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]


def test_a_prompt_that_fits_is_sent_whole(model, server, caplog):
    server.context = 10_000
    reply = model.generate(question(800, 400))
    assert (reply.text, reply.sent, reply.unread) == ("end of 800", "", False)
    assert warnings(caplog) == []


@pytest.mark.parametrize("overflow", ["cut", "vllm", "llama"])
def test_a_prompt_that_does_not_fit_is_shortened_and_told_once(model, server, caplog, overflow):
    server.context, server.overflow = 4_096, overflow
    asked = question(1_000, 500, 100, 10)
    reply = model.generate(asked)
    assert reply.text == "end of 100"
    assert reply.sent == asked.shorter[1]
    assert not reply.unread
    assert reply.failure is None
    assert reply.attempts == len(server.asked)
    assert reply.prompt_tokens == sum(charged.prompt for charged in server.charged)
    # From now on nobody is asked in vain, however the words differ.
    before = len(server.asked)
    assert model.generate(question(900, 450, 90, key="k01/a01")).text == "end of 90"
    assert len(server.asked) == before + 1
    (said,) = warnings(caplog)
    assert "prompts are shortened from now on" in said
    assert "OLLAMA_CONTEXT_LENGTH" in said


def test_what_was_read_in_part_is_paid_all_the_same(model, server):
    server.context = 4_096
    reply = model.generate(question(1_000, 20))
    cut, whole = server.charged
    assert cut.prompt == 4_096 // 2 + 2
    paid = cut.prompt + whole.prompt + cut.output + whole.output
    assert reply.cost == pytest.approx(paid / 1e6)


def test_a_prompt_without_a_shorter_form_is_a_failure_where_it_is_refused(model, server, caplog):
    server.context, server.overflow = 1_000, "vllm"
    refused = model.generate(question(1_000))
    assert refused.failure.kind is Rejected.TOO_LONG
    assert "maximum context length is 1000" in refused.failure.reason
    assert (refused.tokens, refused.cost) == (0, 0.0)
    assert len(warnings(caplog)) == 1


def test_an_answer_to_the_shortest_form_is_kept_and_what_it_lacks_is_told(model, server, caplog):
    server.context = 1_000
    kept = model.generate(question(1_000))
    assert (kept.text, kept.unread, kept.failure) == ("end of 1000", False, None)
    assert "read 502 tokens of a prompt of" in warnings(caplog)[0]


def test_a_known_context_is_kept_to_from_the_start(server, at):
    server.context = 4_096
    reply = at(context_tokens=4_096).generate(question(1_000, 200))
    assert reply.text == "end of 200"
    assert len(server.asked) == 1


def test_the_answer_needs_room_too(at):
    # 660 lines have 29,700 characters: 11,880 tokens at two and a half characters each.
    assert at(context_tokens=16_000).generate(question(660, 400)).text == "end of 660"
    asked = question(660, 400, max_output_tokens=8_000)
    assert at(context_tokens=16_000).generate(asked).text == "end of 400"


def test_half_a_context_that_was_read_tells_the_whole(server, model):
    """A prompt of more than half the context is read whole, so it need not be shortened more."""
    server.context = 8_192
    reply = model.generate(question(1_500, 330, 100))  # 16,900, 3,700 and 1,100 tokens
    assert reply.text == "end of 330"
    assert model.generate(question(329, 100, key="k01/a01")).text == "end of 329"


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 6048 tokens. However, you requested 6616 tokens "
        "(568 in the messages, 6048 in the completion).",
        "'max_tokens' or 'max_completion_tokens' is too large: 6048. This model's maximum context "
        "length is 6048 tokens and your request has 568 input tokens.",
        "You passed 568 input tokens and requested 6048 output tokens. However, the model's "
        "context length is only 6048 tokens, resulting in a maximum input length of 0 tokens.",
    ],
)
def test_an_answer_that_would_be_too_long_shortens_no_prompt(model, server, caplog, said):
    server.then(Step(status=400, message=said))
    reply = model.generate(question(50, 10, max_output_tokens=6_048))
    assert (reply.text, reply.attempts) == ("end of 50", 2)
    assert 5_000 < server.asked[1].body["max_tokens"] <= 6_048 - 568
    assert any("has no room for so long an answer" in one for one in warnings(caplog))
    model.generate(question(50, 10, max_output_tokens=6_048))
    assert server.asked[2].body["max_tokens"] == 6_048


@pytest.mark.parametrize(
    "step",
    [
        Step(status=413, message="Request too large for model"),
        Step(status=400, code="context_length_exceeded", message="too big"),
        Step(status=500, raw=b'{"error":{"type":"exceed_context_size_error","n_ctx":9000}}'),
        Step(status=400, raw=b'{"error":"prompt is too long"}'),
        Step(
            status=400,
            message="Trying to keep the first 9000 tokens when context the overflows. However, the "
            "model is loaded with context length of only 4096 tokens",
        ),
        Step(raw=b'{"error":"prompt is too long: 9000 tokens > 8000 maximum"}'),
    ],
    ids=["groq", "openai", "old-llama", "bare", "lm-studio", "of-status-200"],
)
def test_in_the_words_of_servers(model, server, step):
    server.then(step)
    assert model.generate(question(1_000, 100)).text == "end of 100"


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        (
            "You passed 9001 input tokens and requested 0 output tokens. However, the model's "
            "context length is only 8000 tokens, resulting in a maximum input length of 8000",
            8000,
        ),
        ("The decoder prompt (length 9000) is longer than the maximum model length of 8000.", 8000),
        ("The input (9000 tokens) is longer than the model's context length (8000 tokens).", 8000),
        ("Input length (9000 tokens) exceeds the maximum allowed length (8000 tokens).", 8000),
        ("`inputs` must have less than 8000 tokens. Given: 9000", 8000),
        ("`inputs` tokens + `max_new_tokens` must be <= 8,000. Given: 9000 `inputs` tokens", 8000),
        ("tokens to keep from the initial prompt is greater than the context length", None),
        ("Cannot truncate prompt with n_keep (9000) >= n_ctx (8000)", 8000),
        ("This model's maximum prompt length is 8000 but the request contains 9000 tokens.", 8000),
        ("Prompt contains 9000 tokens, too large for model with 8000 maximum context length", 8000),
        ("Please reduce the length of the messages or completion.", None),
        ("Input is too long for requested model.", None),
        ("input length and `max_tokens` exceed context limit: 7000 + 2000 > 8000", 8000),
        ("invalid params, context window exceeds limit", None),
        ("Your request exceeded model token limit: 8000 (requested: 9000)", 8000),
        ("prompt too long; exceeded max context length by 1000 tokens", None),
        ("Prompt exceeds max length", None),
        ("Range of input length should be [1, 8000]", 8000),
        ("litellm.ContextWindowExceededError: BadRequestError", None),
        ("a context length , whatever that is, was exceeded: input too large", None),
    ],
)
def test_a_context_in_the_words_of_servers(model, server, said, limit):
    refusal = read_refusal(400, {"error": {"message": said}}, "")
    assert (refusal.too_long, refusal.limit) == (True, limit)
    server.then(Step(status=400, message=said))
    assert model.generate(question(1_000, 100)).text == "end of 100"


def test_more_tokens_than_a_minute_may_have_are_not_waited_for(model, server):
    said = (
        "Request too large for m in organization o on tokens per min (TPM): Limit 10000, Requested "
        "11000. The input or output tokens must be reduced in order to run successfully."
    )
    server.then(Step(status=429, code="rate_limit_exceeded", message=said))
    assert model.generate(question(1_000, 100)).text == "end of 100"
    assert len(server.asked) == 2


def test_gemini_refuses_too(server, at):
    server.context, server.overflow = 4_096, "refuse"
    reply = at(GeminiModel).generate(question(1_000, 100))
    assert reply.text == "end of 100"


def test_gemini_is_believed_to_have_read_what_it_took(server, at):
    server.count = lambda text: len(text) // 50
    assert at(GeminiModel).generate(question(1_000, 100)).text == "end of 1000"
    assert at().generate(question(1_000, 100)).text == "end of 100"


def test_the_journal_answers_by_the_question_itself(server, at, model, tmp_path):
    """Whatever was learned of the server when it was first asked: nothing is paid twice."""
    server.context = 4_096
    journal = SqliteJournal(tmp_path / "journal.sqlite")
    first = JournaledModel(model, journal).generate(question(1_000, 100))
    asked = len(server.asked)
    assert JournaledModel(at(price=Price(1, 1)), journal).generate(question(1_000, 100)) == first
    assert len(server.asked) == asked
    (call,) = journal.calls()
    assert call.sent == first.sent == question(1_000, 100).shorter[0]
    assert call.request.prompt == question(1_000).prompt


def test_a_draft_is_written_from_the_prompt_that_fits(server, model):
    """The whole way: a long refinement against a server that silently reads half."""
    server.reply = lambda prompt: f"```python\n{program(1.0)}```"
    server.context = 4_096
    task = a_task(0.4, 0.3, 0.2, 0.1)
    others = tuple((program(-u, f"other{u}" + "x" * 9_000), score_of(task, -u)) for u in (4.0, 5.0))
    draft = Draft("a01", program(-3.0), score_of(task, -3.0), inspirations=others)
    written = ModelWriter(model).write(task, draft)
    assert written.source == program(1.0)
    assert "other4.0" in server.asked[0].prompt
    assert "other4.0" not in server.asked[-1].prompt
    assert "Left out above for lack of room" in server.asked[-1].prompt
    assert server.count(server.asked[-1].prompt) < 4_096


def test_a_question_that_is_too_long_in_any_form_is_given_up(server, model):
    server.context, server.overflow = 500, "vllm"
    written = ModelWriter(model).write(a_task(0.6, 0.4), Draft("a00"))
    assert written.failure.kind is Rejected.TOO_LONG
    assert written.repairs == 0
    forms = len(server.asked)
    ModelWriter(model).write(a_task(0.6, 0.4), Draft("a01"))
    assert len(server.asked) == forms + 1  # only the shortest is tried again


sizes = st.lists(st.integers(10, 400_000), min_size=1, max_size=6)


@given(sizes, st.integers(100, 60_000), st.floats(2.5, 5.0), st.sampled_from(["cut", "refuse"]))
def test_no_answer_to_half_a_question_passes_for_one(sizes, context, ratio, manner):
    """Any server with a context, any tokenizer, any prompts: what counts was read whole.

    Only small prompts and mild cuts may pass, where the number of tokens says nothing, and the
    shortest form of a question, instead of which nothing can be asked.
    """

    def ask(form):
        tokens = round(len(form) / ratio)
        if tokens <= context:
            return Reply("whole", prompt_tokens=tokens, output_tokens=1)
        if manner == "refuse":
            raise PromptTooLong("too long", context)
        return Reply("cut", prompt_tokens=context // 2 + 2, output_tokens=1)

    window = Window("m", Told())
    texts = ["x" * size for size in sorted(sizes, reverse=True)]
    reply = ask_in_forms(window, Request("k", texts[0], shorter=tuple(texts[1:])), ask)
    sent = reply.sent or texts[0]
    if reply.text == "cut" and not reply.unread:
        mild = len(sent) < 6_000 or len(sent) / (context // 2 + 2) <= 5.5
        assert mild or sent == texts[-1]
    if reply.text == "whole":
        assert len(sent) / ratio <= context + 1
    assert reply.unread or reply.text in ("whole", "cut")
    if reply.unread:
        assert sent == texts[-1] or len(set(texts)) < len(texts)


def test_two_lengths_with_one_number_of_tokens_give_it_away():
    window = Window("m", Told())
    assert not window.cut(20_000, 4_111)  # 4.9 characters a token: it may be so
    assert window.cut(22_000, 4_111)
    assert not Window("m", Told()).cut(22_000, 4_111)


def test_half_of_a_round_number_of_tokens_gives_it_away():
    """Ollama with a context of 4,096 or 32,768 tokens, and a prompt that is a little too long."""
    for context in (4_096, 32_768):
        reported = context // 2 + 2
        assert Window("m", Told()).cut(round(2.1 * 2.5 * reported), reported)
        assert not Window("m", Told()).cut(round(3.9 * reported), reported)
        assert not Window("m", Told()).cut(round(2.1 * 2.5 * reported), reported + 1)


def test_a_round_number_by_chance_gives_nothing_away():
    window = Window("m", Told())
    assert not any(window.cut(size, size // 4) for size in (9_513, 9_547, 9_227))


def test_far_more_characters_a_token_than_ever_before_give_it_away():
    window = Window("m", Told())
    assert not window.cut(9_000, 3_600)
    assert not window.cut(18_000, 4_501)
    assert window.cut(25_000, 5_001)
    assert not Window("m", Told()).cut(25_000, 5_001)


@pytest.mark.parametrize("reported", [None, 0])
def test_a_server_that_reports_nothing_is_believed(reported):
    assert not Window("m", Told()).cut(10**6, reported)


def test_equally_many_tokens_by_chance_give_nothing_away():
    """Prompts of many sizes and of 3.0 to 4.0 characters a token, as a long run has them."""
    rng = random.Random(1)
    for _ in range(20):
        window = Window("m", Told())
        for _ in range(400):
            size = rng.randrange(6_500, 24_000)
            assert not window.cut(size, round(size / rng.uniform(3.0, 4.0)))


def test_a_server_that_always_reads_as_much_is_found_out():
    window = Window("m", Told())
    assert not window.cut(9_000, 2_900)
    found = [window.cut(size, 5_000) for size in (17_000, 17_100, 18_200, 19_500, 19_600)]
    assert found == [False, False, False, True, True]
    assert window.first_fit([19_600, 9_000], 0, None) == 1


@pytest.mark.parametrize("reported", [1, 10, 49])
def test_a_number_that_is_no_context_of_anybody_is_not_believed(reported):
    window = Window("m", Told())
    assert not any(window.cut(size, reported) for size in (9_000, 40_000, 40_000, 80_000))
    assert window.first_fit([80_000, 9_000], 0, None) == 0


def test_a_server_that_leaves_out_what_it_has_in_a_cache_is_found_out(caplog):
    """Of a prompt like the last one it reports what is new; who cuts reads as much of each."""
    read = []

    def ask(form):
        fresh = 0.2 if read else 1.0
        read.append(len(form))
        return Reply(f"{len(form)}", prompt_tokens=round(fresh * len(form) / 4), output_tokens=1)

    window = Window("m", Told())
    texts = ["x" * size for size in (20_000, 17_000, 15_000, 8_000)]
    request = Request("k", texts[0], shorter=tuple(texts[1:]))
    assert ask_in_forms(window, request, ask).text == "20000"
    reply = ask_in_forms(window, request, ask)
    assert (reply.text, reply.unread) == ("8000", False)
    assert ask_in_forms(window, request, ask).text == "20000"
    assert len(read) == 4
    assert "in a cache" in warnings(caplog)[-1]


def test_a_context_that_the_server_names_counts_more_than_one_that_was_guessed():
    window = Window("m", Told())
    assert window.cut(40_000, 2_050)
    assert window.first_fit([40_000, 9_000], 0, None) == 1
    window.refused(200_000, 32_768)
    assert window.first_fit([40_000, 9_000], 0, None) == 0
