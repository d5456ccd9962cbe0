"""What tests of the arena share."""

import pytest

from tests.registry.conftest import postgres_server as postgres_server


@pytest.fixture(scope="session")
def cluster():
    """A Ray cluster of two nodes with one processor each."""
    from tests.arena.ray_cluster import ray_cluster

    with ray_cluster() as made:
        yield made
