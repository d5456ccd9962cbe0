"""The match store in one process: what goes in comes out, and the tallies are exact."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.games.protocol import Game
from arena.payoffs import PayoffTable
from arena.store import MatchStore, Sharing
from arena.values import SELECTING, Match, Result, Termination
from tests.arena.simulated_returns import same_table

POLICIES = ("aa" * 32, "bb" * 32, "cc" * 32)


@dataclass(frozen=True)
class Pennies:
    """Matching pennies: a move is heads (1) or tails (0) of either seat, a bit when packed."""

    name: str = "pennies"
    version: int = 1
    has_deals: bool = True

    def pack(self, moves: bytes) -> bytes:
        bits = sum(move << place for place, move in enumerate(moves))
        return len(moves).to_bytes(2, "big") + bits.to_bytes(-(-len(moves) // 8), "big")

    def unpack(self, packed: bytes) -> bytes:
        bits = int.from_bytes(packed[2:], "big")
        return bytes(bits >> place & 1 for place in range(int.from_bytes(packed[:2], "big")))


def game(**differences: Any) -> Game:
    return cast(Game, Pennies(**differences))


def result(
    match: Match,
    return_low: float = 1.0,
    *,
    fault_seat: int | None = None,
    message: str = "",
    millis: int = 4,
    wall: str = "inline",
    season: int = 0,
    playings: int = 1,
) -> Result:
    returns = (return_low, -return_low) if match.repetition % 2 == 0 else (-return_low, return_low)
    return Result(
        match=match,
        returns=returns,
        termination=Termination.COMPLETED if fault_seat is None else Termination.CRASHED,
        fault_seat=fault_seat,
        fault_message=message,
        moves=bytes(int(digit) for digit in f"{match.repetition & 63:03b}01101"),
        wall=wall,
        seconds=millis / 1000,
        cpu_seconds=(millis / 2000, millis / 4000),
        season=season,
        playings=playings,
    )


def match(one: int, other: int, repetition: int, of: Game | None = None) -> Match:
    played = of or game()
    return Match.between(played.name, played.version, POLICIES[one], POLICIES[other], repetition)


@pytest.fixture
def store(tmp_path: Path) -> MatchStore:
    return MatchStore(tmp_path / "matches.duckdb", game_named=lambda name: game(name=name))


SUMS = [
    *("matches", "total", "total_squares", "deals", "deal_squares", "deal_cross", "deal_sizes"),
    *("wins", "draws", "losses", "forfeits_low", "forfeits_high"),
]


def recomputed(has_deals: bool, results: Iterable[Result]) -> dict[tuple[str, str, int], Any]:
    """The tallies by definition: (low, high, half) to the columns of `SUMS` and milliseconds."""
    clusters: dict[tuple[str, str, int], list[Result]] = defaultdict(list)
    for one in results:
        number = one.match.deal if has_deals else one.match.repetition
        clusters[one.match.low, one.match.high, number].append(one)
    tallies: dict[tuple[str, str, int], Any] = defaultdict(lambda: [0] * (len(SUMS) + 1))
    for (low, high, number), deal in clusters.items():
        lows = [
            one.returns[one.match.seats.index(low)] if low != high else one.return_low
            for one in deal
        ]
        seats = [one.match.repetition % 2 for one in deal]
        faults = [one.fault_seat for one in deal]
        terms = (
            len(deal), sum(lows), sum(x * x for x in lows),
            1, sum(lows) ** 2, sum(lows) * len(deal), len(deal) ** 2,
            sum(x > 0 for x in lows), sum(x == 0 for x in lows), sum(x < 0 for x in lows),
            sum(fault == seat for fault, seat in zip(faults, seats, strict=True)),
            sum(fault == 1 - seat for fault, seat in zip(faults, seats, strict=True)),
            sum(round(one.seconds * 1000) for one in deal),
        )  # fmt: skip
        sums = tallies[low, high, number % 2]
        tallies[low, high, number % 2] = [a + b for a, b in zip(sums, terms, strict=True)]
    return dict(tallies)


def stored_tallies(store: MatchStore, played: Game) -> dict[tuple[str, str, int], Any]:
    return {
        (row["low"], row["high"], row["half"]): [
            *(row[name] for name in SUMS), round(row["seconds"] * 1000)
        ]
        for row in store.pair_stats(played.name, played.version).to_pylist()
    }  # fmt: skip


def recomputed_sharing(results: Iterable[Result]) -> dict[str, Sharing]:
    """How matches were isolated, by definition."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for one in results:
        for digest in set(one.match.seats):
            sums[digest][0] += one.wall.startswith("process")
            sums[digest][1] += one.wall.endswith("+lockstep")
            sums[digest][2] += one.playings > 1
    return {digest: Sharing(*counts) for digest, counts in sums.items()}


BATCHES = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from([(0, 1), (0, 2), (1, 2), (2, 2)]),
            st.integers(0, 7) | st.integers(SELECTING, SELECTING + 3),
            st.integers(-3, 3),
            st.sampled_from([None, None, 0, 1]),
            st.integers(0, 50),
            st.sampled_from(["native", "process/1", "process/1+lockstep"]),
            st.integers(1, 2),
        ),
        max_size=9,
    ),
    min_size=1,
    max_size=4,
)
NAMES = (f"game {number}" for number in itertools.count())


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> MatchStore:
    """One store for all examples; each plays a game of its own name, which says if it has deals."""
    path = tmp_path_factory.mktemp("store") / "matches.duckdb"
    return MatchStore(path, game_named=lambda name: game(name=name, has_deals="deals" in name))


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(batches=BATCHES, has_deals=st.booleans())
def test_any_batches_leave_exactly_their_first_results_and_exact_tallies(
    shared: MatchStore, batches: list[list[Any]], has_deals: bool
) -> None:
    name = next(NAMES) + " with deals" * has_deals
    played = game(name=name, has_deals=has_deals)
    kept: dict[str, Result] = {}
    before = shared.fingerprint(played.name, 1)
    for batch in batches:
        results = [
            result(
                match(a, b, repetition, played),
                total,
                fault_seat=fault,
                millis=millis,
                wall=wall,
                season=repetition,
                playings=playings,
            )
            for (a, b), repetition, total, fault, millis, wall, playings in batch
        ]
        new = {one.match.id for one in results} - kept.keys()
        assert shared.append(played, results) == len(new)
        after = shared.fingerprint(played.name, 1)
        assert (after != before) == bool(new)
        before = after
        for one in results:
            kept.setdefault(one.match.id, one)

    counting = [one for one in kept.values() if one.match.repetition < SELECTING]
    assert stored_tallies(shared, played) == recomputed(has_deals, counting)
    quick, plain = shared.pair_sums(played.name, 1), shared.pair_stats(played.name, 1)
    same_table(
        PayoffTable.from_pair_sums(quick, POLICIES), PayoffTable.from_pair_stats(plain, POLICIES)
    )
    assert shared.returns_in_id_order(played.name, 1).num_rows == len(counting)
    assert shared.sharing(played.name, 1) == recomputed_sharing(kept.values())
    rows = shared.matches(played.name, 1)
    assert {row.id: row.returns for row in rows} == {k: one.returns for k, one in kept.items()}
    assert len(rows) == len(kept)
    for one in itertools.islice(kept.values(), 3):
        assert shared.get(one.match.id) == one
    ordered = [kept[key] for key in sorted(kept)]
    assert shared.returns_in_id_order(played.name, 1, 4).to_pylist() == [
        {"low": one.match.low, "high": one.match.high, "return_low": one.return_low}
        for one in ordered
        if one.match.repetition <= 4
    ]
    _check_repetitions(shared, played, [one.match for one in kept.values()])
    counted = [count for count in shared.counts() if count.game == played.name]
    if kept:
        (count,) = counted
        counting = [one for one in kept.values() if one.match.repetition < SELECTING]
        assert count.matches == len(counting)
        assert count.forfeits == sum(one.fault_seat is not None for one in counting)
        told = shared.matches(played.name, 1, selecting=False)
        assert {row.id for row in told} == {one.match.id for one in counting}
        for digest in POLICIES:
            own = [one for one in counting if digest in one.match.seats]
            costs = shared.costs(played.name, 1, digest)
            assert costs.matches == len(own)


def _check_repetitions(store: MatchStore, played: Game, kept: list[Match]) -> None:
    spans = ((8, POLICIES, 0), (3, POLICIES, 0), (5, POLICIES[:2], 0), (5, POLICIES, 2))
    for count, digests, first in (*spans, (3, POLICIES, SELECTING), (2, POLICIES[1:], SELECTING)):
        stored = store.repetitions(played.name, 1, digests, count, first)
        found = {
            (stored.digests[low], stored.digests[high], first + repetition)
            for low, high, prefix in zip(stored.low, stored.high, stored.prefix, strict=True)
            for repetition in {*range(prefix), *stored.scattered.get((low, high), ())}
        }
        assert found == {
            (one.low, one.high, one.repetition)
            for one in kept
            if first <= one.repetition < first + count and {one.low, one.high} <= set(digests)
        }


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
    assert [store.pair_sums("pennies", v).sums["total"].sum() for v in (1, 2)] == [1.0, 2.0]
    assert store.pair_sums("pennies", 3).digests == ()
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


@pytest.mark.parametrize(("complaint", "wrong"), list(_lopsided()))
def test_a_contradiction_is_refused_with_its_whole_batch(
    store: MatchStore, complaint: str, wrong: Result
) -> None:
    with pytest.raises(ValueError, match=complaint):
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
    moves = {row["id"]: row["moves"] for row in pyarrow.parquet.read_table(told).to_pylist()}
    assert moves == {one.match.id: one.moves for one in results}
    counting = [one for one in results if one.match.repetition < SELECTING]
    assert sums == {key: value[:-1] for key, value in recomputed(True, counting).items()}
