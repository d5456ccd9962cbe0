"""A server whose registry is on a PostgreSQL server: the same answers, and it may go away."""

import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import httpx2
import psycopg
import pytest
import sqlalchemy as sa

import arena.server.job_runner as job_runner_module
from arena.contest.verification import verify
from arena.errors import NotAllowed
from arena.home import open_home
from arena.remote import RemoteArena
from registry.errors import UnknownPolicy
from registry.values import Status
from tests.arena.contests import FIRST, SECOND
from tests.arena.serving import served
from tests.registry.conftest import fresh_postgres

pytestmark = pytest.mark.postgres
ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"


@pytest.fixture
def url(postgres_server):
    """Address of an empty database."""
    with fresh_postgres(postgres_server) as made:
        yield made


@contextmanager
def away(server, url):
    """While this goes on, the database takes nobody, and nobody is left in it."""
    name = sa.make_url(url).database
    with psycopg.connect(server, autocommit=True) as operator:
        operator.execute(f"alter database {name} with allow_connections false")
        operator.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [name]
        )
        try:
            yield
        finally:
            operator.execute(f"alter database {name} with allow_connections true")


def test_submissions_reads_rights_and_a_final_are_the_same(url, tmp_path):
    home = tmp_path / "home"
    with (
        served(home, registry_url=url) as there,
        RemoteArena(there.address, there.tokens["boss"]) as boss,
        RemoteArena(there.address, there.tokens["ada"]) as ada,
        RemoteArena(there.address, there.tokens["bob"]) as bob,
    ):
        assert not (home / "registry.sqlite").exists()
        taken = ada.submit(ROCK, "rrps", "ada/rock")
        assert taken.created and not ada.submit(ROCK, "rrps", "ada/rock").created
        with pytest.raises(NotAllowed):
            bob.withdraw("ada/rock", "rrps")
        with pytest.raises(UnknownPolicy) as unknown:
            bob.versions(["0" * 64])
        assert "in the registry REGISTRY" in str(unknown.value)
        # What has not changed is not sent again, and what has is.
        headers = {"Authorization": f"Bearer {there.tokens['eve']}"}
        board = f"{there.address}/api/v1/leaderboard?game=rrps"
        tag = httpx2.get(board, headers=headers).headers["ETag"]
        again = httpx2.get(board, headers=headers | {"If-None-Match": tag})
        assert again.status_code == 304
        assert ada.withdraw("ada/rock", "rrps").status is Status.YANKED
        changed = httpx2.get(board, headers=headers | {"If-None-Match": tag})
        assert changed.status_code == 200
        closes = datetime.now(UTC) + timedelta(days=1)
        boss.office.announce("spring", "kuhn", None, closes, matches=2)
        for arena, name, source in ((ada, "ada", FIRST), (bob, "bob", SECOND)):
            assert arena.submit(source, "kuhn", f"{name}/x").created
        boss.office.move_closing("spring")
        assert boss.office.final("spring").played == 2
        assert all(not one.problem for one in verify(boss.office.certify("spring")))
        log = [(one.who, one.what) for one in boss.office.events()]
        assert ("ada", "version.yanked") in log and ("boss", "tournament.certified") in log
        assert httpx2.get(f"{there.address}/health").json()["status"] == "ok"
    # Started again, by the address that the home keeps: everything is there.
    with (
        served(home) as there,
        RemoteArena(there.address, there.tokens["ada"]) as ada,
    ):
        assert ada.policy("ada/rock@1", "rrps").status is Status.YANKED


def test_what_is_asked_while_the_database_is_away_is_done_once_when_it_is_back(
    url, postgres_server, tmp_path, monkeypatch
):
    monkeypatch.setattr(job_runner_module, "PAUSE_SECONDS", 0.1)
    with (
        served(tmp_path / "home", registry_url=url) as there,
        RemoteArena(there.address, there.tokens["ada"], timeout=60) as ada,
    ):
        done = []

        def submit():
            done.append(ada.submit(ROCK, "rrps", "ada/rock"))

        thread = threading.Thread(target=submit)
        with away(postgres_server, url):
            thread.start()
            time.sleep(1.0)
            assert not done
            assert httpx2.get(f"{there.address}/health").status_code == 503
            headers = {"Authorization": f"Bearer {there.tokens['bob']}"}
            refused = httpx2.get(f"{there.address}/api/v1/seasons", headers=headers)
            assert refused.status_code == 503
            assert url not in refused.text and sa.make_url(url).database not in refused.text
        thread.join(60)
        assert done and done[0].version.ref == "ada/rock@1"
        registry = open_home(there.home).registry
        events = registry.events(who="ada", what="version.registered")
        assert len(events) == 1 and len(registry.find("rrps", author="ada")) == 1
        registry.close()
