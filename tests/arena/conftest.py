"""What tests of the arena share."""

import json
import shutil

import pytest

from arena.contest.certificate import without_sources
from arena.contest.issuing import issue
from arena.home import open_home
from tests.arena.contests import with_a_final
from tests.registry.conftest import postgres_server as postgres_server


@pytest.fixture(scope="session")
def cluster():
    """A Ray cluster of two nodes with one processor each."""
    from tests.arena.ray_cluster import ray_cluster

    with ray_cluster() as made:
        yield made


@pytest.fixture(scope="module")
def there(house, tmp_path_factory):
    """A server for all tests of a module: each uses names of its own."""
    from tests.arena.serving import served

    with served(shutil.copytree(house, tmp_path_factory.mktemp("served") / "home")) as running:
        yield running


@pytest.fixture
def as_(there):
    """Opens the server's arena as somebody."""
    from tests.arena.serving import doors

    with doors(there) as open_as:
        yield open_as


@pytest.fixture(scope="session")
def finished(house, made_once):
    """A home with a tournament whose final was played, without its certificate; for reading."""

    def make(at):
        with_a_final(shutil.copytree(house, at)).registry.close()

    return open_home(made_once("contest", make))


@pytest.fixture(scope="session")
def issued(finished, tmp_path_factory):
    """The same home once more, in which the certificate was issued, and that certificate."""
    home = open_home(shutil.copytree(finished.path, tmp_path_factory.mktemp("issued") / "home"))
    return home, json.loads(json.dumps(issue(home, "spring")))


@pytest.fixture(scope="session")
def certificate(issued):
    return issued[1]


@pytest.fixture(scope="session")
def bare(certificate):
    return without_sources(certificate)
