"""The list of models is data that can be read, covers the defaults, and says where it is from."""

import json
import re
from dataclasses import replace
from datetime import date
from importlib.resources import files
from pathlib import Path

import pytest

from arena.errors import UsageFault
from oracle.models.catalogue import (
    catalogue,
    default_model,
    price_of,
    read_catalogue,
    same_model,
)
from oracle.models.choice import check_asking, model_from, remarks
from oracle.models.options import Asking, ServerOptions
from oracle.models.prices import FREE, Price

GUIDE = (Path(__file__).parents[2] / "docs" / "csro.md").read_text(encoding="utf-8")
ALL = sorted(catalogue().models.values(), key=lambda one: one.name)


def document():
    text = files("oracle.models").joinpath("catalogue.json").read_text(encoding="utf-8")
    return json.loads(text)


def test_defaults_are_listed_priced_and_switched_on():
    found = catalogue()
    assert set(found.defaults) == {"gemini"}
    for name in found.defaults.values():
        listed = found.models[name]
        assert listed.price(found.checked).output > 0
        assert listed.context is not None
        assert listed.output is not None
        assert listed.thinking
        assert listed.ends is None
    assert model_from("gemini").name == f"gemini:{default_model()}"


@pytest.mark.parametrize("listed", ALL, ids=lambda listed: listed.name)
def test_every_model_has_prices_and_dated_sources(listed):
    for start, price in listed.prices:
        assert start == date.min or start > date(2026, 1, 1)
        assert 0 < price.prompt < price.output
        assert price.long_prompt is None or price.long_prompt > price.prompt
        assert (price.long_prompt is None) == (price.long_output is None)
    assert listed.sources
    for source in listed.sources:
        assert re.fullmatch(r"20\d\d-\d\d(-\d\d)?", source.dated)
        assert source.dated <= str(catalogue().checked)
        assert source.original.startswith("https://")
        assert source.read_at.startswith("https://")
    if listed.then:
        assert listed.ends is not None
        assert catalogue().find(listed.then) is not None


def test_the_guide_names_the_default_and_the_day():
    assert default_model() in GUIDE
    assert str(catalogue().checked) in GUIDE


def test_a_price_holds_from_its_day_on():
    name = "gemini-3.8-flash"
    assert price_of(name, date(2026, 12, 31)) == Price(0.75, 3.75)
    assert price_of(name, date(2027, 1, 1)) == Price(1.5, 7.5)


def test_prices_that_are_known_to_some_length_only():
    price = price_of("gpt-6.2-sol", catalogue().checked)
    assert price.cost(1_000, 1_000) == pytest.approx(0.012)
    assert price.cost(10**6, 1_000) is None


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("gemini-2.5-pro", "gemini-2.5-pro"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("gemini-2.5-flash-001", "gemini-2.5-flash"),
        ("gpt-4o-2024-11-20", "gpt-4o"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),  # dearer than all after it
        ("gemini-2.5-pro-preview", None),
        ("gemini-2.5", None),
        ("gemini-flash-latest", None),
        ("gpt-4o-audio", None),
        ("", None),
    ],
)
def test_prices_are_not_guessed(name, listed):
    found = catalogue().find(name)
    assert (found and found.name) == listed
    assert (price_of(name) is None) == (listed is None)


def test_snapshots_are_the_same_model():
    assert same_model("gpt-4o", "gpt-4o-2024-11-20")
    assert same_model("gemini-2.5-pro", "models/gemini-2.5-pro-001")
    assert not same_model("gemini-2.5-pro", "gemini-3.8-flash")
    assert not same_model("gemini-3.5-flash", "gemini-3.5-flash-lite")


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["models"]["gpt-5"].update(prize=1),
        lambda d: d["models"]["gpt-5"].update(prices=[]),
        lambda d: d["models"]["gpt-5"]["prices"][0].update({"from": "2026-01-01"}),
        lambda d: d["models"]["gpt-5"].update(sources=["hearsay"]),
        lambda d: d.update(checked="yesterday"),
    ],
)
def test_a_slip_of_the_pen_is_an_error(change):
    slipped = document()
    change(slipped)
    with pytest.raises((KeyError, ValueError)):
        read_catalogue(slipped)


def test_what_is_said_before_somebody_pays():
    known = model_from(f"gemini:{default_model()}")
    (line,) = remarks(known)
    assert str(catalogue().checked) in line
    assert "read at second hand" in line
    assert "per million tokens" in line
    (line,) = remarks(model_from("gemini:made-up"))
    assert "its price is not known" in line
    assert "--price" in line
    assert remarks(model_from("openai:made-up", ServerOptions(price=FREE))) == ()


def test_a_model_that_is_switched_off_is_said_to_be():
    old = model_from("gemini:gemini-2.5-pro")
    before = remarks(old, date(2026, 11, 30))[-1]
    assert "gemini-2.5-pro will be switched off on 2026-12-01" in before
    assert "gemini-3.8-flash answers in its place" in before
    assert "was switched off on 2026-12-01" in remarks(old, date(2026, 12, 1))[-1]


@pytest.mark.parametrize(
    ("model", "asking", "said"),
    [
        ("gemini:gemini-3.8-flash", Asking(thinking="minimal"), "low, medium, high"),
        ("gemini:gemini-3.8-flash", Asking(temperature=0.2), "ignores the temperature"),
        ("gemini:gemini-2.5-pro", Asking(thinking="low"), "knows no levels"),
        ("gemini:gemini-3.8-flash", Asking(max_output_tokens=10**6), "65,536 tokens at most"),
        ("grammar", Asking(thinking="low"), "thinking low would do nothing"),
        ("recorded:x.jsonl", Asking(temperature=1.0), "would do nothing"),
    ],
)
def test_options_that_do_nothing_are_refused(model, asking, said):
    with pytest.raises(UsageFault, match=said):
        check_asking(model, asking)


def test_options_that_a_model_takes_pass():
    check_asking("gemini:gemini-3.8-flash", Asking(thinking="high", max_output_tokens=30_000))
    check_asking("openai:qwen3", Asking(temperature=0.2, thinking="minimal"))
    check_asking("gemini:made-up", Asking(temperature=0.2))
    check_asking("grammar", Asking(timeout_seconds=5, parallel=2, context_tokens=4096))


@pytest.mark.parametrize(
    "options",
    [
        {"temperature": 2.5},
        {"temperature": float("nan")},
        {"thinking": "hard"},
        {"timeout_seconds": 0},
        {"parallel": 0},
        {"max_output_tokens": 0},
        {"context_tokens": 0},
    ],
)
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(UsageFault, match=next(iter(options)).partition("_")[0]):
        Asking(**options)


def test_only_what_changes_the_answers_makes_another_way_of_asking():
    plain = Asking()
    assert replace(plain, timeout_seconds=5, parallel=9, context_tokens=4096) == plain
    assert str(plain) == ""
    for change in ({"temperature": 0.5}, {"max_output_tokens": 9}, {"thinking": "low"}):
        assert replace(plain, **change) != plain
    assert str(Asking(0.5, 900, "low")) == "temperature 0.5, output 900, thinking low"
