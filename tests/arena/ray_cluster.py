"""A real Ray cluster on this machine: a head that plays nothing, and nodes with a core each."""

from __future__ import annotations

import logging
import os
import signal
import time
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import ray
from ray.cluster_utils import Cluster


@contextmanager
def ray_cluster(nodes=2):
    """Starts it, and ends it however the caller ends."""
    logging.getLogger("ray").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray's own
        cluster = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
        )
        try:
            for _ in range(nodes):
                cluster.add_node(num_cpus=1)
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()


def kill(cluster, node):
    """Kills all processes of a node without a word.

    In the order that can do most harm: a policy's own first, when its worker can still tell.
    """
    generations = [{info.process.pid for infos in node.all_processes.values() for info in infos}]
    parents = _parents()
    while more := {pid for pid, parent in parents.items() if parent in generations[-1]}:
        generations.append(more)
    for generation in reversed(generations):
        for pid in generation:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    cluster.remove_node(node, allow_graceful=False)


def _parents():
    """The parent of every process."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            found[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    return found
