"""The Python of the guides runs, and what they say of files is true."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pyarrow.parquet as pq
import pytest
import yaml

from arena import Rejection
from docs.transcript import surroundings
from tests.documentation.pages import DOCS, ROOT, blocks

CONTESTS = DOCS / "guides" / "contests.md"
GUIDES = [
    page
    for page in sorted((DOCS / "guides").glob("*.md"))
    if blocks(page, "python") and page != CONTESTS
]


def test_a_guide_has_python():
    assert DOCS / "guides" / "python.md" in GUIDES


@pytest.mark.parametrize("guide", GUIDES, ids=lambda page: page.stem)
def test_the_python_of_a_guide_runs(guide, tmp_path):
    """All blocks in a row, as in a notebook, behind a wall that starts at once."""
    code = "\n".join(blocks(guide, "python"))
    script = tmp_path / "guide.py"
    script.write_text(code.replace('Arena("arena-home"', 'Arena("arena-home", sandbox="process"'))
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=surroundings(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "reproduced: True" in done.stdout


@pytest.mark.parametrize("manner", ["rpscontest", "kaggle"])
def test_a_program_of_another_contest_plays(manner, arena):
    """The block of each manner is a whole policy, and does what its last line promises."""
    source = blocks(CONTESTS, "python")[("rpscontest", "kaggle").index(manner)]
    assert len(blocks(CONTESTS, "python")) == 2
    entered = arena.submit(source, "rrps", f"ada/{manner}")
    assert not isinstance(entered, Rejection), entered.message
    pair = (entered.version.digest, arena.policy("house/rockbot", "rrps").digest)
    arena.play("rrps", 1, only=[entered.version.ref, "house/rockbot"])
    assert arena.payoffs("rrps", pair).mean[0, 1] > 900.0


def test_exported_columns_are_described(arena, tmp_path):
    arena.play("leduc", 2, only=["house/AlwaysCall", "house/AlwaysFold"])
    assert "arena/export_columns.md" in (DOCS / "reference" / "files.md").read_text("utf-8")
    *files, columns = arena.export(tmp_path / "tables", moves=True)
    text = columns.read_text(encoding="utf-8")
    assert [file.stem for file in files] == ["matches", "pairs", "moves", "policies"]
    for file in files:
        part = text.partition(f"`{file.name}`, ")[2].partition("\n\n`")[0].partition("\n## ")[0]
        first = re.findall(r"^\| (`.*?) \|", part, re.M)
        described = [name for cell in first for name in re.findall(r"`(\w+)`", cell)]
        assert sorted(described) == sorted(pq.read_schema(file).names), file.name


def test_the_changelog_has_this_version():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert re.search(rf"^## {re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text(), re.M)


def test_the_citation_is_one():
    """What the Citation File Format 1.2.0 requires, and what has to agree with the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    told = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert told["cff-version"] == "1.2.0"
    assert told["message"] and told["title"] and told["type"] == "software"
    assert told["authors"] == [{"name": "Policy Arena contributors"}]
    assert (told["version"], told["license"]) == (project["version"], project["license"])
    (paper,) = told["references"]
    assert paper["type"] == "article" and paper["title"].startswith("Code-Space Response Oracles")
    assert [one["family-names"] for one in paper["authors"]] == [
        "Hennes",
        "Li",
        "Schultz",
        "Lanctot",
    ]


def test_the_workflow_runs_the_one_script():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    (job,) = workflow["jobs"].values()
    assert [step["run"] for step in job["steps"] if step.get("run", "").startswith(".ci")] == [
        ".ci/run"
    ]
    assert job["container"]["image"].startswith("python:3.11-")
