"""Stops spending in time."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from arena.cancellation import LOOK_SECONDS, is_wanted
from arena.errors import UsageFault
from oracle.models.errors import BudgetSpent, UnknownPrice
from oracle.models.prices import FREE, Price
from oracle.models.protocol import Model, Reply


@dataclass(frozen=True, slots=True)
class Spent:
    """What calls came to.

    Attributes:
      calls: that were answered, and attempts that came to nothing and are probably paid for; not
        those that the server turned down, which nobody pays for.
      tokens: of the calls whose usage is known.
      known_cost: US dollars, of the calls whose cost is known.
      unpriced: calls of unknown cost.
      unmeasured: calls of unknown usage.
      dearest: US dollars of the dearest call.
      longest: tokens of the longest call.
    """

    calls: int = 0
    tokens: int = 0
    known_cost: float = 0.0
    unpriced: int = 0
    unmeasured: int = 0
    dearest: float = 0.0
    longest: int = 0

    @property
    def cost(self) -> float | None:
        """US dollars of all calls; None where that of any is unknown."""
        return None if self.unpriced else self.known_cost

    def after(self, reply: Reply) -> Spent:
        """With one more call, and the attempts that were lost before it."""
        tokens, cost = reply.tokens, reply.cost
        return Spent(
            calls=self.calls + (not reply.turned_down) + reply.lost,
            tokens=self.tokens + (tokens or 0),
            known_cost=self.known_cost + (cost or 0.0),
            unpriced=self.unpriced + (cost is None),
            unmeasured=self.unmeasured + (tokens is None),
            dearest=max(self.dearest, cost or 0.0),
            longest=max(self.longest, tokens or 0),
        )

    def after_lost(self, counts: Reply) -> Spent:
        """With one more attempt that came to nothing; without its tokens, if nobody told them."""
        if counts.tokens is None:
            return replace(self, calls=self.calls + 1)
        return self.after(counts)

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            calls=self.calls + other.calls,
            tokens=self.tokens + other.tokens,
            known_cost=self.known_cost + other.known_cost,
            unpriced=self.unpriced + other.unpriced,
            unmeasured=self.unmeasured + other.unmeasured,
            dearest=max(self.dearest, other.dearest),
            longest=max(self.longest, other.longest),
        )

    @classmethod
    def on(cls, replies: Iterable[Reply]) -> Spent:
        """What these replies came to."""
        spent = cls()
        for reply in replies:
            spent = spent.after(reply)
        return spent

    def __str__(self) -> str:
        cost = f"${self.known_cost:.4f}"
        if self.unpriced:
            cost += f" and {self.unpriced} calls of unknown cost"
        return f"{self.calls} calls, {self.tokens:,} tokens, {cost}"


NOTHING = Spent()
"""No call at all."""


@dataclass(slots=True, eq=False)
class Admitted:
    """A call that a budget admitted and that is not settled yet.

    Attributes:
      price: of its model.
      lost: counts of its attempts that came to nothing, as far as another followed.
    """

    price: Price | None
    lost: list[Reply] = field(default_factory=list)

    @property
    def free(self) -> bool:
        """Whether it costs nothing, however long it is."""
        return self.price == FREE


class Budget:
    """Limits on what may be spent, shared by all threads of a run.

    A call is admitted as long as what was spent, and what it and the calls under way may come to
    (each as much as the largest so far), stays within the limit.  So is another attempt of a call,
    after one that came to nothing and is probably paid for.  Where there is a limit on cost or
    tokens, nobody else is admitted before a call has said what one comes to: one that was withheld,
    or that a free model answered, has not.  So a limit is passed by the first call, where that
    alone is larger, and by what later calls come to more than every call before them.
    """

    def __init__(
        self,
        max_cost: float | None = None,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        spent: Spent | None = None,
    ) -> None:
        """Sets limits; None is no limit.

        Args:
          max_cost: US dollars.
          max_calls: answered calls, and attempts that are probably paid for all the same.
          max_tokens: read, written and thought.
          spent: what counts already, for a run that is resumed.

        Raises:
          UsageFault: a limit is negative.
        """
        limits = {"cost": max_cost, "calls": max_calls, "tokens": max_tokens}
        for name, limit in limits.items():
            if limit is not None and not limit >= 0:
                raise UsageFault(f"the limit on {name} is {limit}; it must be at least 0")
        self.max_cost = max_cost
        self.max_calls = max_calls
        self.max_tokens = max_tokens
        self._spent = spent or Spent()
        self._under_way: list[Admitted] = []
        self._lock = threading.Condition()

    @property
    def spent(self) -> Spent:
        """What was spent so far."""
        with self._lock:
            return self._spent

    def check(self, model: Model) -> None:
        """Refuses a limit on cost that could not be kept.

        Raises:
          UnknownPrice: the model's price is not known.
        """
        if self.max_cost is not None and model.price is None:
            raise UnknownPrice(
                f"the price of {model.name} is not known, so its cost cannot be limited: give its "
                "price (--price PROMPT/OUTPUT in dollars per million tokens, 0/0 for a model that "
                "costs nothing), or limit calls or tokens instead"
            )

    def admit(self, price: Price | None = None) -> Admitted:
        """Asks for one more call; every admitted call is settled.

        Args:
          price: of the model; a model that costs nothing is not held back by the limit on cost.

        Raises:
          BudgetSpent: a limit is reached.
        """
        call = Admitted(price)
        with self._lock:
            while self._must_wait(call) and is_wanted():
                self._lock.wait(LOOK_SECONDS)
            self._check(call, self._under_way)
            self._under_way.append(call)
        return call

    def admit_again(self, call: Admitted, lost: Reply) -> None:
        """Asks for one more attempt of an admitted call.

        Args:
          call: that it is one of.
          lost: the counts of its last attempt, which came to nothing and is probably paid for.

        Raises:
          BudgetSpent: a limit is reached.
        """
        with self._lock:
            call.lost.append(lost)
            self._check(call, [one for one in self._under_way if one is not call])

    def settle(
        self, call: Admitted, reply: Reply | None = None, lost: Sequence[Reply] = ()
    ) -> None:
        """Counts an admitted call.

        Args:
          call: that is done.
          reply: that came; None for none.
          lost: where none came, the counts of attempts that are probably paid for all the same.
        """
        with self._lock:
            self._under_way.remove(call)
            self._lock.notify_all()
            if reply is not None:
                self._spent = self._spent.after(reply)
            for one in lost:
                self._spent = self._spent.after_lost(one.priced(call.price))

    def _must_wait(self, call: Admitted) -> bool:
        """Whether a call is under way that is the first to say what one comes to."""
        if self.max_tokens is not None and self._under_way and not self._spent.longest:
            return True
        costs = self.max_cost is not None and not call.free
        paying = any(not one.free for one in self._under_way)
        return costs and paying and not self._spent.dearest

    def _check(self, call: Admitted, others: Sequence[Admitted]) -> None:
        """Refuses what may pass a limit.

        Args:
          call: that is to be made, or made again.
          others: under way.

        Raises:
          BudgetSpent: a limit is reached.
        """
        spent = self._spent
        for one in (*others, call):
            for counts in one.lost:
                spent = spent.after_lost(counts.priced(one.price))
        paying = sum(not one.free for one in (*others, call))
        reason = self._reached(spent, 1 + len(others), 0 if call.free else paying)
        if reason:
            beside = f", and {len(others)} calls under way" if others else ""
            raise BudgetSpent(f"{reason} (spent so far: {spent}{beside})")

    def _reached(self, spent: Spent, calls: int, paying: int) -> str:
        """Which limit is reached, or may be passed by calls under way and to be made; "" for none.

        Args:
          spent: so far.
          calls: under way, with the one that is to be made.
          paying: those of them that cost anything; 0 where the one that is to be made does not.
        """
        if self.max_calls is not None and spent.calls + calls > self.max_calls:
            return f"the limit of {self.max_calls} calls is reached"
        if self.max_tokens is not None:
            limit = f"the limit of {self.max_tokens:,} tokens"
            if spent.unmeasured:
                return "the server does not report its usage, so the limit on tokens cannot be kept"
            if spent.tokens >= self.max_tokens:
                return f"{limit} is reached"
            if spent.tokens + calls * spent.longest > self.max_tokens:
                return f"another call may pass {limit}: the longest had {spent.longest:,}"
        if self.max_cost is not None and paying:
            limit = f"the limit of ${self.max_cost:g}"
            if spent.unpriced and spent.unmeasured:
                return "the server does not report its usage, so the limit on cost cannot be kept"
            if spent.unpriced:
                return (
                    "a call's cost is unknown, so the limit on cost cannot be kept: give the "
                    "model's price (--price PROMPT/OUTPUT)"
                )
            if spent.known_cost >= self.max_cost:
                return f"{limit} is reached"
            if spent.known_cost + paying * spent.dearest > self.max_cost:
                return f"another call may pass {limit}: the dearest cost ${spent.dearest:.4f}"
        return ""
