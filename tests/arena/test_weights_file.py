"""Files of weights: nothing but sound ones gets in, and each becomes one payload."""

from __future__ import annotations

import base64
import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from arena import Arena
from arena.cli import main
from arena.enrol import Enrolled
from arena.games import GAMES
from arena.kinds.exact_network import UNIT
from arena.kinds.host import host_policy
from arena.kinds.neural import (
    KIND,
    architecture_of,
    file_of,
    network_of,
    payload_of,
    weights_of,
)
from arena.kinds.weights_file import MOST_BYTES, WeightsFile, read, written
from arena.rejection import Rejection
from tests.arena.networks import random_file, random_payload

RRPS, LEDUC = GAMES["rrps"], GAMES["leduc"]


def corrupted(file: bytes, **changes: Any) -> bytes:
    """The same file with another header entry."""
    length = int.from_bytes(file[:8], "little")
    header = json.loads(file[8 : 8 + length])
    for name, change in changes.items():
        name = name.replace("__", ".")
        if change is None:
            header.pop(name)
        else:
            header[name] = {**header.get(name, {}), **change}
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + file[8 + length :]


def with_array(name: str, array: Any) -> bytes:
    file = read(random_file(RRPS, 1))
    return written(WeightsFile(file.header, {**file.arrays, name: array}))


def with_hidden(hidden: str) -> bytes:
    file = read(random_file(RRPS, 1))
    return written(WeightsFile({**file.header, "hidden": hidden}, file.arrays))


GOOD = random_file(RRPS, 1)
HOSTILE = "\ud800\x1b[2J\n"
BAD = {
    "empty": (b"", "header"),
    "cut off": (GOOD[:-1], "bytes"),
    "longer": (GOOD + b"x", "follow the last"),
    "no header": (b"\xff" * 64, "header"),
    "header no JSON": ((4).to_bytes(8, "little") + b"{{{{", "not JSON"),
    "header nested": ((9000).to_bytes(8, "little") + b"[" * 9000, "not JSON"),
    "header a list": ((2).to_bytes(8, "little") + b"[]", "not a JSON object"),
    "a pickle": (b"\x80\x04\x95" + bytes(80), "header"),
    "type": (corrupted(GOOD, policy__bias={"dtype": "F64"}), "I16 or F32"),
    "shape": (corrupted(GOOD, policy__bias={"shape": [4]}), "should have"),
    "negative shape": (corrupted(GOOD, policy__bias={"shape": [-3]}), "whole numbers"),
    "huge shape": (corrupted(GOOD, policy__bias={"shape": [10**30]}), "whole numbers"),
    "overlap": (corrupted(GOOD, policy__bias={"data_offsets": [0, 12]}), "in none of them, or in"),
    "missing": (corrupted(GOOD, policy__bias=None), "in none of them, or in|follow"),
    "not a number": (with_array("policy.bias", np.full(3, np.nan, "<f4")), "not finite"),
    "infinite": (with_array("policy.bias", np.full(3, np.inf, "<f4")), "not finite"),
    "large": (with_array("policy.bias", np.full(3, 8.0, "<f4")), "below 8"),
    "least": (with_array("policy.bias", np.full(3, -32768, "<i2")), "-32767"),
    "another shape": (with_array("policy.bias", np.zeros(4, "<f4")), "must be"),
    "one too many": (with_array("value.bias", np.zeros(1, "<f4")), "too many"),
    "hostile name": (with_array(HOSTILE, np.zeros(1, "<f4")), r"arrays '\\ud800\\x1b\[2J\\n'"),
    "hostile name, cut": (
        corrupted(with_array(HOSTILE, np.zeros(1, "<f4")), **{HOSTILE: {"shape": [2]}}),
        r"'\\ud800\\x1b\[2J\\n' should have",
    ),
    "too slow": (with_hidden("1,1,1,700"), "3,922,808 multiplications; 1,048,576"),
    "another game": (random_file(LEDUC, 1), "game in the file's header"),
    "too large": (bytes(MOST_BYTES + 1), "allowed"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_file_is_refused_with_a_reason(what: str) -> None:
    data, reason = BAD[what]
    with pytest.raises(ValueError, match=reason) as refused:
        payload_of(RRPS, data)
    assert str(refused.value).isprintable()  # a terminal is not to obey it, and UTF-8 has it


@pytest.mark.parametrize(
    "hidden", ["", "8", "16,-8", "16,2048", "1,1,1,1,1", "0,8", "16,8,", "٣,8", "16,8;"]
)
def test_a_header_must_say_what_the_arrays_are(hidden: str) -> None:
    with pytest.raises(ValueError):
        payload_of(RRPS, with_hidden(hidden))


def test_every_flipped_byte_of_a_header_is_refused_or_harmless() -> None:
    """Nothing but a `ValueError` comes of a file that was altered at random."""
    rng = np.random.default_rng(8)
    length = 8 + int.from_bytes(GOOD[:8], "little")
    refused = 0
    for _ in range(400):
        data = bytearray(GOOD)
        data[rng.integers(length)] ^= 1 << rng.integers(8)
        try:
            payload_of(RRPS, bytes(data))
        except ValueError:
            refused += 1
    assert refused > 300


def test_a_payload_is_canonical_and_holds_its_file() -> None:
    """Weights as numbers, and the units they are rounded to, are one version."""
    payload = payload_of(RRPS, GOOD)
    assert payload_of(RRPS, file_of(payload)) == payload
    file = read(file_of(payload))
    reordered = dict(reversed(list(file.arrays.items())))
    assert payload_of(RRPS, written(WeightsFile(file.header, reordered))) == payload
    architecture, arrays = weights_of(RRPS, payload)
    assert architecture == architecture_of(RRPS, (16, 8))
    assert payload_of(RRPS, with_hidden("016,08")) == payload
    given = read(GOOD).arrays["core.weight"]
    assert np.abs(arrays["core.weight"] - given).max() <= UNIT / 2


def test_networks_are_kept_ready_but_not_many_and_not_their_text() -> None:
    """A process that plays hundreds of networks keeps a few."""
    texts = [random_payload(RRPS, seed, (256, 128)) for seed in range(20)]
    first = network_of(RRPS, texts[0])
    assert network_of(RRPS, "".join(texts[0])) is first
    tracemalloc.start()
    for text in texts:
        network_of(RRPS, text)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 10 * 8 * architecture_of(RRPS, (256, 128)).products


@pytest.mark.parametrize(
    "payload",
    [
        '{"safetensors":1}',
        '{"safetensors":"?"}',
        '{"safetensors":"ABCD"}',
        '{"safetensors":"","x":1}',
        json.dumps({"safetensors": base64.b64encode(GOOD).decode()}),
    ],
)
def test_a_bad_payload_is_not_played(payload: str) -> None:
    """Not even a sound file whose weights were not rounded: its sums would not be exact."""
    with pytest.raises(ValueError):
        host_policy(RRPS, KIND, payload, 1)


def test_the_safetensors_library_reads_and_writes_the_same_files() -> None:
    if not os.environ.get("ARENA_REQUIRE_RL"):
        pytest.importorskip("safetensors", reason="safetensors is not installed (make setup-rl)")
    from safetensors import numpy as library

    theirs = library.load(GOOD)
    ours = read(GOOD)
    assert {name: array.tolist() for name, array in theirs.items()} == {
        name: array.tolist() for name, array in ours.arrays.items()
    }
    again = library.save(dict(theirs), metadata=dict(ours.header))
    assert payload_of(RRPS, again) == payload_of(RRPS, GOOD)


def test_a_file_is_handed_in_like_a_program(home: Path, tmp_path: Path) -> None:
    """By the command, and a bad one is a rejection that leaves nothing behind."""

    def arena_command(*words: str) -> Any:
        return CliRunner().invoke(main, [*words, "--home", str(home)])

    good, bad = tmp_path / "net.safetensors", tmp_path / "bad.safetensors"
    good.write_bytes(GOOD)
    bad.write_bytes(GOOD[:-1])
    hostile = tmp_path / "hostile.safetensors"
    hostile.write_bytes(BAD["hostile name"][0])
    told = ["--game", "rrps", "--name", "ada/net"]
    refused = arena_command("submit", str(bad), *told)
    assert refused.exit_code == 1 and "bad-weights" in refused.output
    refused = arena_command("submit", str(hostile), *told, "--json")
    assert refused.exit_code == 1 and "bad-weights" in refused.output
    assert arena_command("submit", str(tmp_path / "no.safetensors"), *told).exit_code == 1
    assert "ada/net" not in arena_command("list", "--game", "rrps").output
    assert arena_command("check", str(good), "--game", "rrps").exit_code == 0
    taken = arena_command("submit", str(good), *told)
    assert taken.exit_code == 0, taken.output
    assert "ada/net@1" in arena_command("list", "--kind", "neural").output
    shown = arena_command("show", "ada/net", "--game", "rrps", "--source").output
    assert "LSTM 8" in shown and "safetensors" not in shown
    with Arena(home) as arena:
        assert isinstance(arena.submit(GOOD, "rrps", "bob/same"), Enrolled)
        assert isinstance(arena.submit(GOOD, "leduc", "bob/other"), Rejection)
        assert isinstance(arena.submit(GOOD, "kuhn", "bob/other"), Rejection)
