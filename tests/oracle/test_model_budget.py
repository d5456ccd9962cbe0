"""What calls cost, and stopping in time."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import UsageFault
from oracle.models.budget import Budget, Spent
from oracle.models.errors import BudgetSpent, UnknownPrice
from oracle.models.prices import FREE, Price, parse_price
from oracle.models.protocol import Reply
from tests.oracle.scripted_model import ScriptedModel


def reply(tokens=None, cost=None):
    return Reply("x", prompt_tokens=tokens, output_tokens=None if tokens is None else 0, cost=cost)


def spend(budget, *replies):
    for one in replies:
        budget.settle(budget.admit(), one)


def test_calls_are_limited():
    budget = Budget(max_calls=2)
    spend(budget, reply(), reply())
    with pytest.raises(BudgetSpent, match="limit of 2 calls"):
        budget.admit()


def test_attempts_that_are_probably_paid_for_count_as_calls():
    late, counted = Reply(""), reply(30, 0.3)
    answered = reply(5, 0.5).with_lost([late, counted])
    assert (answered.lost, answered.tokens, answered.cost) == (2, 35, 0.8)
    assert Reply.from_document(answered.to_document()) == answered
    assert Spent.on([answered]).calls == 3
    budget = Budget(max_calls=5, max_tokens=1000)
    spend(budget, answered)
    budget.settle(budget.admit(Price(1, 1)), None, [late, counted])  # no answer came at all
    assert (budget.spent.calls, budget.spent.tokens, budget.spent.unmeasured) == (5, 65, 0)
    with pytest.raises(BudgetSpent, match="limit of 5 calls"):
        budget.admit()


def test_calls_under_way_count():
    budget = Budget(max_calls=2)
    budget.admit()
    failing = budget.admit()
    with pytest.raises(BudgetSpent):
        budget.admit()
    budget.settle(failing)  # it failed, so another may be made
    budget.admit()


def test_cost_is_limited():
    budget = Budget(max_cost=1.0)
    spend(budget, reply(5, 0.4), reply(5, 0.4))
    assert budget.spent.cost == pytest.approx(0.8)
    with pytest.raises(
        BudgetSpent, match=r"may pass the limit of \$1: the dearest cost \$0\.4000 "
    ):
        budget.admit()
    with pytest.raises(BudgetSpent, match=r"2 calls, 10 tokens, \$0\.8000\)"):
        budget.admit()
    spend(Budget(max_cost=1.0), reply(5, 0.5), reply(5, 0.5))  # what just fits is made
    budget = Budget(max_cost=1.0)
    spend(budget, reply(5, 1.2))
    with pytest.raises(BudgetSpent, match=r"limit of \$1 is reached"):
        budget.admit()


def test_cost_under_way_is_foreseen_from_the_dearest_call():
    budget = Budget(max_cost=1.5)
    spend(budget, reply(5, 0.4), reply(5, 0.1))
    budget.admit()
    budget.admit()  # 0.5 spent, 0.8 expected
    with pytest.raises(BudgetSpent):
        budget.admit()  # 0.5 spent, 1.2 expected


def test_calls_under_way_are_told_where_the_others_stop():
    budget = Budget(max_calls=3)
    spend(budget, reply(5, 0.4))
    budget.admit()
    budget.admit()
    with pytest.raises(BudgetSpent, match=r"1 calls, 5 tokens, \$0\.4000, and 2 calls under way\)"):
        budget.admit()


@pytest.mark.parametrize(
    ("limits", "allowed"),
    [({"max_calls": 3}, 2), ({"max_tokens": 100}, 3), ({"max_cost": 2.5}, 1), ({}, 9)],
)
def test_another_attempt_is_admitted_like_a_call(limits, allowed):
    budget = Budget(**limits)
    late, free = Reply("", prompt_tokens=20, output_tokens=5), Budget(max_cost=0)
    call = budget.admit(Price(40_000, 40_000))  # a dollar for 25 tokens
    for _ in range(allowed):
        budget.admit_again(call, late)
    if limits:
        with pytest.raises(BudgetSpent, match=f"limit of .*{allowed + 1} calls"):
            budget.admit_again(call, late)
    assert budget.spent == Spent()  # it is counted when it is settled
    budget.settle(call, None, [late] * allowed)
    assert budget.spent.calls == allowed
    assert not free.admit_again(free.admit(FREE), late)


def test_attempts_of_calls_under_way_count_for_all_of_them():
    budget = Budget(max_calls=4)
    first, second = budget.admit(), budget.admit()
    budget.admit_again(first, Reply(""))
    budget.admit_again(second, Reply(""))
    for call in (first, second):
        with pytest.raises(BudgetSpent, match="1 calls under way"):
            budget.admit_again(call, Reply(""))


def test_nobody_else_is_admitted_before_the_first_says_what_a_call_costs():
    for limits in ({"max_cost": 1.0}, {"max_tokens": 100}):
        budget = Budget(**limits)
        first = budget.admit()
        with ThreadPoolExecutor() as pool:
            waiting = [pool.submit(budget.admit) for _ in range(3)]
            budget.settle(first, reply(100, 1.0))
        assert all(isinstance(one.exception(), BudgetSpent) for one in waiting)
    budget = Budget(max_cost=1.0)
    for _ in range(3):
        budget.admit(FREE)
    with ThreadPoolExecutor() as pool:
        budget = Budget(max_cost=1.0)
        first = budget.admit()
        waiting = pool.submit(budget.admit)
        budget.settle(first)  # it failed, so another may be made
        assert waiting.result(timeout=60) is not first


@pytest.mark.parametrize("limits", [{"max_cost": 1.0}, {"max_tokens": 100}])
def test_a_withheld_reply_does_not_say_what_a_call_comes_to(limits):
    budget = Budget(**limits)
    spend(budget, reply(0, 0.0))
    first = budget.admit()
    with ThreadPoolExecutor() as pool:
        waiting = [pool.submit(budget.admit) for _ in range(3)]
        budget.settle(first, reply(100, 1.0))
    assert all(isinstance(one.exception(), BudgetSpent) for one in waiting)


def test_a_free_model_does_not_say_what_a_call_costs():
    budget = Budget(max_cost=1.0)
    budget.settle(budget.admit(FREE), reply(100, 0.0))
    budget.admit(FREE)  # and while one works, nobody waits for what it would say
    first = budget.admit(Price(1, 1))
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(budget.admit, Price(1, 1))
        budget.settle(first, reply(100, 1.0))
    assert isinstance(waiting.exception(), BudgetSpent)


def test_tokens_are_limited():
    budget = Budget(max_tokens=100)
    spend(budget, reply(40), reply(20))
    spend(budget, reply(40))  # what just fits is made
    with pytest.raises(BudgetSpent, match="limit of 100 tokens is reached"):
        budget.admit()
    budget = Budget(max_tokens=100)
    spend(budget, reply(61))
    with pytest.raises(BudgetSpent, match="may pass the limit of 100 tokens: the longest had 61"):
        budget.admit()


def test_what_cannot_be_counted_cannot_be_limited():
    budget = Budget(max_tokens=100)
    spend(budget, reply())
    with pytest.raises(BudgetSpent, match="does not report its usage"):
        budget.admit()
    budget = Budget(max_cost=100)
    spend(budget, reply(7))
    with pytest.raises(BudgetSpent, match="cost is unknown"):
        budget.admit()


def test_a_limit_of_zero_lets_nothing_pass_but_what_is_free():
    budget = Budget(max_cost=0)
    with pytest.raises(BudgetSpent):
        budget.admit(Price(1, 1))
    budget.admit(FREE)


def test_what_was_spent_before_counts():
    with pytest.raises(BudgetSpent):
        Budget(max_calls=3, spent=Spent(calls=3)).admit()


def test_a_limit_on_cost_needs_a_price():
    unknown = ScriptedModel([], name="gemini:unheard-of", price=None)
    with pytest.raises(UnknownPrice, match=r"gemini:unheard-of.*--price"):
        Budget(max_cost=5).check(unknown)
    Budget(max_calls=5).check(unknown)
    Budget(max_cost=5).check(ScriptedModel([]))


@pytest.mark.parametrize("name", ["max_cost", "max_calls", "max_tokens"])
@pytest.mark.parametrize("limit", [-1, float("nan")])
def test_limits_are_not_negative(name, limit):
    with pytest.raises(UsageFault):
        Budget(**{name: limit})


def test_an_unknown_cost_is_never_counted_as_nothing():
    spent = Spent.on([reply(5, 0.5), reply(5, None)])
    assert spent.cost is None
    assert spent.known_cost == 0.5
    assert "1 calls of unknown cost" in str(spent)


def test_threads_do_not_pass_the_limit_together():
    budget = Budget(max_calls=50)

    def one(_):
        try:
            call = budget.admit()
        except BudgetSpent:
            return False
        budget.settle(call, reply(1, 0.01))
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(one, range(200))) == 50
    assert budget.spent.calls == budget.spent.tokens == 50


calls = st.lists(st.tuples(st.integers(0, 10**6), st.floats(0, 10)), max_size=30)


@given(calls, st.floats(0.01, 20))
def test_a_limit_on_cost_is_passed_by_no_more_than_a_call_is_dearer_than_those_before(costs, limit):
    budget, dearest, most = Budget(max_cost=limit), 0.0, limit
    try:
        for tokens, cost in costs:
            call = budget.admit()
            most, dearest = max(most, limit + cost - dearest), max(dearest, cost)
            budget.settle(call, reply(tokens, cost))
    except BudgetSpent:
        assert budget.spent.known_cost + budget.spent.dearest >= limit
    assert budget.spent.known_cost <= most + 1e-9


def test_long_prompts_cost_more():
    price = Price(1.25, 10.0, long_prompt=2.50, long_output=15.0)
    assert price.cost(200_000, 1_000_000) == pytest.approx(0.25 + 10)
    assert price.cost(200_001, 1_000_000) == pytest.approx(0.5000025 + 15)
    assert Price(0.3, 2.5).cost(10**6, 10**6) == pytest.approx(2.80)


def test_a_prompt_beyond_what_is_known_has_no_cost():
    price = Price(8.0, 40.0, known_to=272_000)
    assert price.cost(272_000, 0) == pytest.approx(2.176)
    assert price.cost(272_001, 0) is None


def test_unknown_usage_has_no_cost_unless_all_is_free():
    assert Price(1, 1).cost(None, 5) is None
    assert Price(1, 1).cost(5, None) is None
    assert FREE.cost(None, None) == 0.0


def test_prices_are_read():
    assert parse_price("1.25/10") == Price(1.25, 10)
    assert parse_price("0/0") == FREE


@pytest.mark.parametrize("text", ["", "1", "1/2/3", "a/b", "-1/2", "nan/1", "inf/1", "1,25/10"])
def test_what_is_no_price_is_refused(text):
    with pytest.raises(UsageFault, match="PROMPT/OUTPUT"):
        parse_price(text)
