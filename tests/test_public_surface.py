"""What `arena` promises to whoever imports it: these names, loaded when they are asked for."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import arena
from arena import Arena

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
NAMES = {
    "Arena",
    "Comparison",
    "Conduct",
    "Enrolled",
    "Evaluated",
    "GAMES",
    "Game",
    "Leaderboard",
    "Match",
    "PayoffTable",
    "PlayReport",
    "Rejection",
    "RejectionKind",
    "Result",
    "Stored",
    "Termination",
    "game",
}
METHODS = {
    "admit",
    "call",
    "check",
    "close",
    "conduct",
    "enter",
    "evaluate",
    "exact_payoffs",
    "leaderboard",
    "match",
    "matches",
    "payoffs",
    "play",
    "play_pairs",
    "policies",
    "policy",
    "refs",
    "register",
    "reinstate",
    "replay",
    "reveal_season",
    "seasons",
    "submit",
    "versions",
    "wall",
    "withdraw",
}


def examples():
    """The Python that the documents show, and the one in the package's docstring."""
    for document in DOCUMENTS:
        for block in re.findall(r"```python\n(.*?)```", document.read_text(), re.S):
            yield document.name, ast.parse(block)
    shown = re.findall(r"^    .*$|^$", arena.__doc__, re.M)
    yield "arena/__init__.py", ast.parse("\n".join(line[4:] for line in shown))


def test_these_names_are_public():
    assert set(arena.__all__) == NAMES
    assert len(arena.__all__) == len(NAMES)


def test_these_methods_are_public():
    assert {name for name in vars(Arena) if not name.startswith("_")} == METHODS
    for name in METHODS:
        assert inspect.getdoc(getattr(Arena, name)), name


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_name_can_be_imported(name):
    namespace = {}
    exec(f"from arena import {name}", namespace)
    assert namespace[name] is getattr(arena, name)


def test_what_is_not_public_is_no_attribute():
    with pytest.raises(AttributeError, match="nonsense"):
        arena.nonsense  # noqa: B018 - asking is the test
    with pytest.raises(ImportError):
        exec("from arena import Runner")


def test_type_checkers_see_what_is_loaded():
    """The imports for type checkers name the same objects as those at run time."""
    tree = ast.parse(Path(arena.__file__).read_text())
    (guarded,) = [node for node in tree.body if isinstance(node, ast.If)]
    told = {alias.name: node.module for node in guarded.body for alias in node.names}
    assert set(told) == NAMES
    for name, module in told.items():
        assert getattr(importlib.import_module(module), name) is getattr(arena, name)


def test_nothing_is_loaded_before_it_is_asked_for():
    code = (
        "import sys; before = set(sys.modules); import arena; "
        "new = {name for name in sys.modules if name not in before}; "
        "print(*sorted(n for n in new if n.partition('.')[0] not in sys.stdlib_module_names))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert found.stdout.strip() == "arena"


def test_examples_use_only_what_is_public():
    seen = set()
    for place, tree in examples():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert not [one.name for one in node.names if one.name.startswith("arena.")], place
            elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("arena"):
                assert node.module == "arena", f"{place}: from {node.module} import ..."
                assert {one.name for one in node.names} <= NAMES, place
                seen.add(place)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                known = node.value.id != "arena" or node.attr in METHODS | {"home"}
                assert known, f"{place}: arena.{node.attr}"
    assert seen == {"README.md", "csro.md", "arena/__init__.py"}
