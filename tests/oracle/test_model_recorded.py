"""Transcripts: replayed by question, then in order; and what a model's text may look like."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import UsageFault
from oracle.models.catalogue import default_model, price_of
from oracle.models.choice import FORMS, check_access, has_gemini_key, model_from
from oracle.models.errors import BadTranscript, MissingKey, TranscriptExhausted, UnknownModel
from oracle.models.gemini import GeminiModel
from oracle.models.journal import JournaledModel, SqliteJournal
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.options import ServerOptions
from oracle.models.protocol import Finish, Reply, Request
from oracle.models.recorded import RecordedModel, transcript
from oracle.models.redaction import fit, without_secrets
from tests.oracle.scripted_model import ScriptedModel

QUESTIONS = [Request(f"k{number}", f"question {number % 2}") for number in range(4)]


@pytest.fixture
def written(tmp_path):
    def write(*lines):
        path = tmp_path / "transcript.jsonl"
        path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines))
        return path

    return write


def texts(model, questions):
    return [model.generate(question).text for question in questions]


def test_lines_without_digests_are_given_in_order(written):
    model = RecordedModel(written({"text": "one"}, "", {"text": "two", "finish": "cut-off"}))
    assert model.generate(QUESTIONS[0]) == Reply("one", cost=0.0, origin="transcript.jsonl:1")
    assert model.generate(QUESTIONS[0]).cut_off
    with pytest.raises(TranscriptExhausted, match="2 replies, all are used, and 'k3'"):
        model.generate(QUESTIONS[3])


def test_what_was_recorded_is_replayed_in_any_order(written):
    calls = [(question, Reply(f"answer {question.key}")) for question in QUESTIONS]
    path = written(transcript(calls))
    assert texts(RecordedModel(path), reversed(QUESTIONS)) == [
        "answer k3",
        "answer k2",
        "answer k1",
        "answer k0",
    ]


def test_a_question_is_found_under_another_key(written):
    calls = [(question, Reply(f"answer {question.key}")) for question in QUESTIONS]
    model = RecordedModel(written(transcript(calls)))
    assert texts(model, [replace(QUESTIONS[1], key="new")]) == ["answer k1"]


def test_an_unknown_question_takes_the_next_line_that_is_nobody_elses(written):
    known = {"text": "known", "digest": QUESTIONS[0].digest}
    model = RecordedModel(written(known, {"text": "anyone's"}))
    assert texts(model, [QUESTIONS[1], QUESTIONS[0]]) == ["anyone's", "known"]


def test_a_resumed_run_goes_on_where_it_stopped(written, tmp_path):
    path = written(*[{"text": str(number)} for number in range(4)])
    journal = SqliteJournal(tmp_path / "journal.sqlite", "run")
    first = JournaledModel(RecordedModel(path), journal)
    assert texts(first, QUESTIONS[:2]) == ["0", "1"]
    again = JournaledModel(RecordedModel(path), journal)
    assert texts(again, QUESTIONS) == ["0", "1", "2", "3"]


@given(
    st.lists(
        st.builds(
            Reply,
            st.text(),
            st.sampled_from(Finish),
            st.text(),
            st.none() | st.integers(0, 10**9),
            st.none() | st.integers(0, 10**9),
            st.integers(0, 10**9),
            model=st.text(),
        ),
        max_size=4,
    )
)
def test_a_transcript_keeps_replies(tmp_path_factory, replies):
    path = tmp_path_factory.mktemp("recorded") / "t.jsonl"
    path.write_text(transcript(zip(QUESTIONS, replies, strict=False)))
    model = RecordedModel(path)
    for question, reply in zip(QUESTIONS, replies, strict=False):
        assert replace(model.generate(question), origin="", cost=None) == reply


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2"),
        ("[]", '"text"'),
        ('{"text": 3}', '"text"'),
        ('{"text": "x", "finsh": "stopped"}', "finsh"),
        ('{"text": "x", "finish": "done"}', "done"),
        ('{"text": "x", "prompt_tokens": -1}', "prompt_tokens"),
        ('{"text": "x", "output_tokens": "5"}', "output_tokens"),
        ('{"text": "x", "model": 5}', "model"),
    ],
)
def test_a_bad_line_is_named(written, line, said):
    with pytest.raises(BadTranscript, match=said):
        RecordedModel(written({"text": "fine"}, line))


def test_a_missing_transcript_is_said_to_be_missing(tmp_path):
    with pytest.raises(BadTranscript, match=r"nowhere\.jsonl"):
        RecordedModel(tmp_path / "nowhere.jsonl")


def test_models_are_named_by_text(written):
    gemini = model_from("gemini")
    assert isinstance(gemini, GeminiModel)
    assert gemini.name == f"gemini:{default_model()}"
    assert gemini.price == price_of(default_model())
    assert model_from("gemini:gemini-2.5-flash").name == "gemini:gemini-2.5-flash"
    local = model_from("openai:qwen3:8b", ServerOptions("http://localhost:11434/v1"))
    assert isinstance(local, OpenAIModel)
    assert (local.name, local.price) == ("openai:qwen3:8b", None)
    recorded = model_from(f"recorded:{written({'text': 'one'})}")
    assert recorded.generate(QUESTIONS[0]).text == "one"


@pytest.mark.parametrize(
    "text",
    ["", "Gemini", "gemini:", "openai", "openai:", "recorded", "recorded: ", "claude:x", ":"],
)
def test_what_names_no_model_is_refused_with_the_forms(text):
    with pytest.raises(UnknownModel) as caught:
        model_from(text)
    assert FORMS in str(caught.value)


def test_the_grammar_is_no_language_model():
    with pytest.raises(UnknownModel, match="without a language model"):
        model_from("grammar")


def test_whether_there_is_a_key(monkeypatch):
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", "")
    assert not has_gemini_key()
    monkeypatch.setenv("GEMINI_API_KEY", "secret")
    assert has_gemini_key()


def test_a_missing_key_is_noticed_before_any_work(monkeypatch):
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for text in ("gemini", "openai:gpt-4o"):
        with pytest.raises(MissingKey):
            check_access(model_from(text))
    check_access(ScriptedModel([]))


def test_secrets_are_struck_out(monkeypatch):
    monkeypatch.setenv("A_KEY", " s3cret-1 \n")
    monkeypatch.setenv("B_KEY", "")
    assert without_secrets("the key s3cret-1!", ["A_KEY", "B_KEY", "C_KEY"]) == "the key ***!"


def test_a_key_that_is_none_is_left_in_the_words_that_it_stands_in(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "local")
    said = "cannot reach http://localhost:11434"
    assert fit(said) == without_secrets(said, ["OPENAI_API_KEY"]) == said


@pytest.mark.parametrize(
    "options",
    [{"base_url": "localhost:8000"}, {"timeout_seconds": 0}, {"timeout_seconds": float("nan")}],
)
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(UsageFault):
        ServerOptions(**options)


def test_a_script_says_what_it_was_told():
    model = ScriptedModel(["one", Reply("two", cost=0.5), ValueError("three")], price=None)
    assert model.generate(QUESTIONS[0]).cost is None
    assert model.generate(QUESTIONS[1]) == Reply("two", cost=0.5, model="scripted")
    with pytest.raises(ValueError, match="three"):
        model.generate(QUESTIONS[2])
    with pytest.raises(TranscriptExhausted, match="3 answers, and 'k3'"):
        model.generate(QUESTIONS[3])
    assert model.requests == QUESTIONS
