"""The page of measurements: its parts are commands that exist, and each can be measured anew."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.__main__ import PAGE, PARTS, main, page_with

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_a_program_that_says_how_it_is_called(name):
    script, *words = shlex.split(PARTS[name].command)
    told = (ROOT / script).read_text().split('"""')[1]
    assert f"python {script}" in told
    for word in words:
        if word.startswith("--"):
            assert f'"{word}"' in (ROOT / script).read_text()


def test_the_page_has_the_parts_and_nothing_else():
    titles = re.findall("^## (.*)$", PAGE.read_text(), re.M)
    assert titles == [part.title for part in PARTS.values() if part.title in titles] != []


def test_a_part_that_is_measured_anew_leaves_the_others():
    names = list(PARTS)[:3]
    sections = {name: f"## {PARTS[name].title}\n\n{name}, first\n\n" for name in names}
    page = page_with("", {names[2]: sections[names[2]]})
    page = page_with(page, {names[0]: sections[names[0]]})
    page = page_with(page, {names[1]: sections[names[1]]})
    places = [page.index(f"{name}, first") for name in names]
    assert places == sorted(places)
    again = page_with(page, {names[1]: sections[names[1]].replace("first", "second")})
    assert again == page.replace(f"{names[1]}, first", f"{names[1]}, second")


def test_the_parts_are_listed():
    listed = CliRunner().invoke(main, ["--list"])
    assert listed.exit_code == 0
    assert all(part.command in listed.output for part in PARTS.values())
