"""A Ray cluster: the same matches as on one machine, whatever becomes of its nodes."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

import arena.executors.cluster as cluster_module
from arena.cli import main
from arena.errors import ClusterUnavailable, WorkerDied
from arena.executors import Workers, open_executor
from arena.executors.software import software
from sandbox.errors import SandboxRefused, SandboxUnavailable
from tests.arena.neighbours import Neighbours
from tests.arena.ray_cluster import kill, ray_cluster
from tests.arena.test_play import CRASHES, RANDOM, registered, table_of

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class WhereItMay:
    """Plays on machines that have a wall which holds."""

    def run(self, chunk):
        if "BOXES_BREAK_HERE" in os.environ:
            raise SandboxUnavailable("the box broke")
        if "NO_WALL_HERE" in os.environ:
            raise SandboxRefused("no wall passed its self-check")
        time.sleep(0.05)
        return chunk

    def close(self):
        pass


def some_matches(arena):
    registered(arena, "me/random", RANDOM)
    registered(arena, "me/crashes", CRASHES)
    return arena.play("rrps", 3, only=["me/random", "me/crashes", "house/markov5", "house/rockbot"])


def test_matches_are_those_of_one_machine(cluster, new_arena):
    here, there = new_arena("here"), new_arena("there", workers=Workers(0, cluster.address))
    assert some_matches(there).walls == some_matches(here).walls
    assert table_of(there) == table_of(here)


def test_a_node_that_dies_costs_nothing(cluster, new_arena, caplog):
    here = new_arena("here")
    names = ["me/random", "me/crashes", *(f"house/{bot}" for bot in ("markov5", "rockbot"))]
    doomed, killed = cluster.add_node(num_cpus=1), threading.Event()
    there = new_arena("there", workers=Workers(0, cluster.address))
    for arena in (here, there):
        registered(arena, "me/random", RANDOM)
        registered(arena, "me/crashes", CRASHES)
    here.play("rrps", 24, only=names)

    def progress(done, wanted):
        if done > wanted / 3 and not killed.is_set():
            killed.set()
            kill(cluster, doomed)

    report = there.play("rrps", 24, only=names, progress=progress)
    assert killed.is_set()
    assert "was lost; its chunk is played again" in caplog.text
    assert (report.played, report.left) == (144, 0)
    assert table_of(there) == table_of(here)
    assert len(list(there.matches("rrps", limit=None))) == 144


def test_nothing_of_ray_is_in_the_process_that_plays(cluster):
    """Its threads draw from the random stream of the process, which the engine's bots draw from."""
    executor = open_executor(Workers(0, cluster.address), Neighbours)
    executor.grow(2)
    assert list(executor.run(iter(range(4)))) == [False] * 4
    executor.close()


def test_a_machine_without_a_wall_plays_nothing_that_needs_one(cluster, caplog):
    bare = cluster.add_node(num_cpus=1, env_vars={"NO_WALL_HERE": "1"})
    try:
        executor = open_executor(Workers(0, cluster.address), WhereItMay)
        executor.grow(3)
        deadline = time.monotonic() + 60
        while "plays nothing more" not in caplog.text:
            assert sorted(executor.run(iter(range(20)))) == list(range(20))
            assert time.monotonic() < deadline, "the machine without a wall never came to a chunk"
        assert sorted(executor.run(iter(range(20)))) == list(range(20))
        executor.close()
    finally:
        cluster.remove_node(bare)


def test_where_no_machine_has_a_wall_it_says_so():
    with ray_cluster(nodes=0) as cluster:
        cluster.add_node(num_cpus=2, env_vars={"NO_WALL_HERE": "1"})
        executor = open_executor(Workers(2, cluster.address), WhereItMay)
        executor.grow(2)
        with pytest.raises(SandboxRefused, match="no wall"):
            list(executor.run(iter(range(9))))
        executor.close()


def test_a_machine_whose_boxes_break_ends_nothing(cluster, caplog):
    broken = cluster.add_node(num_cpus=1, env_vars={"BOXES_BREAK_HERE": "1"})
    try:
        executor = open_executor(Workers(0, cluster.address), WhereItMay)
        executor.grow(3)
        deadline = time.monotonic() + 120
        while caplog.text.count("a box broke on") < 3:
            assert sorted(executor.run(iter(range(20)))) == list(range(20))
            assert time.monotonic() < deadline, (
                "the machine whose boxes break never came to a chunk"
            )
        assert executor.size == 3, "it may be well again, and is not left aside"
        executor.close()
    finally:
        cluster.remove_node(broken)


def test_a_chunk_whose_box_broke_waits_for_a_machine_that_may_still_come(monkeypatch):
    with ray_cluster(nodes=1) as cluster:
        executor = open_executor(Workers(0, cluster.address), WhereItMay)
        holder = open_executor(Workers(1, cluster.address), WhereItMay)
        holder.grow(1)
        assert list(holder.run(iter(range(4)))) == list(range(4))
        cluster.add_node(num_cpus=1, env_vars={"BOXES_BREAK_HERE": "1"})
        executor.grow(2)

        def chunks():  # the first is asked for when the worker whose boxes break is there
            monkeypatch.setattr(cluster_module, "NO_WORKER_SECONDS", 2.0)
            yield from range(4)

        with pytest.raises(WorkerDied, match=r"its box broke 3 times(.|\n)* on .*: the box broke"):
            list(executor.run(chunks()))
        monkeypatch.setattr(cluster_module, "NO_WORKER_SECONDS", 600.0)
        late = threading.Timer(3.0, holder.close)
        late.start()
        assert sorted(executor.run(iter(range(9)))) == list(range(9))
        late.join()
        executor.close()


def test_other_software_is_refused(cluster, monkeypatch):
    monkeypatch.setattr(cluster_module, "software", lambda: "Python 2.7")
    executor = open_executor(Workers(1, cluster.address), WhereItMay)
    executor.grow(1)
    with pytest.raises(ClusterUnavailable, match=r"there: Python 3.*\n.*here: +Python 2\.7"):
        list(executor.run(iter(range(9))))
    executor.close()


def test_software_is_told_apart_by_its_code(tmp_path):
    for package in ("arena", "registry", "sandbox"):
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    told = [_software_in(tmp_path)]
    with (tmp_path / "arena/values.py").open("a") as file:
        file.write("# of another version\n")
    told.append(_software_in(tmp_path))
    assert told[0] == software()
    assert told[1] != told[0]


def _software_in(folder):
    program = "from arena.executors.software import software; print(software())"
    return subprocess.check_output([sys.executable, "-c", program], cwd=folder, text=True).strip()


def test_a_cluster_that_is_full_is_given_up(monkeypatch):
    with ray_cluster(nodes=1) as cluster:
        first = open_executor(Workers(0, cluster.address), WhereItMay)
        first.grow(1)
        assert list(first.run(iter(range(4)))) == list(range(4))
        monkeypatch.setattr(cluster_module, "NO_WORKER_SECONDS", 2.0)
        late = open_executor(Workers(1, cluster.address), WhereItMay)
        late.grow(1)
        with pytest.raises(ClusterUnavailable, match="none of 1 workers started"):
            list(late.run(iter(range(4))))
        with pytest.raises(ClusterUnavailable, match="is connected to the Ray cluster"):
            open_executor(Workers(1, "127.0.0.1:1"), WhereItMay)
        late.close()
        first.close()


def test_the_command_line_plays_there(cluster, home):
    words = ["play", "--game", "kuhn", "--matches", "2", "--home", str(home), "--json"]
    there = ["--executor", "ray", "--address", cluster.address, "--sandbox", "process"]
    played = CliRunner().invoke(main, [*words, *there])
    assert played.exit_code == 0, played.output
    assert json.loads(played.stdout)["played"] > 0


def test_the_machines_choose_their_wall_and_not_the_driver(cluster, new_arena, monkeypatch):
    def no_wall(choice=None):
        raise SandboxRefused("the driver has none")

    monkeypatch.setattr("arena.runner.open_settled", no_wall)
    there = new_arena("there", workers=Workers(0, cluster.address))
    assert "each machine" in there.wall
    registered(there, "me/random", RANDOM)
    report = there.play("rrps", 4, only=["me/random", "house/rockbot"])
    assert report.played == 4


def test_an_address_without_a_cluster_is_refused():
    refused = CliRunner().invoke(main, ["play", "--game", "kuhn", "--address", "somewhere:1"])
    assert refused.exit_code == 2
    assert "add --executor ray" in refused.stderr
