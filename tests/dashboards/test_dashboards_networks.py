"""The pages of a network: facts instead of a source, and its file to take home."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from arena import Arena, game
from arena.submission import Rejection, prepare
from registry.values import Submission
from tests.arena.networks import random_file

CURVE = [[1280, -3.5, 4.2, 64], [2560, 870.25, 9.1, 64]]


def test_a_networks_page_tells_what_it_is_and_how_it_learned(
    page: Callable[..., AppTest], home_copy: Path
) -> None:
    prepared = prepare(
        game("rrps"),
        random_file(game("rrps"), 1),
        name="ada/net",
        provenance={"decisions": 2560, "training": {"unroll": 20}, "returns": CURVE},
    )
    assert isinstance(prepared, Submission)
    with Arena(home_copy, sandbox="process", workers=1) as arena:
        assert not isinstance(arena.enter("rrps", [prepared])[0], Rejection)
    app = page(home_copy, "policy", policy="ada/net@1", part="Source")
    assert not app.exception
    told = "\n".join(str(one.value) for one in app.code)
    assert "layers 6-16-8, LSTM 8, 3 actions" in told
    assert "870.2 ± 9.1" in told and "2,560 decisions" in told
    assert "safetensors" not in told
