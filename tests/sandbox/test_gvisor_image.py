"""The image of gVisor's boxes: what is built, what is never run, and what one is told.

These skip where gVisor is not installed, and fail there instead with
ARENA_TEST_REQUIRE_GVISOR=1.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox import gvisor_image
from sandbox.errors import SandboxUnavailable
from sandbox.gvisor import GVisorWall, main
from sandbox.gvisor_containers import ours

pytestmark = [pytest.mark.gvisor, pytest.mark.usefixtures("gvisor")]


def test_an_image_of_other_files_is_never_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in gvisor_image.box_files():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "referee.py").write_text("print('another box')\n")
    monkeypatch.setattr(gvisor_image, "BOX_FOLDER", tmp_path)
    assert gvisor_image.image_state() == "stale"
    with pytest.raises(SandboxUnavailable, match=r"python -m sandbox\.gvisor build"):
        GVisorWall()


def test_a_box_that_does_not_start_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    others = ours()
    monkeypatch.setattr("sandbox.gvisor.require_image", lambda: "policy-arena-box:absent")
    with pytest.raises(SandboxUnavailable, match=r"python -m sandbox\.gvisor build"):
        GVisorWall()
    assert ours() == others


def test_a_daemon_that_is_not_there_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    with pytest.raises(SandboxUnavailable, match="start the daemon"):
        GVisorWall()


def test_the_build_command_prints_the_tag(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build"]) == 0
    assert capsys.readouterr().out.strip() == gvisor_image.image_tag()
    assert main(["build", "--base", "no-such-base:0"]) == 1
    assert "no-such-base" in capsys.readouterr().err


def test_an_image_that_is_there_is_not_built_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--if-missing", "--base", "no-such-base:0"]) == 0
    assert capsys.readouterr().out.strip() == gvisor_image.image_tag()
