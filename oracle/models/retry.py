"""Outlasts a busy server: waits as long as it asks, else ever longer, and gives up in the end.

The SDKs' own retries are off: they know neither the server's delay nor our limits, and say nothing.
"""

from __future__ import annotations

import logging
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Generic, TypeVar

from arena.cancellation import is_wanted, pause
from arena.errors import UsageFault
from oracle.models.errors import BudgetSpent, CallRefused, ModelError, ModelUnavailable
from oracle.models.protocol import Reply
from oracle.models.redaction import fit

RETRYABLE = frozenset({408, 409, 425, 429, 499, *range(500, 600)} - {501, 505})
"""HTTP statuses after which the same call may succeed; from 520 on they are gateways'.  With 499
Gemini says that it cancelled a call, as it does under load."""
TIMED_OUT = frozenset({408, 504, 522, 524})
"""Those of a gateway that waited in vain for whoever answers: the model may well have written.
With 408 LiteLLM, OpenRouter and Bedrock say the same, whatever HTTP means by it."""
MOST_LATE = 2
"""Attempts of one call that may be late: who had no answer in time will have none the next time."""

_LOG = logging.getLogger(__name__)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)s")

T = TypeVar("T")
Payer = Callable[[Reply], None]
"""Is told the counts of an attempt that came to nothing; raises `BudgetSpent` against another."""
_PAYER: ContextVar[Payer | None] = ContextVar("payer", default=None)


@contextmanager
def paid_by(payer: Payer) -> Iterator[None]:
    """What this thread asks in here is asked again, after it was paid for, if the payer agrees.

    Between who pays for a call and who makes its attempts are models that know nothing of money: so
    it is a scope of their thread, as `arena.cancellation` is.
    """
    token = _PAYER.set(payer)
    try:
        yield
    finally:
        _PAYER.reset(token)


class AskOtherwise(Exception):
    """The server does not take the question as it stands, and may take it when put another way.

    Attributes:
      lost: for each attempt before that is probably paid for, a `Reply` with its counts and no
        text.
    """

    lost: tuple[Reply, ...] = ()


@contextmanager
def also_lost(before: Sequence[Reply]) -> Iterator[None]:
    """Whatever ends a question in here also tells what was paid for in vain before."""
    try:
        yield
    except (ModelError, BudgetSpent, AskOtherwise) as error:
        error.lost = (*before, *error.lost)
        raise


class Transient(Exception):
    """An attempt failed in a way that may pass.

    Attributes:
      delay: seconds that the server asks us to wait; None where it does not say.
      attempts: to make at most, where more of them hardly help; None for as many as usual.
      advice: what to do when no attempt succeeds.
    """

    def __init__(
        self,
        reason: str,
        delay: float | None = None,
        *,
        attempts: int | None = None,
        advice: str = "try again later",
    ) -> None:
        super().__init__(reason)
        self.delay = delay
        self.attempts = attempts
        self.advice = advice


class Lost(Transient):
    """An attempt came to nothing that is probably paid for: late, unreadable, lost on its way.

    Attributes:
      counts: a reply with the tokens that the server says it took, and no text.
      most: such attempts in one call, where fewer are enough than usual.
    """

    def __init__(
        self,
        reason: str,
        advice: str = "try again later",
        counts: Reply | None = None,
        most: int | None = None,
        delay: float | None = None,
    ) -> None:
        super().__init__(reason, delay, advice=advice)
        self.counts = counts or Reply("")
        self.most = most


def passing(status: int, reason: str, delay: float | None) -> Transient:
    """An error of a status that may pass.

    A gateway's limit on waiting is none of ours, but what it says is the same: the answer is late.
    """
    if status not in TIMED_OUT:
        return Transient(reason, delay)
    advice = "let the gateway before the model wait longer, or have the model think and write less"
    return Lost(reason, advice, most=MOST_LATE, delay=delay)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long to go on.

    A busy server is asked for as long as `total_wait` lets us: the attempts suffice for that.

    Attributes:
      attempts: at most, the first one included.
      lost_attempts: of them, those that are probably paid for and came to nothing (`Lost`).
      first_wait: seconds before the second attempt; each wait after it is twice as long.
      longest_wait: seconds at which the waits stop growing; a server may ask for more.
      total_wait: seconds of waiting in one call, at most.
      seed: of the jitter.
    """

    attempts: int = 30
    lost_attempts: int = 4
    first_wait: float = 2.0
    longest_wait: float = 60.0
    total_wait: float = 600.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise UsageFault(f"{self.attempts} attempts are wanted; at least 1 is needed")
        if self.lost_attempts < 1:
            raise UsageFault(
                f"{self.lost_attempts} attempts may come to nothing; at least 1 has to be allowed"
            )

    def wait(self, key: str, attempt: int, delay: float | None) -> float:
        """Seconds to wait after a failed attempt (1, 2, ...) of the call `key`.

        The server's delay is a least wait; jitter keeps parallel calls from returning together.
        Who asks for a second or none each time would have all attempts used up in no time: the
        first such delay is taken at its word, and those after it are as long as others at least.
        """
        jitter = random.Random(f"{self.seed}/{key}/{attempt}").random()
        grown = min(self.longest_wait, self.first_wait * 2.0 ** (attempt - 1)) * (0.5 + jitter / 2)
        if delay is None:
            return grown
        asked = delay + jitter * min(1.0, self.first_wait)
        return asked if attempt == 1 else max(asked, grown)


@dataclass(frozen=True, slots=True)
class Answered(Generic[T]):
    """An answer, the attempts that it took and the seconds, waits included.

    `lost` has the counts of attempts before it that are probably paid for (`Reply.with_lost`).
    """

    value: T
    attempts: int
    seconds: float
    lost: tuple[Reply, ...] = ()


class Caller:
    """Makes calls under a retry policy, a few at a time.  For use by many threads.

    A call that nobody wants any more (`arena.cancellation`) waits no longer and makes no other
    attempt.
    """

    def __init__(
        self,
        policy: RetryPolicy,
        concurrency: int = 4,
        *,
        sleep: Callable[[float], None] = pause,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Sets the policy.

        Args:
          policy: of the retries.
          concurrency: attempts under way at once; a call that waits does not count.
          sleep: waits that many seconds.
          clock: seconds since some moment.

        Raises:
          UsageFault: the concurrency is less than 1.
        """
        if concurrency < 1:
            raise UsageFault(f"{concurrency} calls at once are wanted; at least 1 is needed")
        self._policy = policy
        self._slots = threading.BoundedSemaphore(concurrency)
        self._sleep = sleep
        self._clock = clock

    def call(self, key: str, ask: Callable[[], T]) -> Answered[T]:
        """Asks until there is an answer; every attempt is logged.

        All errors of models pass here: a server's words are in them, and leave without keys and
        without what a terminal would obey.

        Args:
          key: names the call in the log and seeds its jitter.
          ask: one attempt; raises `Transient` where another may succeed.

        Raises:
          ModelUnavailable: no attempt succeeded, or the next would come too late or is not wanted.
          BudgetSpent: an attempt came to nothing, and another may not be paid for (`paid_by`).
        """
        start, waited, attempt = self._clock(), 0.0, 0
        lost: tuple[Reply, ...] = ()
        while True:
            attempt += 1
            try:
                value = self._attempt(key, ask)
            except Transient as error:
                wait = self._policy.wait(key, attempt, error.delay)
                lost += (error.counts,) if isinstance(error, Lost) else ()
                reason = self._why_stop(error, attempt, len(lost)) or self._too_late(waited, wait)
                if reason:
                    _LOG.warning("%s, attempt %d: %s; giving up", key, attempt, error)
                    raise ModelUnavailable(f"{error} ({reason}); {error.advice}", lost) from error
                _LOG.warning("%s, attempt %d: %s; next in %.1f s", key, attempt, error, wait)
                if isinstance(error, Lost):
                    ask_payer(lost)
            except AskOtherwise as error:
                error.lost = lost
                raise
            except ModelError as error:
                error.lost = error.lost or lost
                if isinstance(error, CallRefused):
                    _LOG.warning("%s, attempt %d: %s", key, attempt, error)
                raise
            else:
                seconds = self._clock() - start
                _LOG.info("%s, attempt %d: answered after %.1f s", key, attempt, seconds)
                return Answered(value, attempt, seconds, lost)
            self._sleep(wait)
            waited += wait

    def _attempt(self, key: str, ask: Callable[[], T]) -> T:
        """One attempt, when there is room for it; whatever it raises is fit to be told."""
        with self._slots:
            if not is_wanted():
                raise ModelUnavailable(f"{key}: nobody wants the answer any more")
            try:
                return ask()
            except Exception as error:
                error.args = tuple(fit(one) if isinstance(one, str) else one for one in error.args)
                raise

    def _why_stop(self, error: Transient, attempt: int, lost: int) -> str:
        """Why there were attempts enough; "" where there were not."""
        enough = self._policy.lost_attempts
        if isinstance(error, Lost) and lost >= min(enough, error.most or enough):
            return f"attempt {attempt}; {lost} came to nothing and are probably paid for"
        most = min(self._policy.attempts, error.attempts or self._policy.attempts)
        return f"attempt {attempt} of {most}" if attempt >= most else ""

    def _too_late(self, waited: float, wait: float) -> str:
        """Why the next attempt would come too late; "" where it would not."""
        if waited + wait <= self._policy.total_wait:
            return ""
        return (
            f"waited {waited:.0f} s, the next attempt would be after {wait:.0f} s more, "
            f"and {self._policy.total_wait:.0f} s is the limit"
        )


def ask_payer(lost: tuple[Reply, ...]) -> None:
    """Asks whoever pays for another attempt, once the last one of these came to nothing.

    Raises:
      BudgetSpent: another may not be paid for.
    """
    payer = _PAYER.get()
    if payer is None:
        return
    try:
        payer(lost[-1])
    except BudgetSpent as spent:
        spent.lost = lost
        raise


def retry_after(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds of a Retry-After header (RFC 9110, section 10.2.3); None for none or nonsense.

    Args:
      header: seconds, or a date.
      now: the time, in UTC; the clock's where it is None.
    """
    if header is None:
        return None
    text = header.strip()
    if re.fullmatch(r"\d{1,9}(\.\d+)?", text, re.ASCII):
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - (now or datetime.now(UTC))).total_seconds())


def retry_info(body: object) -> float | None:
    """Seconds of a google.rpc.RetryInfo in an error's body (google/rpc/error_details.proto).

    The body is what a server sent, so anything: what does not look right counts as absent.
    """
    error = body.get("error", body) if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        match = _DURATION.fullmatch(delay) if isinstance(delay, str) else None
        if match:
            return float(match[1])
    return None
