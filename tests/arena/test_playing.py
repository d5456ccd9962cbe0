"""What is being played is told to other processes, for as long as somebody plays it."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena import Arena
from arena.playing import FOLDER, Playing, announced, now_playing
from arena.tally import silent

HOLDER = """
import sys, time
from pathlib import Path
from arena.playing import announced
with announced(Path(sys.argv[1]), "kuhn", 10, lambda done, of: None):
    print("playing", flush=True)
    time.sleep(60)
"""


def test_progress_is_told_and_passed_on(tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []
    with announced(tmp_path, "kuhn", 8, lambda done, of: heard.append((done, of))) as tell:
        assert now_playing(tmp_path, "kuhn") == [Playing("kuhn", 0, 8, 0.0)]
        assert now_playing(tmp_path, "leduc") == []
        tell(3, 8)
        with announced(tmp_path, "kuhn", 2, silent):
            assert sorted(one.wanted for one in now_playing(tmp_path, "kuhn")) == [2, 8]
    assert heard == [(3, 8)]
    assert now_playing(tmp_path, "kuhn") == []
    assert not (tmp_path / FOLDER).exists()


def test_how_far_it_is_is_written_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.playing.WRITE_SECONDS", 0.0)
    with announced(tmp_path, "kuhn", 1_000, silent) as tell:
        for done in (999, 5):  # the second text is shorter
            tell(done, 1_000)
            (one,) = now_playing(tmp_path, "kuhn")
            assert one.done == done
            assert one.rate > 0
            assert one.left_seconds == pytest.approx((1_000 - done) / one.rate)


def test_who_was_killed_plays_no_more(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "playing\n"
        assert len(now_playing(tmp_path, "kuhn")) == 1
        holder.send_signal(signal.SIGKILL)
    assert len(list((tmp_path / FOLDER).iterdir())) == 1
    assert now_playing(tmp_path, "kuhn") == []
    with announced(tmp_path, "kuhn", 1, silent):  # clears away what was left behind
        assert len(list((tmp_path / FOLDER).iterdir())) == 1
    assert not (tmp_path / FOLDER).exists()


def test_a_folder_that_takes_no_file_keeps_nobody_from_playing(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("in its place")
    heard: list[int] = []
    with announced(tmp_path, "kuhn", 1, lambda done, of: heard.append(done)) as tell:
        tell(1, 1)
    assert heard == [1]


def test_a_round_robin_can_be_watched(house: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(house, home)
    seen: list[Playing] = []
    with Arena(home, sandbox="process", workers=1) as arena:
        arena.play("leduc", 2, progress=lambda done, of: seen.extend(now_playing(home, "leduc")))
    assert seen and seen[0].wanted >= 6
    assert now_playing(home, "leduc") == []
