"""Seeds on the command line: keys that are given, secret, or revealed."""

import json
import shutil

import pytest
from click.testing import CliRunner

from arena import Arena
from arena.cli import main
from registry.seasons import commitment_of

KEY = bytes(range(32, 64))
ONLY = ("--only", "house/CFR+", "--only", "house/AlwaysCall")


def run(home, *arguments, code=0):
    found = CliRunner().invoke(main, [*map(str, arguments), "--home", str(home)])
    assert found.exit_code == code, found.output
    return found


def document(home, *arguments):
    return json.loads(run(home, *arguments, "--json").stdout)


def played(home, *more):
    """Moves by match of two deals of Leduc between tables."""
    document(home, "play", "--game", "leduc", "--matches", "4", *ONLY, *more)
    with Arena(home) as arena:
        return {row.id: arena.match(row.id).result.moves for row in arena.matches("leduc")}


def test_who_has_the_key_gets_the_same_matches(tmp_path):
    file = tmp_path / "key"
    file.write_text(KEY.hex() + "\n")
    one = played(tmp_path / "one", "--seed-key", KEY.hex())
    assert len(one) == 4
    assert one == played(tmp_path / "two", "--seed-key", f"@{file}")
    other = played(tmp_path / "three")
    assert one.keys() == other.keys()
    assert one != other


def test_a_secret_key_is_shown_nowhere_before_it_is_revealed(home, tmp_path):
    with Arena(home) as arena:
        key = arena.home.registry.current_season().key.hex()
    run(home, "play", "--game", "leduc", "--matches", "2", *ONLY)
    (season,) = document(home, "seed", "show")["seasons"]
    assert season["commitment"] == commitment_of(bytes.fromhex(key))
    assert (season["closed"], season["key"]) == (None, None)
    words = (("seed", "show"), ("list",), ("show", "house/CFR+"), ("matches", "--game", "leduc"))
    for arguments in words:
        assert key not in run(home, *arguments).output
        assert key not in run(home, *arguments, "--json").output
    run(home, "export", tmp_path / "out")
    for file in (tmp_path / "out").iterdir():
        assert key.encode() not in file.read_bytes()
        assert bytes.fromhex(key) not in file.read_bytes()


def test_a_revealed_key_fits_its_commitment_and_its_matches_still_verify(home):
    run(home, "play", "--game", "leduc", "--matches", "2", *ONLY)
    (before,) = document(home, "seed", "show")["seasons"]
    assert run(home, "seed", "reveal", code=1).stdout.count("cannot be made secret again") == 1
    told = document(home, "seed", "reveal", "--yes")
    closed, opened = told["closed"], told["opened"]
    assert commitment_of(bytes.fromhex(closed["key"])) == before["commitment"]
    assert opened["key"] is None and opened["commitment"] != before["commitment"]
    match = document(home, "matches", "--game", "leduc")["matches"][0]["id"]
    assert document(home, "replay", match, "--verify")["verified"]
    shown = run(home, "seed", "show").stdout
    assert closed["key"] in shown and "secret" in shown


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("abc", "cannot be read"),
        ("ab" * 31, "it has 31 bytes; 32 are needed"),
        ("@/nowhere/at/all", "No such file"),
    ],
)
def test_a_key_that_is_none_is_refused(tmp_path, key, told):
    refused = run(tmp_path / "home", "list", "--seed-key", key, code=2)
    assert told in refused.stderr
    assert not (tmp_path / "home").exists()


def test_a_home_keeps_its_key(home, tmp_path):
    before = shutil.copytree(home, tmp_path / "before")
    refused = run(home, "list", "--seed-key", KEY.hex(), code=1)
    assert "key" in refused.stderr and KEY.hex() not in refused.stderr
    assert document(home, "seed", "show") == document(before, "seed", "show")
