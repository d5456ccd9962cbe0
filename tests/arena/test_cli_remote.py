"""The command line against a server: the same words, the same answers."""

import json
import stat

import pytest
from click.testing import CliRunner

from arena import logins
from arena.cli import main
from tests.arena.serving import served

ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"


@pytest.fixture(scope="module")
def there(house, tmp_path_factory):
    import shutil

    home = shutil.copytree(house, tmp_path_factory.mktemp("served") / "home")
    with served(home) as running:
        yield running


@pytest.fixture
def run(there, monkeypatch, tmp_path):
    """Runs a command against the server as its operator."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("ARENA_TOKEN", there.tokens["boss"])
    monkeypatch.delenv("ARENA_HOME", raising=False)
    monkeypatch.setenv("ARENA_URL", there.address)

    def call(*words, code=0, **options):
        done = CliRunner().invoke(main, [*map(str, words)], **options)
        assert done.exit_code == code, done.output
        return done

    return call


def told(done):
    return json.loads(done.stdout)


def test_a_policy_s_way_through_the_commands(run, tmp_path, there):
    bot = tmp_path / "bot.py"
    bot.write_text(ROCK)
    assert told(run("check", bot, "--game", "rrps", "--json"))["status"] == "ok"
    words = ("try", bot, "--game", "rrps", "--against", "house/randbot", "--json")
    assert len(told(run(*words))["matches"]) == 2
    taken = told(run("submit", bot, "--game", "rrps", "--name", "ada/rock", "--json"))
    assert taken["ref"] == "ada/rock@1"
    others = ("--only", "house/randbot", "--only", "house/copybot")
    words = ("play", "--game", "rrps", "--matches", 2, "--only", "ada/rock", *others, "--json")
    assert told(run(*words))["played"] + told(run(*words))["skipped"] >= 6
    assert "ada/rock@1" in run("list", "--game", "rrps").stdout
    assert run("show", "ada/rock", "--source").stdout == ROCK
    assert len(told(run("history", "ada/rock", "--json"))["history"]) == 1
    assert told(run("leaderboard", "--game", "rrps", "--json"))["rows"]
    assert told(run("payoffs", "--game", "rrps", "ada/rock", "house/randbot", "--json"))["count"]
    match = told(run("matches", "--game", "rrps", "ada/rock", "--json"))["matches"][0]["id"]
    assert told(run("replay", match, "--verify", "--json"))["verified"]
    words = ("evaluate", "house/CFR+", "--game", "leduc", "--matches", 4, "--json")
    assert told(run(*words))["population"] == "leduc-3@1"
    assert told(run("yank", "ada/rock", "--game", "rrps", "--json"))["status"] == "yanked"
    assert told(run("reinstate", "ada/rock@1", "--json"))["status"] == "qualified"
    assert told(run("seed", "show", "--json"))["seasons"][-1]["key"] is None
    missing = run("show", "ada/nobody", code=2)
    assert "ada/nobody" in missing.stderr


def test_what_needs_the_folder_says_so(run, there, tmp_path):
    for words in (("export", tmp_path / "x"), ("serve",)):
        refused = run(*words, code=2)
        assert "needs the folder of a home" in refused.stderr, words
    refused = run("list", "--registry", "sqlite:///x", code=2)
    assert "a registry and keys of its own" in refused.stderr


def test_a_folder_that_is_named_comes_before_the_address(run, home):
    assert run("list", "--home", home).exit_code == 0
    missing = run("list", "--home", home / "nothing", code=2)
    assert "there is no home" in missing.stderr


def test_login_keeps_a_token_for_its_owner_alone(run, there, monkeypatch):
    monkeypatch.delenv("ARENA_TOKEN")
    refused = run("list", code=1)
    assert "arena login" in refused.stderr
    refused = run("login", there.address, input="nonsense\n", code=1)
    assert "nobody's here" in refused.stderr and not logins.file().exists()
    done = run("login", there.address + "/", "--json", input=there.tokens["eve"] + "\n")
    assert told(done)["account"] == "eve" and there.tokens["eve"] not in done.output
    assert stat.S_IMODE(logins.file().stat().st_mode) == 0o600
    run("list")
    logins.file().chmod(0o644)
    assert "others can read it" in run("list", code=2).stderr
    logins.file().chmod(0o600)
    run("login", there.address, "--forget")
    assert "arena login" in run("list", code=1).stderr
