"""The match store against prepared files: what they bring is neither run nor believed.

Each test changes an honest store the way a stranger with DuckDB at hand could, and reads it.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import duckdb
import pytest

from arena.games.protocol import Game
from arena.store import MatchStore, StoreCorrupt, StoreTooNew
from arena.values import Match
from tests.arena.doctored_store import (
    GAME,
    HIGH,
    LOW,
    anew,
    doctor,
    honest_store,
    questions,
    refused,
    result,
)

READS_A_FILE = "(select content from read_text('SECRET'))"
"""Where a path in a statement stands for a file that nobody may show."""


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of an honest store."""
    return honest_store(tmp_path_factory.mktemp("honest") / "matches.duckdb").path.read_bytes()


@pytest.fixture
def path(tmp_path: Path, honest: bytes) -> Path:
    """A copy of it."""
    copy = tmp_path / "matches.duckdb"
    copy.write_bytes(honest)
    return copy


def instead(table: str, definition: str, columns: str = "*") -> tuple[str, ...]:
    """Statements that put a table of another definition with the same rows in a table's place."""
    return (
        f"create table copy as from {table}",
        f"drop table {table}",
        f"create table {table} ({definition})",
        f"insert into {table} select {columns} from copy",
        "drop table copy",
    )


def hidden(table: str, view: str) -> tuple[str, ...]:
    """Statements that put a view in a table's place."""
    return (f"alter table {table} rename to hidden", f"create view {table} as {view}")


BROUGHT: dict[str, tuple[str, ...]] = {
    "the view games": hidden("games", f"select * replace ({READS_A_FILE} as name) from hidden"),
    "the view matches": hidden("matches", "from hidden"),
    "the view endless": ("create view endless as select sum(range) from range(1000000000000)",),
    "the macro sum": ("create macro sum(x) as 666",),
    "the macro count_star": ("create macro count_star() as 666",),
    "the macro ends_with": (f"create macro ends_with(a, b) as a = {READS_A_FILE}",),
    "the macro duckdb_tables": (
        "create macro duckdb_tables() as table select 'matches' as table_name",
    ),
    "the trigger t": (
        "create trigger t after insert on matches for each statement"
        " insert into schema_history values (1, now())",
    ),
    "the index i": ("create index i on policies ((digest || 'x'))",),
    "the sequence s": ("create sequence s",),
    "the schema other": ("create schema other", "create table other.matches as from matches"),
    "the constraint CHECK": instead("store", "token varchar not null check (length(token) < 1000)"),
    "the constraint PRIMARY KEY": instead(
        "policies", "policy integer primary key, digest varchar not null"
    ),
    "a collation in table policies": instead(
        "policies", "policy integer not null, digest varchar collate nocase not null"
    ),
    "the column digest of its table policies": instead(
        "policies",
        "policy integer not null, digest varchar generated always as (repeat('a', 64))",
        "policy",
    ),
    "the column wall of its table isolation": (
        "alter table isolation alter wall set default 'x' || random()",
    ),
    "the column extra of its table store": ("alter table store add column extra integer",),
    "the order of the columns of its table pairs": instead(
        "pairs",
        "game integer not null, pair integer not null, low integer not null, high integer not null",
        "game, pair, low, high",
    ),
    "the column moves of its table matches": ("alter table matches drop column moves",),
    "the column name of its table games": ("alter table games alter name type blob",),
    "the column repetition of its table matches": (
        "alter table matches alter repetition type bigint",
    ),
    "the column return_low of its table matches": (
        "alter table matches alter return_low drop not null",
    ),
    "the column season of its table matches": (
        "alter table matches alter season type integer[] using [season]",
    ),
    "the table audits is missing": ("drop table audits",),
    "a table sales that no arena made": ("create table sales (price integer)",),
}


@pytest.mark.parametrize("brought", BROUGHT)
def test_what_a_file_brings_besides_the_expected_tables_is_refused(
    path: Path, tmp_path: Path, brought: str
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("s3cr3t")
    doctor(path, *(statement.replace("SECRET", str(secret)) for statement in BROUGHT[brought]))
    refused(path, StoreCorrupt, brought)


def test_no_question_shows_a_local_file(path: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("s3cr3t")
    doctor(path, *(line.replace("SECRET", str(secret)) for line in BROUGHT["the view games"]))
    with duckdb.connect(str(path), read_only=True) as connection:
        assert connection.execute("select name from games").fetchone() == ("s3cr3t",)
    for ask in questions(anew(path)):
        with pytest.raises(StoreCorrupt, match="the view games") as told:
            ask()
        assert "s3cr3t" not in str(told.value)
    assert not list(tmp_path.glob("export/*"))


@pytest.mark.parametrize(
    "history",
    [
        "delete from schema_history",
        "update schema_history set version = null",
        "update schema_history set version = null where version = 2",
        "update schema_history set version = version - 1",
        "update schema_history set version = -version",
        "update schema_history set version = 1",
        "update schema_history set version = 2147483647",
        "insert into schema_history values (2147483647, now())",
        "insert into schema_history values (2, now())",
    ],
)
def test_a_version_that_cannot_be_is_refused(path: Path, history: str) -> None:
    doctor(path, history)
    refused(path, StoreCorrupt, "its schema_history should count 1, 2, ... and says")


def test_what_a_file_says_does_not_steer_the_terminal(path: Path) -> None:
    doctor(path, 'create view "' + "\33[2J" + "x" * 1000 + '" as from range(10)')
    with pytest.raises(StoreCorrupt, match=r"the view .\[2Jx+\.\.\., and a match store") as told:
        anew(path).counts()
    assert str(told.value).isprintable()


def test_a_history_that_is_a_view_is_none(path: Path) -> None:
    doctor(path, *hidden("schema_history", "from hidden"))
    refused(path, StoreCorrupt, "no match store")


def test_a_history_without_end_is_of_a_newer_arena(path: Path) -> None:
    doctor(path, "insert into schema_history select range + 3, now() from range(5000000)")
    refused(path, StoreTooNew, "update policy-arena")


def test_tables_of_another_version_than_told_are_refused(path: Path) -> None:
    doctor(path, "delete from schema_history where version = 2")
    refused(path, StoreCorrupt, "table audits that no arena made")


@pytest.mark.parametrize(
    ("fault", "statement"),
    [
        ("exactly one token", "delete from store"),
        ("rows of store, and cannot hold", "insert into store values ('another')"),
        ("games are not numbered", "insert into games values (0, 'other', 1, 0)"),
        ("policies are not numbered", "update policies set policy = policy + 1"),
        ("pairs are not numbered", "update pairs set pair = 0"),
        ("is no name", "update games set name = 'toy' || chr(27) || '[2J'"),
        ("is no name", "update policies set digest = repeat('e', 201) where policy = 2"),
        ("is no name", "update policies set digest = '' where policy = 2"),
        ("a game is listed twice", "insert into games select 1, name, version, 0 from games"),
        ("a policy is listed twice", "insert into policies select 3, digest from policies limit 1"),
        ("a pair is listed twice", "insert into pairs select 2, 0, low, high from pairs limit 1"),
        ("a pair is of a game", "update pairs set game = 7 where pair = 1"),
        ("a policy that is not listed", "update pairs set high = 9 where pair = 1"),
        ("the wrong way round", "update pairs set low = high, high = low"),
        ("the sums of a pair are listed twice", "insert into tallies from tallies limit 1"),
        ("those of no pair", "update tallies set pair = 5 where pair = 1"),
        ("contradict each other", "update tallies set wins = wins + 1"),
        ("contradict each other", "update tallies set total = 'nan'"),
        ("contradict each other", "update tallies set deal_squares = 'inf'"),
        ("contradict each other", "update tallies set deals = 0"),
        ("than its pairs", "update games set matches = 1000000000000"),
        ("than its pairs", "insert into games values (1, 'other', 1, 1)"),
        ("than it counts", "delete from matches where repetition = 0"),
        ("behind all walls", "delete from isolation where pair = 0"),
        ("behind all walls", "insert into isolation from isolation"),
        ("behind all walls", "update isolation set do_overs = 100"),
        ("behind all walls", "insert into isolation values (7, 'native', 1, 0)"),
        ("rows of matches, and cannot hold", "insert into matches select m.* from matches as m,"
         " range(20000)"),
        ("rows of pairs, and cannot hold", "insert into pairs select 1, 0, 0, 1 from range(10000)"),
        ("rows of policies, and cannot hold", "insert into policies select 1, '' from range(99)"),
        ("rows of audits, and cannot hold", "insert into audits select a.* from audits as a,"
         " range(2000000)"),
    ],
)  # fmt: skip
def test_tables_that_contradict_each_other_are_refused(
    path: Path, fault: str, statement: str
) -> None:
    doctor(path, statement)
    refused(path, StoreCorrupt, fault)


@pytest.mark.parametrize(
    ("wrong", "change"),
    [
        ("its content is that of match", "repetition = repetition + 20"),
        ("its content is that of match", "pair = 1"),
        ("its return is nan", "return_low = 'nan'"),
        ("it ended by 'won'", "termination = 'won'"),
        ("seat 7 is at fault", "fault_seat = 7"),
        ("its message has 50000 characters", "fault_message = repeat('x', 50000)"),
        (".* is no name of a wall", "wall = 'gvisor' || chr(27) || '[2J'"),
        ("it was played at", "played_at = '99999-01-01'"),
        ("it is of season -1", "season = -1"),
        ("it is of season 1 and was played 0 times", "playings = 0"),
    ],
)
def test_a_row_that_makes_no_sense_is_named(path: Path, wrong: str, change: str) -> None:
    match_id = Match("toy", 1, LOW, HIGH, 4).id
    doctor(path, f"update matches set {change} where id = '{match_id}'")
    store = anew(path)
    with pytest.raises(StoreCorrupt, match=f"match {match_id} makes no sense: {wrong}"):
        store.matches("toy", 1)
    with pytest.raises(StoreCorrupt, match=f"match {match_id} makes no sense: {wrong}"):
        store.unaudited("toy", 1, 50)
    if "played at" not in wrong:
        with pytest.raises(StoreCorrupt, match=f"match {match_id} makes no sense: {wrong}"):
            store.get(match_id)


def test_an_id_of_another_match_is_found_out_wherever_it_is_read(path: Path) -> None:
    match_id = Match("toy", 1, LOW, HIGH, 3).id  # the one that was audited
    forged = "0" * 31 + "1"
    doctor(path, f"update matches set id = '{forged}' where id = '{match_id}'")
    doctor(path, f"update audits set id = '{forged}'")
    store = anew(path)
    for ask in (
        lambda: store.matches("toy", 1),
        lambda: store.find("0"),
        lambda: store.get(forged),
        store.audits,
        lambda: store.export(path.parent / "export"),
    ):
        with pytest.raises(StoreCorrupt, match=rf"{forged} makes no sense.*match {match_id}"):
            ask()
    assert forged not in {row.id for row in store.unaudited("toy", 1, 50)}
    assert not list(path.parent.glob("export/*"))


@pytest.mark.parametrize(
    ("wrong", "change"),
    [
        ("its content is that of match", "repetition = 4"),
        ("its audit says 'fine'", "verdict = 'fine'"),
        ("it was audited at", "audited_at = '99999-01-01'"),
        ("it was audited behind '.x1b", "wall = chr(27) || '[2J'"),
        ("its audit suspects None of move -1", "move = -1"),
        ("its audit tells more than 2000", "again = repeat('x', 2001)"),
    ],
)
def test_an_audit_that_makes_no_sense_is_named(path: Path, wrong: str, change: str) -> None:
    doctor(path, f"update audits set {change}")
    with pytest.raises(
        StoreCorrupt, match=f"match {Match('toy', 1, LOW, HIGH, 3).id} makes no sense: {wrong}"
    ):
        anew(path).audits()


def test_moves_that_unpack_to_more_than_there_is_memory_for_are_not_read(path: Path) -> None:
    match_id = Match("toy", 1, LOW, HIGH, 4).id
    doctor(path, f"update matches set moves = repeat('x', 2000000)::blob where id = '{match_id}'")
    with pytest.raises(StoreCorrupt, match=f"match {match_id} .* over 1048576 bytes of moves"):
        anew(path).get(match_id)


def test_moves_that_are_none_are_blamed_on_the_store(path: Path) -> None:
    def unpack(packed: bytes) -> bytes:
        raise ValueError("these bytes are no packed moves")

    strict = cast(Game, SimpleNamespace(name="toy", version=1, unpack=unpack))
    store = MatchStore(path, game_named=lambda name: strict)
    match_id = Match("toy", 1, LOW, HIGH, 4).id
    with pytest.raises(StoreCorrupt, match=f"match {match_id} makes no sense: these bytes"):
        store.get(match_id)


def test_a_store_that_is_exchanged_for_a_doctored_one_is_inspected_again(path: Path) -> None:
    store = anew(path)
    assert len(store.matches("toy", 1)) == 20
    doctor(path, "create macro sum(x) as 666")
    with pytest.raises(StoreCorrupt, match="the macro sum"):
        store.counts()
    doctor(path, "drop macro sum")
    assert store.append(GAME, [result(10)]) == 1
    assert len(store.matches("toy", 1)) == 21


def test_a_question_reaches_nothing_outside_the_store(path: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("s3cr3t\n")
    with duckdb.connect(str(tmp_path / "other.duckdb")) as other:
        other.execute("create table t (x integer)")
    for access in (anew(path).reading, anew(path).writing):
        for question in (
            f"from read_csv('{secret}')",
            f"from '{secret}'",
            f"copy matches to '{tmp_path / 'out.csv'}'",
            f"attach '{tmp_path / 'other.duckdb'}'",
            "install httpfs",
            "load httpfs",
            "set enable_external_access = true",
            "set threads = 1",
        ):
            with pytest.raises(duckdb.Error), access() as connection:
                connection.execute(question)
    assert not (tmp_path / "out.csv").exists()


def test_a_table_is_not_looked_for_among_variables(path: Path) -> None:
    matches_of_mine = duckdb.sql("select 1 as x").to_arrow_table()
    with pytest.raises(duckdb.CatalogException), anew(path).reading() as connection:
        connection.sql("from matches_of_mine")
    assert matches_of_mine.num_rows == 1
