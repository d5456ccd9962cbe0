"""A game is one folder: nothing outside it names a game, but the list of games."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from arena.games import GAMES

ROOT = Path(__file__).parents[1]
PACKAGES = ("arena", "dashboards", "oracle", "population", "registry", "sandbox")
FREE = ("arena/games", "oracle/grammar", "arena/demo.py")
"""The games' folders and their list; the grammar, which says itself what it can write; the demo."""
TITLES = [re.escape(game.short_title) for game in GAMES.values()]
NAMES = re.compile("|".join([f"(?i:{name})" for name in GAMES] + TITLES))
"""Titles as we write them: a work that we cite may have one in its own."""


def files() -> Iterator[str]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            if not place.startswith(FREE):
                yield place


def docstrings(tree: ast.AST) -> set[ast.AST]:
    """Texts that stand alone as statements: they may have examples."""
    alone = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    return {value for value in alone if isinstance(value, ast.Constant)}


def words(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every word of a program, and its line; comments and docstrings are not among them."""
    passed = docstrings(tree)
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in passed:
            yield line, node.value
        for name in ("id", "attr", "name", "arg", "module"):
            if isinstance(value := getattr(node, name, None), str):
                yield line, value


def test_no_program_outside_names_a_game() -> None:
    places, named = list(files()), []
    for place in places:
        tree = ast.parse((ROOT / place).read_text(encoding="utf-8"))
        named += [f"{place}:{line}: {w[:60]}" for line, w in words(tree) if NAMES.search(w)]
    assert len(places) > 200 and not named


def test_the_list_names_the_folders() -> None:
    folders = {path.parent.name for path in (ROOT / "arena/games").glob("*/__init__.py")}
    assert folders == set(GAMES)
    for name, game in GAMES.items():
        assert game.name == name and game.table_path.parent.name == name


def test_a_word_is_found_wherever_it_stands() -> None:
    program = 'from a.leduc import b as c\nx = f"{y} of Leduc"\nif g == "rrps": x.leduc_exact()\n'
    found = {line for line, word in words(ast.parse(program)) if NAMES.search(word)}
    assert found == {1, 2, 3}
    assert not [w for _, w in words(ast.parse('"""As in rrps."""')) if NAMES.search(w)]
