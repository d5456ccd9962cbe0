"""Waiting for a busy server: how long, how often, how many at once."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.cancellation import wanted_until
from arena.errors import UsageFault
from oracle.models.errors import CallRefused, ModelUnavailable
from oracle.models.protocol import Reply
from oracle.models.retry import (
    Caller,
    Lost,
    RetryPolicy,
    Transient,
    retry_after,
    retry_info,
)


class Clock:
    """Time that passes only where somebody waits."""

    def __init__(self):
        self.now = 100.0
        self.waits = []

    def sleep(self, seconds):
        self.waits.append(seconds)
        self.now += seconds

    def __call__(self):
        return self.now


def failing(*errors):
    left = list(errors)

    def ask():
        if left:
            raise left.pop(0)
        return "answer"

    return ask


def caller(clock, **policy):
    return Caller(RetryPolicy(**policy), sleep=clock.sleep, clock=clock)


def test_waits_double_up_to_the_longest():
    clock = Clock()
    answered = caller(clock, longest_wait=10.0).call("k", failing(*[Transient("busy")] * 5))
    assert (answered.value, answered.attempts) == ("answer", 6)
    for wait, longest in zip(clock.waits, [2, 4, 8, 10, 10], strict=True):
        assert longest / 2 <= wait <= longest
    assert answered.seconds == pytest.approx(sum(clock.waits))


def test_jitter_follows_from_the_seed_and_the_key():
    policy = RetryPolicy(seed=1)
    assert policy.wait("k", 1, None) == RetryPolicy(seed=1).wait("k", 1, None)
    others = {policy.wait("other", 1, None), RetryPolicy(seed=2).wait("k", 1, None)}
    assert policy.wait("k", 1, None) not in others


@given(st.text(), st.integers(1, 40), st.none() | st.floats(0, 1e6))
def test_no_wait_is_shorter_than_the_server_asks(key, attempt, delay):
    wait = RetryPolicy().wait(key, attempt, delay)
    if delay is None:
        assert 1 <= wait <= 60
    else:
        assert delay <= wait <= max(delay + 1, 60)


def test_who_asks_for_no_wait_again_and_again_does_not_use_up_the_attempts_at_once():
    clock = Clock()
    with pytest.raises(ModelUnavailable):
        caller(clock).call("k", failing(*[Transient("busy", 0.0)] * 100))
    assert clock.waits[0] <= 1
    assert sum(clock.waits) > 60


def test_waiting_ends_at_the_limit_in_total():
    clock = Clock()
    endless = failing(*[Transient("busy", 40.0)] * 100)
    with pytest.raises(ModelUnavailable, match="100 s is the limit"):
        caller(clock, attempts=100, total_wait=100.0).call("k", endless)
    assert len(clock.waits) == 2


@given(st.text(), st.none() | st.floats(0, 60))
def test_a_busy_server_is_asked_for_as_long_as_waiting_is_allowed(key, delay):
    clock = Clock()
    with pytest.raises(ModelUnavailable, match="600 s is the limit"):
        caller(clock).call(key, failing(*[Transient("busy", delay)] * 100))
    assert sum(clock.waits) > 600 - 62


def test_attempts_that_are_probably_paid_for_are_few():
    clock, counts = Clock(), Reply("", prompt_tokens=7, output_tokens=3)
    late = Lost("late", "wait", most=2)
    errors = [Transient("busy"), late, Transient("busy"), Lost("late", "wait", counts, most=2)]
    with pytest.raises(
        ModelUnavailable, match=r"late \(attempt 4; 2 came to nothing .*\); wait$"
    ) as up:
        caller(clock).call("k", failing(*errors))
    assert up.value.lost == (Reply(""), counts)
    answered = caller(clock).call("k", failing(Lost("late", "wait", counts)))
    assert (answered.value, answered.lost) == ("answer", (counts,))


def test_of_unreadable_answers_there_may_be_more_than_of_late_ones():
    clock, unreadable = Clock(), Lost("unreadable", "look")
    answered = caller(clock).call("k", failing(*[unreadable] * 3))
    assert (answered.value, answered.attempts, len(answered.lost)) == ("answer", 4, 3)
    with pytest.raises(ModelUnavailable, match=r"unreadable \(attempt 4; 4 came to nothing"):
        caller(clock).call("k", failing(*[unreadable] * 4))


def test_an_error_may_say_that_more_attempts_hardly_help():
    with pytest.raises(ModelUnavailable, match=r"attempt 2 of 2\); pay$"):
        caller(Clock()).call("k", failing(*[Transient("poor", attempts=2, advice="pay")] * 3))


@pytest.mark.parametrize("kind", [Transient, CallRefused, RuntimeError])
def test_no_error_repeats_a_key_or_steers_a_terminal(monkeypatch, caplog, kind):
    monkeypatch.setenv("OPENAI_API_KEY", "a-secret-key-1234")
    monkeypatch.setenv("GEMINI_API_KEY", "e")  # what some give to a server that wants none
    said = kind("never \x1b[2J\x1b]0;pwn\x07evil\u202e with a-secret-key-1234")
    with pytest.raises((ModelUnavailable, kind)) as caught:
        caller(Clock(), attempts=1).call("k", failing(said))
    told = str(caught.value)
    assert "never [U+001B][2J[U+001B]]0;pwn[U+0007]evil[U+202E] with ***" in told
    for text in (told, caplog.text):
        assert not {"\x1b", "\x07", "\u202e"} & set(text)
        assert "secret" not in text


def test_other_errors_pass_at_once():
    clock = Clock()
    for error in (CallRefused("no"), ZeroDivisionError()):
        with pytest.raises(type(error)):
            caller(clock).call("k", failing(error))
    assert clock.waits == []


def test_only_so_many_attempts_at_once():
    under_way, most, lock = 0, 0, threading.Lock()
    met = threading.Barrier(3, timeout=10)

    def ask():
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        met.wait()
        time.sleep(0.02)  # long enough for one too many to come in
        with lock:
            under_way -= 1

    calls = Caller(RetryPolicy(), concurrency=3)
    with ThreadPoolExecutor(9) as pool:
        list(pool.map(lambda number: calls.call(str(number), ask), range(9)))
    assert most == 3


def test_a_call_that_waits_leaves_its_place_to_others():
    others = []
    calls = Caller(
        RetryPolicy(),
        concurrency=1,
        sleep=lambda _: others.append(calls.call("other", lambda: "answer").value),
    )
    assert calls.call("k", failing(Transient("busy"))).attempts == 2
    assert others == ["answer"]


def test_a_wait_ends_when_nobody_wants_the_answer_any_more():
    end, asked = threading.Event(), []

    def ask():
        asked.append(None)
        raise Transient("busy", 500.0)

    def call(key):
        with wanted_until(end):
            return calls.call(key, ask)

    calls = Caller(RetryPolicy())
    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(call, str(number)) for number in range(3)]
        while len(asked) < 3:
            time.sleep(0.01)
        start = time.monotonic()
        end.set()
        for one in waiting:
            with pytest.raises(ModelUnavailable, match="nobody wants"):
                one.result(60.0)
    assert time.monotonic() - start < 30.0
    with pytest.raises(ModelUnavailable, match="nobody wants"):
        call("one that begins too late")
    assert len(asked) == 3
    assert calls.call("of others", lambda: "answer").value == "answer"


@pytest.mark.parametrize("policy", [{"attempts": 0}, {"attempts": -1}, {"lost_attempts": 0}])
def test_at_least_one_attempt(policy):
    with pytest.raises(UsageFault):
        RetryPolicy(**policy)


def test_at_least_one_call_at_once():
    with pytest.raises(UsageFault):
        Caller(RetryPolicy(), concurrency=0)


NOW = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("7", 7),
        (" 0 ", 0),
        ("2.5", 2.5),
        ("Fri, 20 Nov 2026 12:00:30 GMT", 30),
        ("Fri, 20 Nov 2026 11:00:30 GMT", 0),
        ("-3", None),
        ("soon", None),
        ("", None),
        ("\u0663", None),
    ],
)
def test_retry_after(header, seconds):
    assert retry_after(header, NOW) == seconds


@given(st.text())
def test_any_header_is_a_wait_or_none(header):
    seconds = retry_after(header, NOW)
    assert seconds is None or seconds >= 0


def error(*details):
    return {"error": {"code": 429, "details": list(details)}}


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        (error({"@type": "Help"}, {"@type": "RetryInfo", "retryDelay": "7s"}), 7),
        (error({"retryDelay": "0.250s"}), 0.25),
        ({"details": [{"retryDelay": "3s"}]}, 3),
        (error({"retryDelay": 7}), None),
        (error({"retryDelay": "7"}), None),
        (error("7s"), None),
        (error(), None),
        ({"error": "busy"}, None),
        ([], None),
        (None, None),
    ],
)
def test_retry_info(body, seconds):
    assert retry_info(body) == seconds


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "details", "retryDelay", "x"]), inner, max_size=3
        )
    ),
)


@given(anything)
def test_any_body_is_a_wait_or_none(body):
    seconds = retry_info(body)
    assert seconds is None or seconds >= 0
