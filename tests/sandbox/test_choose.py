"""Which wall opens, and which never does."""

from __future__ import annotations

import sys

import pytest

import sandbox.choose
from sandbox.choose import WallChoice, open_wall
from sandbox.errors import SandboxRefused, SandboxUnavailable
from sandbox.process import ProcessWall
from sandbox.self_check import ATTACKS, Finding, contained


def refuse(core: int | None) -> ProcessWall:
    raise SandboxUnavailable("no such thing on this machine")


def test_auto_says_what_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox.choose, "_gvisor", refuse)
    monkeypatch.setattr(sandbox.choose, "_rootless", refuse)
    wall = open_wall()
    assert wall.name.startswith("process")
    wall.close()


def test_required_gvisor_is_never_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox.choose, "_gvisor", refuse)
    monkeypatch.setattr(sandbox.choose, "_rootless", refuse)
    with pytest.raises(SandboxRefused, match="gVisor is required") as refused:
        open_wall(WallChoice(require_gvisor=True))
    assert "no such thing on this machine" in str(refused.value)
    with pytest.raises(SandboxRefused, match="will not do"):
        open_wall(WallChoice("process", require_gvisor=True))


def test_the_one_that_was_asked_for_is_never_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox.choose, "_gvisor", refuse)
    with pytest.raises(SandboxUnavailable, match="no such thing"):
        open_wall(WallChoice("gvisor"))


def test_a_wall_that_fails_its_self_check_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox.choose, "_gvisor", refuse)
    monkeypatch.setattr(sandbox.choose, "_rootless", refuse)
    leak = (Finding("reads a file", contained=False, detail="reached its goal"),)
    monkeypatch.setattr(sandbox.choose, "self_check", lambda wall, secret: leak)
    with pytest.raises(SandboxRefused, match="reads a file"):
        open_wall()


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="auto, gvisor"):
        WallChoice("chroot")


def test_a_platform_without_seals_is_refused_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SandboxRefused, match="no seccomp on darwin"):
        ProcessWall()


def test_unsealed_is_never_called_anything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox.choose, "_gvisor", refuse)
    monkeypatch.setattr(sandbox.choose, "_rootless", refuse)
    monkeypatch.setattr("sandbox.box.seal.why_not", lambda: "there is no seccomp here")
    with pytest.raises(SandboxRefused, match="no seccomp here"):
        open_wall()
    wall = open_wall(WallChoice(allow_unsealed=True))
    assert wall.name.startswith("unsealed")
    assert isinstance(wall, ProcessWall)
    assert "seccomp" not in wall.link.ready["seal"]
    wall.close()


def test_the_self_check_covers_the_families() -> None:
    assert len(ATTACKS) >= 8
    assert contained(())
