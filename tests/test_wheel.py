"""The wheel has all that the packages read, and works outside the checkout."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("arena", "dashboards", "oracle", "population", "registry", "sandbox")
EXAMPLE = ROOT / "examples" / "rrps_patterns.py"


def listed(*places):
    """Files that belong to the checkout, whether they are committed yet or not."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *places]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    names = filter(None, found.stdout.split("\0"))
    return sorted(name for name in names if (ROOT / name).is_file())


@pytest.fixture(scope="session")
def wheel(made_once, tmp_path_factory):
    """Built from a copy: in the checkout, old files in build/ would get into it."""

    def make(at):
        source = tmp_path_factory.mktemp("source")
        for name in listed():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, source / name)
        pip("wheel", "--no-build-isolation", str(source), "--wheel-dir", str(at))

    (file,) = made_once("wheel", make).iterdir()
    return file


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """The `bin` of an environment that has the wheel, sees the dependencies and no checkout."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(folder)
    pip("--python", str(folder / "bin" / "python"), "install", str(wheel))
    base = {"base": str(folder), "platbase": str(folder)}
    here = Path(sysconfig.get_path("purelib", scheme="venv", vars=base))
    # Folders that a .pth file names are searched, but their own .pth files are not read, so an
    # editable installation of the checkout in the tests' environment stays out.
    dependencies = [path for path in sys.path if path.endswith("-packages")]
    (here / "dependencies.pth").write_text("".join(f"{path}\n" for path in dependencies))
    return folder / "bin"


def pip(*words):
    at = words.index("install") if "install" in words else words.index("wheel")
    options = ["--no-deps", "--no-index", "--quiet", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", *words[: at + 1], *options, *words[at + 1 :]]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def run(place, *words):
    """Runs a command of the installed wheel in a folder of its own, without our paths."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "ARENA_HOME")}
    return subprocess.run(
        [str(word) for word in words], cwd=place, env=environment, capture_output=True, text=True
    )


def test_it_has_every_file_of_the_packages_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert inside == set(listed(*PACKAGES))
        for name in inside:
            assert archive.read(name) == (ROOT / name).read_bytes(), name


@pytest.mark.parametrize("package", PACKAGES)
def test_type_checkers_are_told_of_its_types(wheel, package):
    with zipfile.ZipFile(wheel) as archive:
        assert f"{package}/py.typed" in archive.namelist()


def test_it_names_its_licence_and_commands(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (about,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        folder = about.rpartition("/")[0]
        assert "License-Expression: Apache-2.0" in archive.read(about).decode()
        assert archive.read(f"{folder}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
        assert archive.read(f"{folder}/entry_points.txt").decode().split() == [
            "[console_scripts]",
            *("arena", "=", "arena.cli:main"),
            *("csro", "=", "population.cli:main"),
            "[policy_arena.pages]",
            *("dashboards", "=", "dashboards.mounted:pages"),
        ]


def test_nothing_of_the_checkout_is_imported(installed, tmp_path):
    code = f"for name in {PACKAGES}: print(__import__(name).__file__)"
    done = run(tmp_path, installed / "python", "-c", code)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        assert Path(line).is_relative_to(installed.parent)


def test_a_policy_is_submitted_and_plays(installed, tmp_path):
    arena = installed / "arena"
    shutil.copy(EXAMPLE, tmp_path / "bot.py")
    game = ("--game", "rrps")
    done = run(tmp_path, arena, "submit", "bot.py", *game, "--name", "ada/patterns")
    assert done.returncode == 0, done.stderr
    assert "qualified" in done.stdout
    field = ("--only", "ada/patterns", "--only", "house/greenberg", "--only", "house/rockbot")
    done = run(tmp_path, arena, "play", *game, "--matches", "4", *field, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    # The trial was against a secret opponent, which may be one of these.
    assert told["played"] + told["skipped"] == 12 and told["forfeits"] == 0
    done = run(tmp_path, arena, "leaderboard", *game)
    assert done.returncode == 0, done.stderr
    assert "ada/patterns" in done.stdout


def test_csro_has_its_templates(installed, tmp_path):
    done = run(tmp_path, installed / "csro", "prompt", "--game", "leduc")
    assert done.returncode == 0, done.stderr
    assert "RepeatedLeducPokerBot" in done.stdout


def test_the_demo_says_that_it_needs_a_checkout(installed, tmp_path):
    done = run(tmp_path, installed / "python", "-m", "arena.demo")
    assert done.returncode == 1
    assert "not installed" in done.stderr and not list(tmp_path.iterdir())
