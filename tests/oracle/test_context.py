"""Which opponents are shown: the paper's inputs and filters, as options and as properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.context import BadOption, Filter, OpponentInput, parse_filter, parse_input
from oracle.values import Opponent

weights = st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=12)
filters = st.one_of(
    st.just(Filter()),
    st.integers(1, 15).map(lambda k: Filter(top_k=k)),
    st.floats(0.0, 1.0).map(lambda p: Filter(min_support=p)),
)


def support(values):
    total = sum(values)
    return [
        Opponent(f"{place:032x}", f"csro/run-k{place:02}", "", value / total)
        for place, value in enumerate(values)
    ]


def weights_of(filter_text, values):
    return [one.opponent.weight for one in parse_filter(filter_text).apply(support(values))]


@given(weights, filters)
def test_what_is_shown_is_the_head_of_the_ranking(values, chosen):
    opponents = support(values)
    shown = chosen.apply(opponents)
    ranked = sorted(opponents, key=lambda one: -one.weight)
    assert [one.opponent for one in shown] == ranked[: len(shown)]
    assert [one.number for one in shown] == list(range(1, len(shown) + 1))
    assert len(shown) >= 1


@given(weights, filters)
def test_shares_add_up_to_one_in_the_proportions_of_the_weights(values, chosen):
    shown = chosen.apply(support(values))
    assert sum(one.share for one in shown) == pytest.approx(1.0)
    for one in shown:
        ratio = one.share / shown[0].share
        assert ratio == pytest.approx(one.opponent.weight / shown[0].opponent.weight)


@given(weights, st.integers(1, 15))
def test_top_k_shows_k_or_all(values, k):
    assert len(Filter(top_k=k).apply(support(values))) == min(k, len(values))


@given(weights, st.floats(0.0, 1.0))
def test_min_support_shows_all_of_that_weight_and_at_least_the_heaviest(values, least):
    opponents = support(values)
    shown = Filter(min_support=least).apply(opponents)
    wanted = [one for one in opponents if one.weight >= least]
    assert {one.opponent.digest for one in shown} >= {one.digest for one in wanted}
    assert len(shown) == max(1, len(wanted))


@given(filters)
def test_a_filter_reads_back_from_its_text(chosen):
    assert parse_filter(str(chosen)) == chosen


def test_the_paper_s_filters():
    values = [0.5, 0.3, 0.1, 0.04, 0.03, 0.02, 0.01]
    assert weights_of("all", values) == pytest.approx(values)
    assert weights_of("top-k:2", values) == pytest.approx([0.5, 0.3])
    assert parse_filter("top-k") == parse_filter(" TOP-K:5 ") == Filter(top_k=5)
    assert weights_of("min-support:0.05", values) == pytest.approx([0.5, 0.3, 0.1])
    assert parse_filter("min-support") == Filter(min_support=0.05)
    assert Filter().apply([]) == Filter(min_support=0.5).apply([]) == ()


@pytest.mark.parametrize(
    "text",
    [
        *("", "some", "all:3", "top-k:0", "top-k:-1", "top-k:x", "top-k:2.5", "top5"),
        *("min-support:1.5", "min-support:-0.1", "min-support:nan", "min-support:x"),
    ],
)
def test_a_bad_filter_says_what_is_wrong(text):
    with pytest.raises(BadOption) as caught:
        parse_filter(text)
    assert "top-k" in str(caught.value) or "min-support" in str(caught.value)


def test_inputs():
    assert parse_input(" Code ") is OpponentInput.CODE
    assert [parse_input(text).value for text in ("none", "code", "description")] == list(
        OpponentInput
    )
    with pytest.raises(BadOption, match="none, code, description"):
        parse_input("desc")
    with pytest.raises(BadOption, match="not by both"):
        Filter(top_k=1, min_support=0.5)


def test_the_filters_differ_where_the_mixture_is_pure():
    opponents = support([1.0])
    others = [Opponent(f"{place:032x}", f"csro/run-k{place:02}", "", 0.0) for place in (9, 8, 7)]
    shown = {
        text: [one.opponent.ref for one in parse_filter(text).apply(opponents, others)]
        for text in ("all", "top-k:3", "min-support:0.05", "top-k:9")
    }
    assert shown["all"] == shown["min-support:0.05"] == ["csro/run-k00"]
    assert shown["top-k:3"] == ["csro/run-k00", "csro/run-k09", "csro/run-k08"]
    assert len(shown["top-k:9"]) == 4
    filled = parse_filter("top-k:3").apply(opponents, others)
    assert [one.number for one in filled] == [1, 2, 3]
    assert [one.share for one in filled] == [1.0, 0.0, 0.0]


@given(weights, st.integers(0, 12), st.integers(1, 15))
def test_top_k_shows_k_where_the_population_has_k(values, rest, k):
    others = [Opponent(f"{place:032x}", f"csro/old{place:02}", "", 0.0) for place in range(rest)]
    shown = Filter(top_k=k).apply(support(values), others)
    assert len(shown) == min(k, len(values) + rest)
    assert [one.opponent for one in shown[len(values) :]] == others[: max(0, k - len(values))]
