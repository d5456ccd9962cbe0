"""The house rules: imports go down, modules stay small, documentation names what exists."""

import ast
import graphlib
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from importlib.util import resolve_name
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("arena", "dashboards", "oracle", "population", "registry", "sandbox")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
OUTSIDE = ("benchmarks", "docs", "examples", "tests")
"""Folders of ours that are not shipped."""
MAX_LINES = 400
"""A module has fewer, and a file of tests."""
NAMED = re.compile(r"(?<![\w/.])(?:\w+/)*\w+(?:\.(?:py|json|js)\b|/)")
"""Files and folders in ARCHITECTURE.md's tree, as far as they are written out."""


def test_imports_go_down_the_house():
    command = [str(Path(sys.executable).parent / "lint-imports")]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


def named(module):
    """How a module is imported."""
    parts = module.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def used_by(module, known):
    """The modules of ours that a module imports, be it in a function or for its types alone."""
    package = named(module) if module.stem == "__init__" else named(module).rpartition(".")[0]
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from {one.name for one in node.names} & known
        elif isinstance(node, ast.ImportFrom):
            source = resolve_name("." * node.level + (node.module or ""), package)
            for one in node.names:
                inside = f"{source}.{one.name}"
                yield from {inside if inside in known else source} & known


def test_no_module_leads_back_to_itself():
    known = {named(module) for module in MODULES}
    uses = {named(module): set(used_by(module, known)) for module in MODULES}
    try:
        graphlib.TopologicalSorter(uses).prepare()
    except graphlib.CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")


@pytest.mark.parametrize("module", MODULES + TESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_stay_small_and_well_named(module):
    assert len(module.read_text().splitlines()) < MAX_LINES
    assert not re.fullmatch(r"(utils?|helpers?|managers?|common|misc|base_.*)", module.stem)


def tree():
    """What ARCHITECTURE.md's tree says of each package."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    drawn = text.partition("## The tree")[2].split("```")[1]
    return dict(re.findall(r"^(\w+)/ *(.*?)(?=^\w+/|\Z)", drawn, re.S | re.M))


@pytest.mark.parametrize("package", PACKAGES)
def test_the_tree_names_every_module_or_its_folder(package):
    told = tree()[package]
    for module in sorted((ROOT / package).rglob("*.py")):
        here = module.relative_to(ROOT / package)
        folders = [folder.name for folder in here.parents if folder.name]
        covered = any(re.search(rf"(?<!\w){folder}/", told) for folder in folders)
        own = here.stem in ("__init__", "__main__") or re.search(rf"\b{here.stem}\b", told)
        assert covered or own, f"ARCHITECTURE.md does not name {here}"


@pytest.mark.parametrize("package", PACKAGES)
def test_what_the_tree_names_is_there(package):
    present = {path.relative_to(ROOT / package) for path in (ROOT / package).rglob("*")}
    for name in NAMED.findall(tree()[package]):
        inside = Path(name.removeprefix(f"{package}/"))
        assert any(path.parts[-len(inside.parts) :] == inside.parts for path in present), name


def test_intervals_are_computed_in_one_place():
    """Quantiles that somebody writes down are the normal distribution's, or of another level."""
    for module in MODULES:
        if module.name != "estimates.py":
            numbers = {
                node.value
                for node in ast.walk(ast.parse(module.read_text()))
                if isinstance(node, ast.Constant) and isinstance(node.value, float)
            }
            assert not numbers & {1.96, 1.645, 2.576, 0.975}, module


def test_the_box_imports_nothing_but_the_standard_library_and_itself():
    for module in (ROOT / "sandbox" / "box").rglob("*.py"):
        for line in module.read_text().splitlines():
            match = re.match(r"\s*(?:from|import)\s+([\w.]+)", line)
            if match and not line.lstrip().startswith("#"):
                top = match[1].partition(".")[0]
                assert top in sys.stdlib_module_names | {"numpy", "box", ""}, (module, line)


def declared(*, for_tests=False):
    """Distributions that pyproject.toml names, extras included; for tests, what they need too."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = document["project"]["optional-dependencies"].values()
    wanted = [*document["project"]["dependencies"], *(one for extra in extras for one in extra)]
    if for_tests:
        wanted += [one for one in document["dependency-groups"]["dev"] if isinstance(one, str)]
        wanted += re.findall(r"^\w[\w.-]*", (ROOT / "requirements-rl.txt").read_text(), re.M)
    return {re.match(r"[\w-]+", one)[0].lower().replace("_", "-") for one in wanted}


def imported(module):
    """Top-level names that a module imports, its own packages and the standard library aside."""
    for node in ast.walk(ast.parse(module.read_text())):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names.append(node.module)
        yield from {name.partition(".")[0] for name in names} - {*PACKAGES, *OUTSIDE, "box"}


@pytest.mark.parametrize("modules", [MODULES, TESTS], ids=["product", "tests"])
def test_what_is_imported_is_declared(modules):
    """A library that came along with another one may stay away with the next version of that."""
    owners, known = packages_distributions(), declared(for_tests=modules is TESTS)
    missing = set()
    for module in modules:
        for top in set(imported(module)) - sys.stdlib_module_names:
            owned = {one.lower().replace("_", "-") for one in owners.get(top, [top])}
            if not owned & known:
                missing.add((top, str(module.relative_to(ROOT))))
    assert not missing


def test_no_private_address_is_committed():
    """No lock or document names a package index, and no file names a path of some machine."""
    files = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    for name in filter(None, files):
        path = ROOT / name
        if path.suffix in {".png", ".gz"} or not path.exists():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.suffix == ".lock":
            assert "://" not in text, name
        assert "--index-url" not in text or path == Path(__file__), name
