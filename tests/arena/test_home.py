"""A home: made when it is needed, never begun anew by mistake, and true to its registry."""

import json
import shutil
from dataclasses import replace

import pytest
from click.testing import CliRunner

from arena import Arena
from arena.backup import back_up, restore
from arena.cli import main
from arena.errors import HomeUnusable, UsageFault
from arena.games import game
from arena.home import MARK, REGISTRY, open_home
from arena.home_marker import MATCHES
from arena.registry_address import absolute, same_registry, without_secrets
from registry import RegistryError


def run(home, *arguments):
    return CliRunner().invoke(main, [*arguments, "--home", str(home)])


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("show", "house/CFR+"),
        ("leaderboard", "--game", "leduc"),
        ("payoffs", "--game", "leduc"),
        ("matches", "--game", "leduc"),
        ("replay", "00ff"),
        ("export", "out"),
        ("seed", "show"),
        ("accounts", "list"),
        ("accounts", "log"),
        ("accounts", "redeem", "00ff", "ada"),
        ("tournament", "list"),
        ("tournament", "final", "spring"),
        ("yank", "house/CFR+", "--game", "leduc"),
    ],
    ids=" ".join,
)
def test_who_only_reads_makes_no_home(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    typo = tmp_path / "arena-hme"
    refused = run(typo, *words)
    assert refused.exit_code == 2, refused.output
    assert f"there is no home at {typo}" in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_who_plays_makes_one(tmp_path):
    made = run(tmp_path / "new", "play", "--game", "leduc", "--matches", "2", "--workers", "1")
    assert made.exit_code == 0, made.output
    assert run(tmp_path / "new", "leaderboard", "--game", "leduc").exit_code == 0


def test_a_notebook_may_say_that_it_only_reads(tmp_path):
    with pytest.raises(UsageFault, match="there is no home"):
        Arena(tmp_path / "typo", create=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", ["gone", "empty"])
def test_matches_without_their_registry_are_no_new_home(home, tmp_path, how):
    with Arena(home, sandbox="process", workers=1) as arena:
        arena.play("leduc", 2)
    kept = shutil.copy(home / REGISTRY, tmp_path / "kept")
    for log in home.glob(f"{REGISTRY}-*"):
        log.unlink()
    (home / REGISTRY).unlink()
    if how == "empty":
        (home / REGISTRY).touch()
    before = (home / MATCHES).read_bytes()
    with pytest.raises(HomeUnusable, match="put it back from a copy"):
        open_home(home)
    assert (home / MATCHES).read_bytes() == before
    assert (home / REGISTRY).exists() == (how == "empty")
    shutil.copy(kept, home / REGISTRY)
    assert open_home(home).store.counts()


def test_a_home_keeps_to_the_registry_that_it_was_made_with(tmp_path):
    url = f"sqlite:///{tmp_path / 'shared.sqlite'}"
    home = tmp_path / "home"
    open_home(home, url)
    assert not (home / REGISTRY).exists()
    found = open_home(home)  # it remembers
    assert not (home / REGISTRY).exists()
    assert found.registry.find("leduc")
    with pytest.raises(UsageFault, match="belongs to the registry"):
        open_home(home, f"sqlite:///{tmp_path / 'other.sqlite'}")
    assert not (tmp_path / "other.sqlite").exists()


def test_a_home_with_a_registry_of_its_own_takes_no_other(home, tmp_path):
    with pytest.raises(UsageFault, match="has a registry of its own"):
        open_home(home, f"sqlite:///{tmp_path / 'other.sqlite'}")
    assert not (tmp_path / "other.sqlite").exists()


def test_a_home_may_be_told_of_its_own_registry(home, monkeypatch):
    monkeypatch.chdir(home)
    assert open_home(home, f"sqlite:///{REGISTRY}").registry.find("leduc")


def test_a_home_from_before_remembers_from_now_on(home):
    marker = home / "home.json"
    marker.write_text(json.dumps({"format": 1}))
    open_home(home)
    assert json.loads(marker.read_text()) == {"format": 1, "registry": None}


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://ada:secret-5d1f@nowhere/registry",
        "postgresql:///registry?host=nowhere&user=ada&password=secret-5d1f",
        "postgresql://nowhere/registry?sslkey=k&sslpassword=secret-5d1f",
    ],
)
def test_no_password_is_kept(url):
    kept = without_secrets(url)
    assert "secret-5d1f" not in kept
    assert "nowhere" in kept and "registry" in kept
    assert same_registry(kept, url)
    assert "secret-5d1f" in absolute(url)


def test_addresses_of_one_registry_are_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    same = "postgresql+psycopg://ada@Nowhere/registry", "postgresql://bob:x@nowhere:5432/registry"
    assert same_registry(*same)
    assert same_registry("sqlite:///a/../reg.sqlite", f"sqlite:///{tmp_path / 'reg.sqlite'}")
    for other in ("postgresql://nowhere:5433/registry", "postgresql://elsewhere/registry"):
        assert not same_registry(same[0], other)
    assert not same_registry("sqlite:///one.sqlite", "sqlite:///two.sqlite")


def test_a_registry_that_cannot_be_opened_binds_no_home(tmp_path):
    home = tmp_path / "home"
    with pytest.raises(RegistryError):
        open_home(home, "postgresql://127.0.0.1:1/none")
    assert not (home / "home.json").exists()
    open_home(home, f"sqlite:///{tmp_path / 'good.sqlite'}")
    assert json.loads((home / "home.json").read_text())["registry"].endswith("good.sqlite")


def test_a_file_named_from_the_current_folder_stays_that_file(tmp_path, monkeypatch):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "one")
    open_home(tmp_path / "home", "sqlite:///shared.sqlite")
    monkeypatch.chdir(tmp_path / "two")
    open_home(tmp_path / "home")
    assert (tmp_path / "one" / "shared.sqlite").exists()
    assert list((tmp_path / "two").iterdir()) == []


@pytest.mark.parametrize("text", ["registry.sqlite", "/tmp/x", "no address"])
def test_an_address_of_a_registry_is_a_url(tmp_path, text):
    refused = CliRunner().invoke(
        main, ["play", "--game", "leduc", "--home", str(tmp_path / "h"), "--registry", text]
    )
    assert refused.exit_code == 2, refused.output
    assert "is no address of a registry" in refused.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def played(home):
    """A home in which matches were played, and what its store held."""
    with Arena(home, sandbox="process", workers=1) as arena:
        arena.play("leduc", 2)
    return home


@pytest.mark.parametrize("how", ["gone", "empty"])
def test_a_home_that_lost_its_matches_is_no_new_home(played, tmp_path, how):
    kept = shutil.move(played / MATCHES, tmp_path / "kept")
    if how == "empty":
        (played / MATCHES).touch()
    for words in (("leaderboard", "--game", "leduc"), ("list",), ("play", "--game", "leduc")):
        refused = run(played, *words)
        assert refused.exit_code == 1, refused.output
        assert "there were matches in this home" in refused.stderr
        assert str(played / MARK) in refused.stderr
    assert (played / MATCHES).exists() == (how == "empty")
    shutil.move(kept, played / MATCHES)
    assert open_home(played).store.counts()


def test_a_home_that_lost_its_matches_can_begin_anew(played):
    (played / MATCHES).unlink()
    (played / MARK).unlink()
    assert not open_home(played).store.counts()
    with Arena(played, sandbox="process", workers=1) as arena:
        assert arena.play("leduc", 2).played
    assert (played / MARK).exists()


def test_a_home_that_never_played_has_no_matches_to_lose(home):
    assert not open_home(home).store.counts()  # makes the file
    assert (home / MATCHES).exists()
    open_home(home)
    (home / MATCHES).unlink()
    assert not open_home(home).store.counts()
    assert not (home / MARK).exists()


def test_a_trial_alone_is_remembered(home):
    source = game("leduc").starter.path.read_text() + "\n# mine\n"
    with Arena(home, sandbox="process", workers=1) as arena:
        arena.submit(source, "leduc", name="ada/one")
    assert (home / MARK).exists()


def test_a_home_of_an_older_arena_remembers_once_its_matches_are_read(played):
    (played / MARK).unlink()
    assert run(played, "leaderboard", "--game", "leduc").exit_code == 0
    assert (played / MARK).exists()


def test_who_may_only_read_remembers_nothing(played):
    (played / MARK).unlink()
    home = open_home(played)
    assert replace(home, writable=False).store.counts()
    assert not (played / MARK).exists()


def test_a_copy_of_a_home_remembers(played, tmp_path):
    back_up(open_home(played), tmp_path / "copy.tar")
    restore(tmp_path / "copy.tar", tmp_path / "again")
    assert open_home(tmp_path / "again").store.counts() == open_home(played).store.counts()
    (tmp_path / "again" / MATCHES).unlink()
    with pytest.raises(HomeUnusable, match="there were matches"):
        open_home(tmp_path / "again")
