"""Boxes share the cores of a machine out among themselves, and again when some have ended."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.cores import CoreLease

FOLDER = f"policy-arena-{os.getuid()}-cores"


@pytest.fixture(autouse=True)
def nobody_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def have(monkeypatch: pytest.MonkeyPatch, *cores: int) -> None:
    monkeypatch.setattr("sandbox.cores.os.sched_getaffinity", lambda process: set(cores))


def test_boxes_share_the_cores_out_evenly() -> None:
    """However many there are: an idle box must not make two busy ones share a core."""
    cores = sorted(os.sched_getaffinity(0))
    leases = [CoreLease() for _ in range(3 * len(cores))]
    held = [(lease.place, lease.core) for lease in leases]
    if len(cores) == 1:
        assert held == [(None, None)] * 3, "there is no choice"
        return
    assert held == [(place, core) for place in range(3) for core in cores]
    leases[1].close()
    leases[1].close()
    assert leases[1].place is None
    late = CoreLease()
    assert (late.place, late.core) == held[1], "a core that was let go is taken first"
    for lease in (*leases, late):
        lease.close()


def test_who_shares_a_core_that_is_told_takes_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    have(monkeypatch, 3, 5)
    first, beside = CoreLease(), CoreLease(3)
    assert (first.core, beside.core, beside.place) == (3, 3, None)
    second = CoreLease()
    third = CoreLease()
    assert (second.core, third.core, third.place) == (5, 3, 1)
    assert not beside.is_crowded
    for lease in (first, beside, second, third):
        lease.close()


def test_a_core_that_nobody_has_is_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    have(monkeypatch, 3, 5)
    lease = CoreLease(4)
    assert (lease.core, lease.place) == (3, 0)
    lease.close()


def test_a_place_that_was_let_go_does_not_make_a_full_core_an_empty_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The lowest place that is free may be on the core that the most hold."""
    have(monkeypatch, 0, 1)
    leases = [CoreLease() for _ in range(6)]  # three on each
    for gone in (0, 1, 3, 5):  # two on core 0, none on core 1
        leases[gone].close()
    late = CoreLease()
    assert late.core == 1
    for lease in (*leases, late):
        lease.close()


def test_a_box_that_shares_learns_that_a_core_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    have(monkeypatch, 0, 1)
    early = [CoreLease(), CoreLease()]
    late = CoreLease()
    assert late.core == 0
    assert not late.is_crowded, "it would share the other one as well"
    early[1].close()
    assert late.is_crowded
    assert early[0].is_crowded, "either may go, and whoever goes first leaves the other its core"
    late.close()
    assert not early[0].is_crowded
    assert not late.is_crowded, "it has none any more"
    late = CoreLease()
    assert late.core == 1
    assert not any(lease.is_crowded for lease in (early[0], late))
    early[0].close()
    late.close()


@settings(deadline=None, max_examples=50)
@given(st.data(), st.integers(1, 4), st.integers(0, 9))
def test_whoever_leaves_a_crowd_ends_it(data: st.DataObject, cores: int, boxes: int) -> None:
    """After everybody has moved who would have more of another core, all have equal shares."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(tempfile, "tempdir", folder)
        have(patch, *range(cores))
        leases = [CoreLease() for _ in range(boxes)]
        stay = data.draw(st.lists(st.booleans(), min_size=boxes, max_size=boxes))
        for lease, stays in zip(leases, stay, strict=True):
            if not stays:
                lease.close()
        left = [lease for lease, stays in zip(leases, stay, strict=True) if stays]
        for number, lease in enumerate(left):
            if lease.is_crowded:
                lease.close()
                left[number] = CoreLease()
        shares = [sum(lease.core == core for lease in left) for core in range(cores)]
        for lease in left:
            lease.close()
    assert cores == 1 or max(shares) - min(shares) <= 1


def test_a_file_of_somebody_else_is_no_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    have(monkeypatch, 0, 1)
    first = CoreLease()
    first.close()
    (lock,) = (tmp_path / FOLDER).iterdir()
    lock.unlink()
    lock.symlink_to(tmp_path / "elsewhere")
    lock.with_name("1-0.lock").mkdir()
    os.mkfifo(lock.with_name("1-1.lock"))  # who opened it to read would wait for ever
    leases = [CoreLease(), CoreLease(), CoreLease()]
    assert [(lease.core, lease.place) for lease in leases] == [(0, 1), (1, 1), (0, 2)]
    assert not (tmp_path / "elsewhere").exists()
    for lease in leases:
        lease.close()


def test_a_folder_of_somebody_else_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    have(monkeypatch, 0, 1)
    (tmp_path / "theirs").mkdir()
    (tmp_path / FOLDER).symlink_to(tmp_path / "theirs")
    lease = CoreLease()
    assert lease.core in (0, 1) and lease.place is None
    assert not list((tmp_path / "theirs").iterdir())


def test_a_file_that_was_tidied_away_hides_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    have(monkeypatch, 0, 1)
    leases = [CoreLease() for _ in range(4)]
    leases[0].close()
    (tmp_path / FOLDER / "0-0.lock").unlink()
    leases[3].close()
    assert leases[2].core == 0 and not leases[2].is_crowded
    leases[1].close()
    late = [CoreLease(), CoreLease()]
    assert [lease.core for lease in late] == [1, 0], "who holds core 0 is counted"
    for lease in (leases[2], *late):
        lease.close()


_TAKES = """
import os, sys, tempfile, time
tempfile.tempdir = sys.argv[1]
cores = set(range(int(sys.argv[2])))
os.sched_getaffinity = lambda process: cores
from sandbox.cores import CoreLease
print("ready", flush=True)
sys.stdin.readline()
lease = CoreLease()
print(lease.core, lease.place, flush=True)
sys.stdin.readline()
"""


def test_boxes_that_come_at_once_have_a_core_each(tmp_path: Path) -> None:
    """As all of a program's workers do; each sees the same cores free."""
    command = [sys.executable, "-c", _TAKES, str(tmp_path), "24"]
    boxes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(24)
    ]
    try:
        said = [_line(box) for box in boxes]
        for box in boxes:
            _go_on(box)
        taken = [tuple(_line(box).split()) for box in boxes]
    finally:
        for box in boxes:
            with suppress(BrokenPipeError):
                _go_on(box)
            box.communicate()
    assert said == ["ready"] * 24
    assert "None" not in {place for _, place in taken}, "each is counted"
    held = Counter(core for core, _ in taken)
    assert len(held) >= 20 and max(held.values()) <= 2, held  # a look may be in the way of one


def _line(box: subprocess.Popen[str]) -> str:
    assert box.stdout is not None
    return box.stdout.readline().strip()


def _go_on(box: subprocess.Popen[str]) -> None:
    assert box.stdin is not None
    box.stdin.write("\n")
    box.stdin.flush()


def test_where_nothing_can_be_locked_a_core_is_drawn(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    have(monkeypatch, 0, 1)
    (tmp_path / FOLDER).write_text("no folder")
    drawn = {CoreLease().core for _ in range(40)}
    assert drawn == {0, 1}
    assert not CoreLease().is_crowded
