"""Seasons: one secret at a time, the same for everybody, published when it is over."""

import hashlib
import logging
import os
import pickle
import shutil
import sqlite3
import stat
import subprocess
import traceback
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy.exc import IntegrityError

from registry import (
    MalformedKey,
    Registry,
    RegistryCorrupt,
    RegistryReadOnly,
    SeasonConflict,
    Submission,
    UnknownSeason,
    commitment_of,
)
from registry.schema import SeasonRow
from registry.seasons import PUBLIC_SEEDS
from tests.registry.at_once import ROOT, at_once

KEY = bytes(range(64, 96))


def forms(key: bytes) -> list[str]:
    """How a key would show in a text, were it to show."""
    return [key.hex(), repr(key)[2:-1], str(list(key)), key.hex(" ")]


def test_the_first_season_is_drawn_once_and_stays(registry: Registry) -> None:
    before = datetime.now(UTC)
    season = registry.current_season()
    assert season.number == 1
    assert season.key is not None and len(season.key) == 32
    assert season.commitment == commitment_of(season.key)
    assert before <= season.opened <= datetime.now(UTC)
    assert (season.closed, season.given) == (None, False)
    assert registry.current_season() == registry.season(1) == season
    assert registry.seasons() == (season,)
    assert pickle.loads(pickle.dumps(season)) == season


def test_each_registry_draws_its_own(tmp_path: Path) -> None:
    keys = set()
    for number in range(20):
        with Registry.open(tmp_path / f"{number}.sqlite") as registry:
            keys.add(registry.current_season().key)
    assert len(keys) == 20


def test_a_given_key_opens_the_first_season_and_no_other(registry: Registry) -> None:
    season = registry.open_first_season(KEY)
    assert (season.number, season.key, season.given) == (1, KEY, True)
    assert registry.current_season() == season
    assert registry.open_first_season(KEY) == season
    with pytest.raises(SeasonConflict, match=r"season 1 .* has another key") as caught:
        registry.open_first_season(bytes(32))
    for key in (KEY, bytes(32)):
        assert not any(form in str(caught.value) for form in forms(key))
    closed, opened = registry.reveal_season()
    assert closed.key == KEY
    for key in (KEY, bytes(32)):  # A key that was published is no secret any more.
        with pytest.raises(SeasonConflict, match="season 2"):
            registry.open_first_season(key)
    assert opened.key is not None
    assert registry.open_first_season(opened.key) == opened


def test_a_drawn_key_is_not_replaced_by_a_given_one(registry: Registry) -> None:
    season = registry.current_season()
    with pytest.raises(SeasonConflict):
        registry.open_first_season(KEY)
    assert registry.seasons() == (season,)


@pytest.mark.parametrize("key", [b"", b"short", bytes(31), bytes(33), "x" * 32, bytearray(32)])
def test_keys_that_are_none(registry: Registry, key: bytes) -> None:
    for use in (registry.open_first_season, commitment_of):
        with pytest.raises(MalformedKey, match="a season's key is 32 bytes") as caught:
            use(key)
        assert "xxx" not in str(caught.value) and "short" not in str(caught.value)
    assert registry.seasons() == ()


def test_revealing_closes_one_season_and_opens_the_next(registry: Registry) -> None:
    with pytest.raises(UnknownSeason, match="no open season"):
        registry.reveal_season()
    first = registry.current_season()
    closed, opened = registry.reveal_season()
    assert closed == replace(first, closed=opened.opened)
    assert (opened.number, opened.closed, opened.given) == (2, None, False)
    assert opened.key not in (None, first.key)
    assert registry.current_season() == opened
    assert registry.season(1) == closed
    assert registry.seasons() == (closed, opened)


def test_the_time_before_there_were_secrets(registry: Registry) -> None:
    before = registry.season(0)
    assert before == PUBLIC_SEEDS
    assert (before.number, before.key, before.commitment) == (0, None, "")
    assert registry.seasons() == ()
    registry.current_season()
    assert registry.season(0) == before
    for number in (-1, 2):
        with pytest.raises(UnknownSeason, match=f"no season {number}; its last one is 1"):
            registry.season(number)


def test_the_commitment_is_what_its_documentation_says() -> None:
    content = b"policy-arena season key\n" + KEY
    assert commitment_of(KEY) == hashlib.blake2b(content, digest_size=32).hexdigest()
    assert commitment_of(KEY) == "93c69401d82b2b3d1fe8a669fd01551b1d98f5eaa3bb4bea29b3a39233fc6fc7"


def test_the_commitment_is_what_the_readme_computes() -> None:
    if not (shutil.which("bash") and shutil.which("b2sum") and shutil.which("basenc")):
        pytest.skip("no GNU coreutils to compare with")
    readme = (ROOT / "registry" / "README.md").read_text()
    (line,) = [line for line in readme.splitlines() if "b2sum" in line]
    command = line.strip().replace("KEY", KEY.hex())
    told = subprocess.run(["bash", "-c", command], capture_output=True, check=True, text=True)
    assert told.stdout.split()[0] == commitment_of(KEY)


def test_a_key_shows_nowhere(registry: Registry, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "sqlalchemy")  # It writes parameters and rows.
    registry.open_first_season(KEY)
    season = registry.current_season()
    _, opened = registry.reveal_season()
    assert opened.key is not None
    told = [repr(season), str(season), f"{season}", repr(registry.seasons()), caplog.text]
    with registry.database.reading() as session:
        row = session.get(SeasonRow, 1)
        told += [repr(row), str(row), repr(vars(row))]
    twice = SeasonRow(
        number=1, commitment="", opened=season.opened, closed=None, given=True, key=KEY
    )
    with pytest.raises(IntegrityError) as caught, registry.database.writing() as session:
        session.add(twice)
    told += ["".join(traceback.format_exception(caught.value))]
    assert "INSERT INTO policy_season" in caplog.text and "Row (" in caplog.text
    for key in (KEY, opened.key):
        assert not [(form, text) for form in forms(key) for text in told if form in text]


def test_processes_that_ask_at_once_get_the_same_season(target: str) -> None:
    code = """
with Registry.open(target) as registry:
    season = registry.current_season()
    print(season.number, season.key.hex(), season.commitment)
"""
    printed = at_once(target, code)
    assert len({tuple(lines) for lines in printed}) == 1
    with Registry.open(target) as registry:
        (season,) = registry.seasons()
        assert season.key is not None
        assert printed[0] == [f"1 {season.key.hex()} {season.commitment}"]


def test_processes_that_bring_their_own_keys_agree_on_one(target: str) -> None:
    code = """
from registry import SeasonConflict
key = bytes([who % 2]) * 32
with Registry.open(target) as registry:
    try:
        print(registry.open_first_season(key).key == key)
    except SeasonConflict:
        print("conflict", registry.current_season().key == bytes([1 - who % 2]) * 32)
"""
    assert sorted(at_once(target, code)) == [["True"]] * 2 + [["conflict True"]] * 2
    with Registry.open(target) as registry:
        assert len(registry.seasons()) == 1


def test_processes_that_reveal_at_once_leave_one_season_open(target: str) -> None:
    with Registry.open(target) as registry:
        registry.current_season()
    code = """
with Registry.open(target) as registry:
    for _ in range(5):
        closed, opened = registry.reveal_season()
        print(closed.number, opened.number)
"""
    pairs = [line.split() for lines in at_once(target, code) for line in lines]
    assert sorted(int(closed) for closed, _ in pairs) == list(range(1, 21))
    assert all(int(opened) == int(closed) + 1 for closed, opened in pairs)
    with Registry.open(target) as registry:
        seasons = registry.seasons()
        assert [season.closed is None for season in seasons] == [False] * 20 + [True]
        assert len({season.key for season in seasons}) == 21


def test_a_reader_without_a_season_draws_none(target: str) -> None:
    with Registry.open(target) as writer, Registry.open(target, read_only=True) as reader:
        for draw in (reader.current_season, lambda: reader.open_first_season(KEY)):
            with pytest.raises(RegistryReadOnly):
                draw()
        season = writer.open_first_season(KEY)
        assert reader.current_season() == reader.open_first_season(KEY) == season
        with pytest.raises(RegistryReadOnly):
            reader.reveal_season()


@pytest.mark.parametrize(
    "change",
    [
        "key = zeroblob(32)",
        "key = x'00'",
        "key = 'thirty-two characters of a text!'",
        "key = 7",
        "key = 9223372036854775807",
        "commitment = 'f' || substr(commitment, 2)",
        "commitment = ''",
    ],
)
def test_a_key_that_is_not_the_one_committed_to_is_refused(tmp_path: Path, change: str) -> None:
    path = tmp_path / "registry.sqlite"
    with Registry.open(path) as registry:
        registry.open_first_season(KEY)
        raw = sqlite3.connect(path)
        raw.execute(f"UPDATE policy_season SET {change}")
        raw.commit()
        raw.close()
        for read in (registry.current_season, registry.seasons, lambda: registry.season(1)):
            with pytest.raises(RegistryCorrupt, match="damaged or edited") as caught:
                read()
            assert not any(form in str(caught.value) for form in forms(KEY))


def test_two_open_seasons_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "registry.sqlite"
    with Registry.open(path) as registry:
        registry.current_season()
        registry.reveal_season()
        raw = sqlite3.connect(path)
        raw.execute("UPDATE policy_season SET closed = NULL")
        raw.commit()
        raw.close()
        with pytest.raises(RegistryCorrupt, match="2 seasons are open at once"):
            registry.current_season()


def modes(path: Path) -> dict[str, str]:
    """Rights of a registry's files, by the end of their names, while they are all there."""
    with sqlite3.connect(path) as raw:
        raw.execute("SELECT count(*) FROM policy_version").fetchone()
        found = {file.name: file.stat().st_mode for file in path.parent.iterdir()}
    raw.close()
    assert set(found) >= {path.name, f"{path.name}-wal", f"{path.name}-shm"}
    return {name: oct(stat.S_IMODE(mode)) for name, mode in found.items()}


def test_a_new_registry_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "registry.sqlite"
    mask = os.umask(0)
    try:
        with Registry.open(path) as registry:
            registry.current_season()
            assert set(modes(path).values()) == {"0o600"}
        link = tmp_path / "link.sqlite"
        link.symlink_to(tmp_path / "behind.sqlite")
        Registry.open(link).close()
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "behind.sqlite").stat().st_mode) == 0o600


def test_a_registry_that_everybody_could_read_is_hidden_when_it_gets_a_secret(
    tmp_path: Path,
) -> None:
    path = tmp_path / "registry.sqlite"
    Registry.open(path).close()
    path.chmod(0o664)
    with Registry.open(path) as registry:
        registry.submit(Submission("rrps", "ada/x", "python", "x"))
        assert set(modes(path).values()) == {"0o664"}
        registry.current_season()
        assert set(modes(path).values()) == {"0o660"}  # Its group is there on purpose.
    path.chmod(0o644)  # So is what is decided after that.
    with Registry.open(path) as registry:
        registry.reveal_season()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
