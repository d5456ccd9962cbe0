"""The machine side of the gVisor walls, as far as it can be tested without Docker or runsc."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sandbox
from sandbox import gvisor_image
from sandbox.errors import SandboxUnavailable
from sandbox.gvisor_containers import ContainerLimits, new_name, run_command
from sandbox.gvisor_docker import Runtime, ask_docker, default_platform, explain, runsc_version
from sandbox.gvisor_owner import Owner
from sandbox.gvisor_probe import State, probe_gvisor, probe_rootless
from sandbox.link import BOX_FOLDER
from sandbox.rootless import RootlessWall
from sandbox.rootless_bundle import write_bundle

SANDBOX = Path(sandbox.__file__).resolve().parent
PROJECT = SANDBOX.parent


def test_owner_survives_its_text() -> None:
    owner = Owner.current()
    assert Owner.parse(owner.text()) == owner
    assert not owner.is_certainly_gone()


@pytest.mark.parametrize("text", ["", "7", "[]", '{"process": 1}', "not json"])
def test_what_is_no_owner_is_nobody(text: str) -> None:
    assert Owner.parse(text) is None


def test_owner_is_gone_when_its_process_is() -> None:
    question = "from sandbox.gvisor_owner import Owner; print(Owner.current().text(), flush=True)"
    child = subprocess.Popen(
        [sys.executable, "-c", question + "; input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
    )
    assert child.stdin is not None and child.stdout is not None
    with child.stdin, child.stdout:
        owner = Owner.parse(child.stdout.readline())
        assert owner is not None
        assert not owner.is_certainly_gone()
        child.kill()
        # A process that was killed and not yet waited for is a zombie, which owns nothing.
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert owner.is_certainly_gone()
        child.wait()
        assert owner.is_certainly_gone()


def test_same_number_of_another_process_is_another_owner() -> None:
    current = Owner.current()
    earlier = Owner(
        current.machine, current.boot, current.namespace, current.process, current.started + "0"
    )
    assert earlier.is_certainly_gone()


def test_owner_on_another_machine_is_left_alone() -> None:
    current = Owner.current()
    elsewhere = Owner("elsewhere", "another boot", current.namespace, 1, "1")
    assert not elsewhere.is_certainly_gone()


def test_image_is_named_by_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = gvisor_image.image_tag()
    copy = tmp_path / "box"
    copy.mkdir()
    for path in gvisor_image.box_files():
        (copy / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(gvisor_image, "BOX_FOLDER", copy)
    assert gvisor_image.image_tag() == before
    (copy / "referee.py").write_text((copy / "referee.py").read_text() + "# changed\n")
    changed = gvisor_image.image_tag()
    assert changed != before
    (copy / "referee.py").rename(copy / "judge.py")
    assert gvisor_image.image_tag() not in (before, changed)


def test_numpy_is_pinned_as_in_the_lock() -> None:
    """Both sides of the wall must draw the same numbers."""
    pinned = (SANDBOX / "gvisor_requirements.txt").read_text()
    lock = (PROJECT / "requirements.lock").read_text()
    entry = re.compile(
        r"^(numpy==\S+) .*\\\n((?:    --hash=sha256:[0-9a-f]{64}.*\n)+)", re.MULTILINE
    )
    ((name, hashes),) = entry.findall(pinned)
    locked = dict(entry.findall(lock))
    assert set(hashes.split()) - {"\\"} == set(locked[name].split()) - {"\\"}


def test_container_has_nothing_that_it_does_not_need() -> None:
    command = run_command("name", "image:tag", ContainerLimits(memory_mib=300), "python3", ["x"])
    joined = " ".join(command)
    for flags in (
        "--runtime runsc",
        "--network none",
        "--ipc none",
        "--read-only",
        "--cap-drop ALL",
        "--security-opt no-new-privileges",
        "--memory 300m --memory-swap 300m",
        "--pull never",
        "--rm",
        "--log-driver none",
    ):
        assert flags in joined
    assert command[-2:] == ["image:tag", "x"]
    added = [command[at + 1] for at, word in enumerate(command) if word == "--cap-add"]
    assert sorted(added) == ["KILL", "SETGID", "SETUID", "SYS_CHROOT"]
    assert not {"--volume", "-v", "--mount", "--privileged", "--device", "--tmpfs"} & set(command)
    assert "--cpuset-cpus" not in command
    assert new_name() != new_name()


def test_a_box_may_not_take_its_whole_machine() -> None:
    small = Runtime("runsc", (), "unknown", "unknown", machine_cpus=1, machine_memory_mib=1000)
    assert ContainerLimits(memory_mib=4096, cpus=2.0).on(small) == ContainerLimits(750, 1.0)
    assert ContainerLimits(memory_mib=512, cpus=0.5).on(small) == ContainerLimits(512, 0.5)


def test_policies_leave_room_for_gvisor_itself() -> None:
    assert ContainerLimits(4096).policies_mib == 2867
    assert ContainerLimits(1500).policies_mib == 732
    assert ContainerLimits(700).policies_mib == 175


@pytest.mark.parametrize(
    ("message", "remedy"),
    [
        ("Cannot connect to the Docker daemon at x. Is the docker daemon running?", "start the"),
        ("permission denied while trying to connect to the docker.sock", "group 'docker'"),
        ("unknown or invalid runtime name: runsc", "not registered"),
        ("Unable to find image 'x' locally", "sandbox.gvisor build"),
        ("something new", "arena doctor"),
        ("", "gave no reason"),
    ],
)
def test_every_error_of_docker_comes_with_a_remedy(message: str, remedy: str) -> None:
    assert remedy in explain("run", message)


def test_without_docker_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxUnavailable, match=r"prepare_debian\.sh"):
        ask_docker("version")
    with pytest.raises(SandboxUnavailable, match=r"prepare_debian\.sh"):
        RootlessWall()
    (finding,) = probe_gvisor()
    assert finding.state is State.MISSING
    assert probe_rootless().state is State.MISSING


def _put_program(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_docker_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _put_program(tmp_path, "docker", "exec sleep 60")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(SandboxUnavailable, match="did not answer within"):
        ask_docker("version", seconds=0.2)


def test_a_daemon_without_the_runtime_is_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _put_program(tmp_path, "docker", """echo '{"runc": {}}'; echo 2; echo; echo 1000000000""")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    findings = probe_gvisor()
    assert findings[-1].name == "runtime runsc"
    assert findings[-1].state is State.MISSING
    assert "it knows runc" in findings[-1].detail


def test_release_and_platform_of_runsc(tmp_path: Path) -> None:
    debian = _put_program(tmp_path, "debian", "echo 'runsc version 0.0~20240729.0'")
    google = _put_program(tmp_path, "google", "echo 'runsc version release-20250113.0'")
    broken = _put_program(tmp_path, "broken", "exit 3")
    assert runsc_version(str(debian)) == "20240729.0"
    assert runsc_version(str(google)) == "20250113.0"
    assert runsc_version(str(broken)) == "unknown"
    assert runsc_version(str(tmp_path / "absent")) == "unknown"
    assert default_platform("20240729.0") == "systrap"
    assert default_platform("20221219.0") == "ptrace"
    assert default_platform("unknown") == "unknown"


def test_rootless_bundle_shows_neither_homes_nor_the_project(tmp_path: Path) -> None:
    write_bundle(tmp_path)
    specification = json.loads((tmp_path / "config.json").read_text())
    assert specification["root"] == {"path": "rootfs", "readonly": True}
    mounts = {mount["destination"]: mount for mount in specification["mounts"]}
    prefix = Path(sys.base_prefix).resolve()
    for destination, mount in mounts.items():
        if destination == "/proc":
            continue
        assert "ro" in mount["options"]
        source = Path(mount["source"])
        for private in (Path.home(), PROJECT, Path("/etc"), Path("/tmp")):
            assert source != private
            assert not private.is_relative_to(source) or prefix.is_relative_to(source)
    assert mounts["/opt/box"]["source"] == str(BOX_FOLDER)
    assert {type_["type"] for type_ in specification["linux"]["namespaces"]} >= {"pid", "network"}


def test_preparation_script_is_sound_and_says_how_to_undo() -> None:
    script = SANDBOX / "prepare_debian.sh"
    subprocess.run(["sh", "-n", str(script)], check=True)
    hints = subprocess.run(
        ["sh", str(script), "--undo"], check=True, capture_output=True, text=True
    ).stdout
    for thing in ("packages", "source", "runtime", "daemon", "images"):
        assert f"  {thing} " in hints
    wrong = subprocess.run(["sh", str(script), "--wrong"], capture_output=True, text=True)
    assert wrong.returncode == 1
    assert "--no-image" in wrong.stderr
