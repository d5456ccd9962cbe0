"""The codec: what comes back is what went in, and what is hostile is refused in words."""

import json
import math
import types
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena import GAMES, AnyArena, game
from arena.errors import ArenaError, BadRequest, ServerFault, UsageFault
from arena.games.protocol import Game
from arena.listings import History, Matches, Policies, Practice, Seasons
from arena.payoffs import PayoffTable
from arena.practice import PracticeMatch
from arena.seam import Operations
from arena.square import Counts, Floats
from arena.store.errors import StoreBusy, StoreError
from arena.store.values import MatchRow
from arena.wire import faults
from arena.wire.calls import bound, calls
from arena.wire.codec import codec
from arena.wire.plain import Malformed
from arena.wire.values import decode_open, encode_open
from registry.errors import AmbiguousRef, TokenExpired, UnknownPolicy
from registry.values import PolicyVersion, Season, StatusChange
from sandbox.errors import SandboxRefused
from tests.arena.test_conformance import same

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
MOMENTS = st.datetimes(
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))]),
)
OPEN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(TEXT | st.just("~"), inner, max_size=3)
    ),
    max_leaves=8,
)
PLAIN = {
    str: TEXT,
    bool: st.booleans(),
    int: st.integers(),
    float: st.floats(),
    bytes: st.binary(max_size=16),
    datetime: MOMENTS,
    type(None): st.none(),
    object: OPEN,
    Any: OPEN,
    Game: st.sampled_from([game(name) for name in GAMES]),
}
LISTS = {
    History: StatusChange,
    Policies: PolicyVersion,
    Practice: PracticeMatch,
    Seasons: Season,
}


@st.composite
def tables(draw):
    """Payoff tables of up to three policies, with any numbers in them."""
    n = draw(st.integers(0, 3))
    digests = tuple(f"{place:064x}" for place in range(n))
    arrays = {}
    for name, of in get_type_hints(PayoffTable).items():
        if of in (Floats, Counts):  # by value: hints are made anew
            shape = (2, n, n) if name.startswith("half") else (n, n)
            size = math.prod(shape)
            one = st.floats() if of == Floats else st.integers(-(2**31), 2**31 - 1)
            values = draw(st.lists(one, min_size=size, max_size=size))
            kind = np.float64 if of == Floats else np.int32
            arrays[name] = np.array(values, kind).reshape(shape)
    around = draw(values_of(get_type_hints(PayoffTable)["around"]))
    names = draw(st.dictionaries(TEXT, TEXT, max_size=2))
    return PayoffTable(digests, **arrays, names=names, around=around)


def values_of(of):
    """Any value of a type of the seam."""
    if of in PLAIN:
        return PLAIN[of]
    if of is PayoffTable:
        return tables()
    if of in LISTS:
        return st.lists(values_of(LISTS[of]), max_size=2).map(of)
    if of is Matches:
        refs = st.dictionaries(TEXT, TEXT, max_size=2)
        return st.builds(Matches, st.lists(values_of(MatchRow), max_size=2), refs)
    origin, inside = get_origin(of), get_args(of)
    if origin in (Union, types.UnionType):
        return st.one_of([values_of(one) for one in inside])
    if origin is tuple and not (len(inside) == 2 and inside[1] is Ellipsis):
        return st.tuples(*(values_of(one) for one in inside))
    if origin is tuple:
        return st.lists(values_of(inside[0]), max_size=2).map(tuple)
    if len(inside) == 2:
        return st.dictionaries(values_of(inside[0]), values_of(inside[1]), max_size=2)
    if len(inside) == 1:
        made = list if origin is list else tuple
        return st.lists(values_of(inside[0]), max_size=2).map(made)
    if issubclass(of, Enum):
        return st.sampled_from(list(of))
    assert is_dataclass(of), of
    hints = get_type_hints(of)
    return st.builds(of, **{one.name: values_of(hints[one.name]) for one in fields(of)})


def crossed(of, value):
    """A value after it went over a wire as text."""
    text = json.dumps(codec(of).encode(value), allow_nan=False)
    return codec(of).decode(json.loads(text))


SEAM = {
    name: member
    for name, member in (*vars(AnyArena).items(), *vars(Operations).items())
    if not name.startswith("_") and name != "close"
}
RESULTS = {
    name: get_type_hints(member.fget if isinstance(member, property) else member)["return"]
    for name, member in SEAM.items()
}
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


@pytest.mark.parametrize("of", sorted(set(RESULTS.values()), key=str), ids=str)
@settings(max_examples=15, suppress_health_check=SLOW)
@given(data=st.data())
def test_results_come_back_as_they_went(of, data):
    value = data.draw(values_of(of))
    assert same(value, crossed(of, value))


@pytest.mark.parametrize("name", sorted(calls()))
@settings(max_examples=10, suppress_health_check=SLOW)
@given(data=st.data())
def test_arguments_come_back_as_they_went(name, data):
    call = calls()[name]
    function = SEAM[name]
    if isinstance(function, property):
        assert call.decode({}) == {}
        return
    hints = get_type_hints(function)
    chosen = {
        one: data.draw(values_of(hints[one]), label=one) for one in call.parameters if one in hints
    }
    back = call.decode(json.loads(json.dumps(call.encode(chosen), allow_nan=False)))
    for one, value in chosen.items():
        # A game goes by its name, which means the same.
        expected = value if isinstance(value, str) else getattr(value, "name", value)
        told = getattr(back[one], "name", back[one])
        assert same(expected, told) or value is back[one], one


def test_every_method_of_the_seam_is_in_the_table():
    assert set(calls()) == set(SEAM)


def test_every_value_of_the_seam_has_a_schema():
    for call in calls().values():
        assert isinstance(call.result.schema, dict)
        for one in call.parameters.values():
            json.dumps(one.schema)


@settings(max_examples=60)
@given(value=OPEN)
def test_open_values_come_back(value):
    back = decode_open(json.loads(json.dumps(encode_open(value), allow_nan=False)))
    assert same(back, value) and type(back) is type(value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.parametrize("name", sorted(calls()))
@settings(max_examples=25)
@given(document=JSON)
def test_hostile_arguments_are_refused_in_words(name, document):
    try:
        calls()[name].decode(document)
    except BadRequest as error:
        assert str(error).startswith(f"{name}: ")


@settings(max_examples=200)
@given(document=JSON, data=st.data())
def test_hostile_values_are_refused_in_words_or_are_values(document, data):
    of = data.draw(st.sampled_from(sorted(set(RESULTS.values()), key=str)))
    try:
        value = codec(of).decode(document)
    except Malformed as error:
        assert "wanted" in str(error) or "holds" in str(error)
    else:
        assert same(value, crossed(of, value))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"dtype": "<f4"}, "an array of <f8"),
        ({"shape": [2, 2]}, "does not go with"),
        ({"shape": [-1, -9]}, "none below 0"),
        ({"shape": [2**40, 2**40]}, "does not go with"),
        ({"shape": [1] * 9}, "at most 8"),
        ({"data": "!!!!"}, "base64"),
        ({"more": 1}, "is wanted"),
    ],
)
def test_hostile_arrays(changed, words):
    of = codec(Floats)
    good = of.encode(np.arange(9.0).reshape(3, 3))
    with pytest.raises(Malformed, match=words):
        of.decode(good | changed)


def test_deep_values_are_refused():
    deep = current = []
    for _ in range(200):
        current.append([])
        current = current[0]
    with pytest.raises(Malformed, match="levels"):
        decode_open(deep)
    with pytest.raises(TypeError, match="levels"):
        encode_open(deep)
    with pytest.raises(TypeError, match="none that JSON can hold"):
        encode_open(object())


def test_arguments_are_bound_as_python_binds_them():
    call = calls()["policies"]
    assert bound(call, ("rrps",), {"author": "ada"}) == {"game": "rrps", "author": "ada"}
    with pytest.raises(TypeError, match="unexpected"):
        bound(call, (), {"nonsense": 1})
    with pytest.raises(BadRequest, match="cannot be asked like this"):
        calls()["policy"].encode({"ref": object()})


@pytest.mark.parametrize(
    "error",
    [
        UsageFault("no"),
        StoreBusy("busy"),
        UnknownPolicy("who", "a/b", ("a/c", "a/d")),
        AmbiguousRef("which", "a", ("a/b", "a/c")),
        TokenExpired("over"),
        SandboxRefused("no wall"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_keep_class_words_and_what_they_carry(error):
    back = faults.error_of(json.loads(json.dumps(faults.document_of(error))))
    assert type(back) is type(error) and str(back) == str(error)
    assert vars(back) == vars(error)


def test_errors_of_others_tell_nothing_and_unknown_classes_are_ours():
    told = faults.document_of(KeyError("secret"))
    assert "secret" not in json.dumps(told) and told["kind"] == "ServerFault"

    class Younger(StoreError):
        """One that the other side has not."""

    document = faults.document_of(Younger("x")) | {"kind": "FromTheFuture"}
    assert isinstance(faults.error_of(document), ArenaError)
    for hostile in (None, [], {"kind": 7, "about": 3}, {"kind": "UsageFault", "about": {"ref": 1}}):
        assert isinstance(faults.error_of(hostile), ArenaError)
    assert isinstance(faults.error_of({"kind": "KeyError"}), ServerFault)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("provenance", {"\ud800": 1}),
        ("provenance", {"a": {"\ud800": 1}}),
        ("provenance", {"a": ["\ud800"]}),
        ("provenance", {"a": {"~": ["object", {"~": "\ud800"}]}}),
        ("labels", {"\ud800" * 500: "a"}),
        ("labels", {"a\ud800": 7}),
    ],
    ids=repr,
)
def test_text_that_is_no_unicode_is_refused_wherever_it_stands(name, given):
    arguments = {"source": {"str": "x"}, "game": "rrps", "name": "ada/x", name: given}
    with pytest.raises(BadRequest, match=r"Unicode|text is wanted") as refused:
        calls()["submit"].decode(arguments)
    assert len(str(refused.value).encode()) < 500
