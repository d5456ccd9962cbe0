"""Outlasts a busy server: waits as long as it asks, else ever longer, and gives up in the end.

The SDKs' own retries are off: they know neither the server's delay nor our limits, and say nothing.
"""

from __future__ import annotations

import logging
import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Generic, TypeVar

from arena.cancellation import is_wanted, pause
from arena.errors import UsageFault
from oracle.models.errors import CallRefused, ModelUnavailable

RETRYABLE = frozenset({408, 409, 425, 429, *range(500, 600)} - {501, 505})
"""HTTP statuses after which the same call may succeed; from 520 on they are gateways'."""

_LOG = logging.getLogger(__name__)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)s")

T = TypeVar("T")


class Transient(Exception):
    """An attempt failed in a way that may pass.

    Attributes:
      delay: seconds that the server asks us to wait; None where it does not say.
    """

    def __init__(self, reason: str, delay: float | None = None) -> None:
        super().__init__(reason)
        self.delay = delay


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long to go on.

    Attributes:
      attempts: at most, the first one included.
      first_wait: seconds before the second attempt; each wait after it is twice as long.
      longest_wait: seconds at which the waits stop growing; a server may ask for more.
      total_wait: seconds of waiting in one call, at most.
      seed: of the jitter.
    """

    attempts: int = 8
    first_wait: float = 2.0
    longest_wait: float = 60.0
    total_wait: float = 600.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise UsageFault(f"{self.attempts} attempts are wanted; at least 1 is needed")

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
    """An answer, the attempts that it took and the seconds, waits included."""

    value: T
    attempts: int
    seconds: float


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

        Args:
          key: names the call in the log and seeds its jitter.
          ask: one attempt; raises `Transient` where another may succeed.

        Raises:
          ModelUnavailable: no attempt succeeded, or the next would come too late or is not wanted.
        """
        start, waited, attempt = self._clock(), 0.0, 0
        while True:
            attempt += 1
            try:
                with self._slots:
                    if not is_wanted():
                        raise ModelUnavailable(f"{key}: nobody wants the answer any more")
                    value = ask()
            except Transient as error:
                wait = self._policy.wait(key, attempt, error.delay)
                reason = self._why_stop(attempt, waited, wait)
                if reason:
                    _LOG.warning("%s, attempt %d: %s; giving up", key, attempt, error)
                    raise ModelUnavailable(f"{error} ({reason}); try again later") from error
                _LOG.warning("%s, attempt %d: %s; next in %.1f s", key, attempt, error, wait)
            except CallRefused as error:
                _LOG.warning("%s, attempt %d: %s", key, attempt, error)
                raise
            else:
                seconds = self._clock() - start
                _LOG.info("%s, attempt %d: answered after %.1f s", key, attempt, seconds)
                return Answered(value, attempt, seconds)
            self._sleep(wait)
            waited += wait

    def _why_stop(self, attempt: int, waited: float, wait: float) -> str:
        if attempt >= self._policy.attempts:
            return f"attempt {attempt} of {self._policy.attempts}"
        if waited + wait > self._policy.total_wait:
            return (
                f"waited {waited:.0f} s, the next attempt would be after {wait:.0f} s more, "
                f"and {self._policy.total_wait:.0f} s is the limit"
            )
        return ""


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
