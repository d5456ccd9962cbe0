"""Whose turn it is at a server, and what becomes of jobs while a database is away."""

import threading

import pytest

import arena.server.player as player_module
from arena.remote import RemoteArena
from registry import Registry
from registry.errors import RegistryUnavailable
from tests.arena.serving import served

ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"


@pytest.fixture
def server(new_home):
    with served(new_home()) as running:
        yield running


def test_a_long_job_gives_way_to_others_and_comes_to_the_same(server, monkeypatch):
    monkeypatch.setattr(player_module, "SLICE_SECONDS", 0.2)
    monkeypatch.setattr(player_module, "PAUSE_SECONDS", 0.05)
    with (
        RemoteArena(server.address, server.tokens["ada"]) as ada,
        RemoteArena(server.address, server.tokens["bob"]) as bob,
    ):
        house = [one.digest for one in ada.policies("rrps", author="house")][:8]
        wanted = {(a, b): 40 for n, a in enumerate(house) for b in house[:n]}
        ended, begun = [], threading.Event()

        def plays(done, total):
            begun.set()

        def long():
            ada.play_pairs("rrps", wanted, progress=plays)
            ended.append("ada")

        thread = threading.Thread(target=long)
        thread.start()
        assert begun.wait(60)
        for _ in range(2):
            assert bob.check(ROCK, "rrps") is None
            ended.append("bob")
        thread.join()
        assert ended == ["bob", "bob", "ada"]
        stored = list(ada.matches("rrps", limit=None))
        assert len(stored) == sum(wanted.values())
        opened = Registry.open(server.home / "registry.sqlite")
        today = player_module._today()
        spent = opened.spent("ada", today).seconds
        opened.close()
        assert spent > 0  # of every slice, and not of the last alone


def test_what_fails_because_the_registry_is_away_is_done_when_it_is_back(server, monkeypatch):
    monkeypatch.setattr(player_module, "PAUSE_SECONDS", 0.05)
    away = iter(["gone", "gone", "gone"])
    really = Registry.account

    def account(self, name):
        if threading.current_thread().name == "player" and next(away, None):
            raise RegistryUnavailable("the database is away")
        return really(self, name)

    monkeypatch.setattr(Registry, "account", account)
    with RemoteArena(server.address, server.tokens["ada"]) as ada:
        assert ada.submit(ROCK, "rrps", "ada/rock").version.ref == "ada/rock@1"
    assert next(away, None) is None


def test_what_stays_away_is_given_up_and_the_player_goes_on(server, monkeypatch):
    monkeypatch.setattr(player_module, "PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(player_module, "AWAY_SECONDS", 0.3)
    really = Registry.account

    def account(self, name):
        if threading.current_thread().name == "player" and name == "ada":
            raise RegistryUnavailable("the database is away")
        return really(self, name)

    monkeypatch.setattr(Registry, "account", account)
    with (
        RemoteArena(server.address, server.tokens["ada"]) as ada,
        pytest.raises(RegistryUnavailable, match="away"),
    ):
        ada.submit(ROCK, "rrps", "ada/rock")
    with RemoteArena(server.address, server.tokens["bob"]) as bob:
        assert bob.submit(ROCK, "rrps", "bob/rock").version.ref == "bob/rock@1"
