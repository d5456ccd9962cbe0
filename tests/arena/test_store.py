"""The match store in one process: what goes in comes out, and the tallies are exact."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from arena.store import MatchStore
from arena.values import SELECTING, Match, Result, Termination
from tests.arena.pennies import POLICIES, SUMS, game, match, recomputed, result, stored_tallies


@pytest.fixture
def store(tmp_path: Path) -> MatchStore:
    return MatchStore(tmp_path / "matches.duckdb", game_named=lambda name: game(name=name))


def test_a_result_comes_back_as_it_went_in(store: MatchStore) -> None:
    before = datetime.now(UTC)
    message = "ZeroDivisionError\n\0 ½ \ud800"
    odd = result(match(1, 0, 3), -2.0, fault_seat=1, message=message, season=7, playings=2)
    assert store.append(game(), [odd, result(match(0, 2, 0))]) == 2
    found = store.get(odd.match.id)
    assert found is not None
    assert found.fault_message == "ZeroDivisionError\n\0 ½ \\ud800"
    assert (found.match, found.moves, found.returns) == (odd.match, odd.moves, (2.0, -2.0))
    assert (found.termination, found.fault_seat) == (Termination.CRASHED, 1)
    assert (found.seconds, found.cpu_seconds, found.wall) == (0.004, (0.002, 0.001), "inline")
    assert (found.season, found.playings) == (7, 2)
    (row,) = store.matches("pennies", 1, faults_only=True)
    assert (row.season, row.playings) == (7, 2)
    assert (row.match, row.returns, row.seats) == (odd.match, odd.returns, odd.match.seats)
    assert before - timedelta(seconds=1) <= row.played_at <= datetime.now(UTC)
    assert store.get("0" * 32) is None


def test_a_long_message_is_cut(store: MatchStore) -> None:
    store.append(game(), [result(match(0, 1, 0), -1, fault_seat=0, message="\udfff" * 5_000)])
    (row,) = store.matches("pennies", 1)
    assert row.fault_message == ("\\udfff" * 2_000)[:2_000]


def test_matches_are_found_by_the_beginning_of_their_id(store: MatchStore) -> None:
    played = [match(0, 1, repetition) for repetition in range(40)]
    store.append(game(), map(result, played))
    ids = sorted(one.id for one in played)
    for digits in (1, 2, 5, 32):
        prefix = ids[17][:digits]
        assert store.find_ids(prefix) == [one for one in ids if one.startswith(prefix)]
    assert store.find_ids(ids[3].upper()) == [ids[3]]
    assert store.find("", limit=3) == sorted(played, key=lambda one: one.id)[:3]
    for wrong in ("xyz", "0" * 33, "12-"):
        with pytest.raises(ValueError, match="not the beginning of a match id"):
            store.find(wrong)
    with pytest.raises(ValueError, match="is not a match id"):
        store.get("12")


def test_matches_of_one_against_another_newest_first(store: MatchStore) -> None:
    for one, other in ((0, 1), (1, 2), (2, 0)):
        store.append(game(), [result(match(one, other, n)) for n in range(3)])
    rows = store.matches("pennies", 1, of=POLICIES[2], newest_first=True)
    assert [row.match for row in rows[:3]] == [match(0, 2, n) for n in (2, 1, 0)]
    assert {row.match for row in rows} == {match(p, 2, n) for p in (0, 1) for n in range(3)}
    against = store.matches("pennies", 1, of=POLICIES[2], against=POLICIES[1], limit=2, offset=1)
    assert [row.match for row in against] == [match(1, 2, n) for n in (1, 2)]
    assert store.matches("pennies", 1, against=POLICIES[0]) == store.matches(
        "pennies", 1, of=POLICIES[0]
    )
    assert store.matches("pennies", 2) == store.matches("chess", 1) == []


def test_exact_sums_are_of_so_many_matches_from_one_on(store: MatchStore) -> None:
    numbers = (0, 1, 2, 5, SELECTING, SELECTING + 1, SELECTING + 2, SELECTING + 4)
    results = [result(match(a, b, n), n % 7 - 2.0) for a, b in ((0, 1), (1, 2)) for n in numbers]
    store.append(game(), results)
    pair, other = POLICIES[:2], POLICIES[1:]
    for first in (0, SELECTING):
        wanted = {pair[::-1]: 3, other: 1}
        told = store.exact_pair_stats(game(), wanted, first).to_pylist()
        chosen = [
            one
            for one in results
            for limit in [3 if one.match.low == pair[0] else 1]
            if first <= one.match.repetition < first + limit
        ]
        found = {(row["low"], row["high"], row["half"]): row for row in told}
        expected = recomputed(True, chosen)
        assert set(found) == set(expected)
        for key, row in found.items():
            sums = dict(zip(SUMS, expected[key], strict=False))
            assert {name: row[name] for name in SUMS if name in row} == {
                name: value for name, value in sums.items() if name in row
            }


def test_trends_leave_out_what_chose_among_candidates(store: MatchStore) -> None:
    store.append(game(), [result(match(0, 1, n), float(n * n)) for n in range(6)])
    before = store.trends("pennies", 1, 3)
    assert len(set(before[POLICIES[0]])) == 3
    store.append(game(), [result(match(0, 1, SELECTING + n), 90.0) for n in range(9)])
    assert store.trends("pennies", 1, 3) == before


def test_tallies_of_some_policies_only(store: MatchStore) -> None:
    store.append(game(), [result(match(a, b, 0)) for a, b in ((0, 1), (1, 2), (0, 2))])
    (row,) = store.pair_stats("pennies", 1, among=POLICIES[1:]).to_pylist()
    assert (row["low"], row["high"]) == POLICIES[1:]
    assert store.pair_stats("pennies", 1, among=[]).num_rows == 0
    assert store.pair_stats("pennies", 1, among=["unknown"]).num_rows == 0


def test_versions_of_the_rules_are_kept_apart(store: MatchStore) -> None:
    old, new = game(), game(version=2)
    store.append(old, [result(match(0, 1, 0, old))])
    store.append(new, [result(match(0, 1, 0, new), 2.0)])
    totals = [store.pair_stats("pennies", v).column("total").to_pylist() for v in (1, 2)]
    assert totals == [[1.0], [2.0]]
    means = [store.pair_scores("pennies", v).values["mean"].tolist() for v in (1, 2)]
    assert means == totals
    assert store.pair_scores("pennies", 3).digests == ()
    returns = [store.returns_in_id_order("pennies", v) for v in (1, 2)]
    assert [one.column("return_low").to_pylist() for one in returns] == totals
    store.append(old, [result(match(1, 2, 0, old), 3.0)])  # the other version's pair lies between
    returns = [store.returns_in_id_order("pennies", v) for v in (1, 2)]
    assert [sorted(one.column("return_low").to_pylist()) for one in returns] == [[1.0, 3.0], [2.0]]
    with pytest.raises(ValueError, match="version 2 of the rules"):
        store.get(match(0, 1, 0, new).id)


def _lopsided() -> Iterator[tuple[str, Result]]:
    good = result(match(0, 1, 1))
    other = match(0, 1, 0, game(version=3))
    yield "handed in as pennies version 1", result(other)
    yield "do not add up to 0", Result(**{**_fields(good), "returns": (1.0, 1.0)})
    yield "do not add up to 0", Result(**{**_fields(good), "returns": (float("inf"),) * 2})
    yield "is no match", result(Match("pennies", 1, POLICIES[1], POLICIES[0], 0))
    yield "is no match", result(Match("pennies", 1, POLICIES[0], POLICIES[1], -1))
    yield "is no name", result(Match("pennies", 1, "\33[2J", POLICIES[0], 0))
    yield "of season -1", result(match(0, 1, 1), season=-1)
    yield "played 0 times", result(match(0, 1, 1), playings=0)
    yield "seat 2 is at fault", result(match(0, 1, 1), fault_seat=2)
    yield "is no name of a", result(match(0, 1, 1), wall="gvisor\33[2J")


def _fields(one: Result) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__slots__}


@pytest.mark.parametrize(("message", "wrong"), list(_lopsided()))
def test_a_contradiction_is_refused_with_its_whole_batch(
    store: MatchStore, message: str, wrong: Result
) -> None:
    with pytest.raises(ValueError, match=message):
        store.append(game(), [result(match(0, 2, 0)), wrong])
    assert store.counts() == ()


def test_an_empty_batch_stores_nothing(store: MatchStore) -> None:
    assert store.append(game(), []) == 0
    assert store.counts() == ()


def test_an_exception_inside_writing_takes_everything_back(store: MatchStore) -> None:
    store.append(game(), [result(match(0, 1, 0))])
    with pytest.raises(KeyError), store.writing() as connection:
        connection.execute("delete from matches")
        raise KeyError
    assert len(store.matches("pennies", 1)) == 1


def test_two_stores_of_the_same_matches_have_different_fingerprints(
    store: MatchStore, tmp_path: Path
) -> None:
    other = MatchStore(tmp_path / "other" / "matches.duckdb")
    assert store.fingerprint("pennies", 1) != other.fingerprint("pennies", 1)
    assert store.fingerprint("pennies", 1) == MatchStore(store.path).fingerprint("pennies", 1)


def test_threads_may_share_a_store(store: MatchStore) -> None:
    def work(thread: int) -> int:
        stored = store.append(game(), [result(match(0, 1, 10 * thread + n)) for n in range(10)])
        return stored + 0 * len(store.matches("pennies", 1))

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, range(6))) == [10] * 6
    kept = [result(match(0, 1, n)) for n in range(60)]
    assert stored_tallies(store, game()) == recomputed(True, kept)


def test_export_writes_parquet_that_others_can_read(store: MatchStore, tmp_path: Path) -> None:
    results = [
        result(match(a, b, n), season=5, playings=2)
        for a, b in ((0, 1), (1, 2))
        for n in (0, 1, 2, SELECTING)
    ]
    store.append(game(), results)
    folder = tmp_path / "it's here"
    files = store.export(folder)
    assert files == store.export(folder) == (folder / "matches.parquet", folder / "pairs.parquet")
    assert sorted(path.name for path in folder.iterdir()) == ["matches.parquet", "pairs.parquet"]
    rows = pyarrow.parquet.read_table(files[0]).to_pylist()
    assert {row["id"] for row in rows} == {one.match.id for one in results}
    assert {(row["game"], row["wall"], row["seconds"]) for row in rows} == {
        ("pennies", "inline", 0.004)
    }
    assert {(row["season"], row["playings"]) for row in rows} == {(5, 2)}
    pairs = pyarrow.parquet.read_table(files[1])
    sums = {(r["low"], r["high"], r["half"]): [r[name] for name in SUMS] for r in pairs.to_pylist()}
    *_, told = store.export(folder, moves=True)
    assert told == folder / "moves.parquet"
    others = folder / "moves.csv"
    others.touch()  # somebody else's
    store.export(folder, moves=True)
    assert told.exists()
    moves = {row["id"]: row["moves"] for row in pyarrow.parquet.read_table(told).to_pylist()}
    assert moves == {one.match.id: one.moves for one in results}
    counting = [one for one in results if one.match.repetition < SELECTING]
    assert sums == {key: value[:-1] for key, value in recomputed(True, counting).items()}
    store.export(folder)  # what is of fewer matches than the other files does not stay beside them
    assert not told.exists() and others.exists()
