"""The Leduc house: the shipped CFR+ table and its provenance, and the two heuristics."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.analysis.exact import exploitability, hand_value
from arena.games.leduc import cfr_plus
from arena.games.leduc.cfr_solution import packed, shipped, unpacked
from arena.games.leduc.house import leduc_house
from arena.games.leduc.states import STATES
from arena.kinds.tabular import states_of

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "leduc_hand_value.json").read_text(encoding="utf-8")
)
CALL, FOLD, CFR = leduc_house()


def test_who_is_there() -> None:
    assert [one.name for one in leduc_house()] == [
        "house/AlwaysCall",
        "house/AlwaysFold",
        "house/CFR+",
    ]
    for one in leduc_house():
        assert (one.game, one.kind) == ("leduc", "tabular")
        assert one.description and "Southey" in str(one.provenance["source"])
        json.dumps(one.provenance)
    assert "Tammelin" in str(CFR.provenance["source"])


def test_the_heuristics_do_what_their_names_say() -> None:
    calls, folds = states_of(STATES, CALL.payload), states_of(STATES, FOLD.payload)
    for key, legal in STATES.legal.items():
        assert calls[key] == (0.0, 1.0, 0.0)
        assert folds[key] == ((1.0, 0.0, 0.0) if 0 in legal else (0.0, 1.0, 0.0))


def test_the_shipped_table_is_as_good_as_it_says() -> None:
    solution = shipped()
    states = states_of(STATES, CFR.payload)
    assert CFR.payload == solution.payload
    assert solution.iterations == 10_000
    assert exploitability(STATES, states) == pytest.approx(solution.exploitability, rel=1e-6)
    assert solution.exploitability < 1e-5 < 1e-4
    assert solution.nash_conv == 2 * solution.exploitability
    assert hand_value(STATES, states, states) == pytest.approx(
        GOLDEN["value_of_player_0"], abs=1e-6
    )
    assert CFR.provenance["iterations"] == 10_000
    assert CFR.provenance["exploitability_chips_per_hand"] == solution.exploitability
    assert str(CFR.provenance["engine"]).startswith("open_spiel ")


def test_cfr_plus_converges_to_the_value_of_the_hand(tmp_path: Path) -> None:
    """A few hundred iterations, through the command; the same command writes the same bytes."""
    files = [tmp_path / "one.json", tmp_path / "folder" / "other.json"]
    for file in files:
        done = CliRunner().invoke(cfr_plus.main, ["--iterations", "300", "--out", str(file)])
        assert done.exit_code == 0 and "300 iterations, NashConv" in done.output
    assert files[0].read_bytes() == files[1].read_bytes()
    solution = unpacked(files[0].read_bytes())
    assert solution.iterations == 300
    assert solution.nash_conv < 0.01
    assert solution.value == pytest.approx(GOLDEN["value_of_player_0"], abs=5e-4)
    states, house = states_of(STATES, solution.payload), states_of(STATES, CFR.payload)
    assert abs(hand_value(STATES, states, house) - GOLDEN["value_of_player_0"]) < solution.nash_conv


def test_a_solution_survives_its_file() -> None:
    solution = replace(shipped(), iterations=3)
    assert unpacked(packed(solution)) == solution
    for broken in (b"", b"\xff", b"[]", b"{}", packed(solution)[:-40]):
        with pytest.raises(ValueError, match="not the bytes of a solved hand"):
            unpacked(broken)
