"""What the packages promise to whoever imports them: these names, loaded when asked for."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from arena import AnyArena, Arena

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
NAMES = {
    "arena": {
        "Arena",
        "ArenaError",
        "History",
        "Practice",
        "RegistryError",
        "Seasons",
        "SandboxError",
        "Status",
        "Focus",
        "PolicyVersion",
        "PracticeMatch",
        "Season",
        "Comparison",
        "Conduct",
        "Enrolled",
        "Estimate",
        "Evaluated",
        "GAMES",
        "Game",
        "Leaderboard",
        "Match",
        "Matches",
        "PayoffTable",
        "PlayReport",
        "Policies",
        "Rejection",
        "RejectionKind",
        "Result",
        "Stored",
        "Termination",
        "AnyArena",
        "Workers",
        "game",
    },
    "oracle": {
        "Against",
        "AlphaEvolve",
        "Attempt",
        "BestOfN",
        "Candidate",
        "Draft",
        "Evaluate",
        "Evolution",
        "Failure",
        "GrammarWriter",
        "LinearRefinement",
        "Opponent",
        "Oracle",
        "OracleExhausted",
        "Rejected",
        "Response",
        "Score",
        "Task",
        "Writer",
        "ZeroShot",
        "best_program",
    },
    "population": {"Iteration", "Member", "Result", "Sigma", "Watcher", "run_csro"},
}
PACKAGES = {name: importlib.import_module(name) for name in NAMES}
METHODS = {
    "admit",
    "authors",
    "call",
    "check",
    "close",
    "conduct",
    "enter",
    "evaluate",
    "exact_payoffs",
    "export",
    "history",
    "leaderboard",
    "match",
    "matches",
    "office",
    "on_behalf_of",
    "payoffs",
    "play",
    "play_pairs",
    "policies",
    "policy",
    "practise",
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
    for name, package in PACKAGES.items():
        shown = re.findall(r"^    .*$|^$", package.__doc__, re.M)
        yield f"{name}/__init__.py", ast.parse("\n".join(line[4:] for line in shown))


def test_the_seam_has_all_of_an_arena_but_what_needs_its_disk():
    """What CSRO is written against; that the signatures fit is for the type checker."""
    seam = {name for name in vars(AnyArena) if not name.startswith("_")}
    assert seam == METHODS - {"export", "office", "on_behalf_of"}
    for module in sorted((ROOT / "population").rglob("*.py")):
        if module.name not in ("launch.py", "__init__.py") and "cli" not in module.parts:
            assert not re.search(r"import .*\bArena\b", module.read_text()), module


@pytest.mark.parametrize("package", NAMES)
def test_these_names_are_public(package):
    listed = PACKAGES[package].__all__
    assert set(listed) == NAMES[package]
    assert len(listed) == len(NAMES[package])


def test_these_methods_are_public():
    assert {name for name in dir(Arena) if not name.startswith("_")} == METHODS
    for name in METHODS:
        assert inspect.getdoc(getattr(Arena, name)), name


@pytest.mark.parametrize(
    ("package", "name"), [(package, name) for package in NAMES for name in sorted(NAMES[package])]
)
def test_every_name_can_be_imported(package, name):
    namespace = {}
    exec(f"from {package} import {name}", namespace)
    assert namespace[name] is getattr(PACKAGES[package], name)


@pytest.mark.parametrize("package", NAMES)
def test_what_is_not_public_is_no_attribute(package):
    with pytest.raises(AttributeError, match="nonsense"):
        PACKAGES[package].nonsense  # noqa: B018 - asking is the test
    with pytest.raises(ImportError):
        exec(f"from {package} import Runner")


@pytest.mark.parametrize("package", NAMES)
def test_type_checkers_see_what_is_loaded(package):
    """The imports for type checkers name the same objects as those at run time."""
    tree = ast.parse(Path(PACKAGES[package].__file__).read_text())
    (guarded,) = [node for node in tree.body if isinstance(node, ast.If)]
    told = {alias.name: node.module for node in guarded.body for alias in node.names}
    assert set(told) == NAMES[package]
    for name, module in told.items():
        assert getattr(importlib.import_module(module), name) is getattr(PACKAGES[package], name)


@pytest.mark.parametrize("package", NAMES)
def test_nothing_is_loaded_before_it_is_asked_for(package):
    code = (
        f"import sys; before = set(sys.modules); import {package}; "
        "new = {name for name in sys.modules if name not in before}; "
        "print(*sorted(n for n in new if n.partition('.')[0] not in sys.stdlib_module_names))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert found.stdout.strip() == package


def test_examples_use_only_what_is_public():
    seen = set()
    for place, tree in examples():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                parts = [one.name for one in node.names if one.name.partition(".")[0] in NAMES]
                assert not [name for name in parts if "." in name], place
            elif isinstance(node, ast.ImportFrom):
                package = str(node.module).partition(".")[0]
                if package in NAMES:
                    assert node.module == package, f"{place}: from {node.module} import ..."
                    assert {one.name for one in node.names} <= NAMES[package], place
                    seen.add((place, package))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                known = node.value.id != "arena" or node.attr in METHODS | {"home"}
                assert known, f"{place}: arena.{node.attr}"
    assert seen == {
        ("README.md", "arena"),
        ("python.md", "arena"),
        ("arena/__init__.py", "arena"),
        ("population/__init__.py", "arena"),
        ("population/__init__.py", "population"),
        *(("csro.md", package) for package in NAMES),
    }
