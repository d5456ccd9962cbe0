"""No error that leaves a server says where the server keeps anything."""

import ast
import threading
from pathlib import Path

import httpx2
import pytest

import arena.server
from arena import Arena
from arena.errors import HomeUnusable
from arena.home_marker import MATCHES
from arena.remote import RemoteArena
from arena.server.discretion import FOLDER, REGISTRY, discretion_of
from arena.store import StoreError
from registry import Registry
from registry.errors import RegistryUnavailable, UnknownAuthor, UnknownPolicy
from registry.rights import Quota
from tests.arena.serving import served

ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"


@pytest.fixture
def there(new_home):
    with served(new_home()) as running:
        yield running


def bodies(there, *asked, who="boss"):
    """What a server answers to some requests: text."""
    headers = {"Authorization": f"Bearer {there.tokens[who]}"}
    for method, path, document in asked:
        answer = httpx2.request(
            method, there.address + path, headers=headers, json=document, timeout=30
        )
        assert answer.status_code >= 400 or "error" in answer.json(), answer.text
        yield answer.text


def test_errors_of_reads_changes_and_jobs_name_no_folder(there, monkeypatch):
    unknown = "0" * 64
    asked = (
        ("GET", "/api/v1/policy?ref=ada/nobody", None),
        ("POST", "/api/v1/versions", {"digests": [unknown]}),
        ("POST", "/api/v1/withdraw", {"ref": "ada/nobody", "game": "rrps"}),
        ("POST", "/api/v1/play_pairs?wait=20", {"game": "rrps", "wanted": [[[unknown] * 2, 2]]}),
        ("POST", "/api/v1/evaluate?wait=20", {"game": "rrps", "ref": "ada/nobody"}),
    )
    told = list(bodies(there, *asked))
    # An account that is renamed in the middle of its job: the registry says where it looked.
    really = Registry.account

    def account(self, name):
        if threading.current_thread().name == "job runner":
            self.set_quota("nobody", Quota())
        return really(self, name)

    monkeypatch.setattr(Registry, "account", account)
    job = ("POST", "/api/v1/check?wait=20", {"source": {"str": ROCK}, "game": "rrps"})
    told += bodies(there, job, who="ada")
    assert "HOME/registry.sqlite" in told[-1] and "HOME/registry.sqlite" in told[1]
    with RemoteArena(there.address, there.tokens["ada"]) as ada:
        with pytest.raises(UnknownAuthor) as refused:
            ada.check(ROCK, "rrps")
        told.append(str(refused.value))
    for text in told:
        assert str(there.home) not in text and there.home.parent.name not in text, text


def test_a_store_that_cannot_be_read_is_told_without_its_path(new_home):
    home = new_home()
    with Arena(home, sandbox="process", workers=1) as arena:
        arena.play("kuhn", 2)
    (home / MATCHES).write_bytes(b"no database" * 1000)
    with served(home) as there:
        (text,) = bodies(there, ("GET", "/api/v1/leaderboard?game=kuhn", None))
        assert f"{FOLDER}/{MATCHES}" in text and str(home) not in text
        with (
            RemoteArena(there.address, there.tokens["eve"], timeout=0.5) as eve,
            pytest.raises(StoreError, match=f"{FOLDER}/{MATCHES}"),
        ):
            eve.matches("kuhn")


def test_the_same_error_whole_is_what_the_registry_says(there):
    """What the tests above look for is there before it is left out."""
    opened = Registry.open(there.home / "registry.sqlite")
    with pytest.raises(UnknownPolicy, match=str(there.home)):
        opened.by_digests(["0" * 64])
    opened.close()


def test_places_are_left_out_whole_and_nothing_else(tmp_path):
    folder = tmp_path / "arena"
    told = discretion_of(folder, str(folder / "registry.sqlite"))
    assert told.words(f"{folder}/x, {folder}-2, {folder}: no") == f"HOME/x, {folder}-2, HOME: no"
    server = "postgresql+psycopg://arena@db.internal/arena"
    elsewhere = discretion_of(folder, server)
    said = f"the registry {server} cannot be used: no host db.internal\nfor user arena"
    told_of_it = elsewhere.document_of(RegistryUnavailable(said))["message"]
    assert told_of_it == f"the registry {REGISTRY} cannot be used; the server's log says why"
    assert (
        elsewhere.words(f"not in the registry {server}: x") == f"not in the registry {REGISTRY}: x"
    )
    assert discretion_of(Path("/"), "/registry.sqlite").words("a/b /tmp") == "a/b /tmp"
    carried = UnknownPolicy("x", f"{folder}/ref", (f"{folder}/a",))
    assert str(folder) not in str(told.document_of(carried))
    assert told.document_of(HomeUnusable("full"))["message"] == "full"


def test_there_is_one_place_where_errors_become_documents():
    """Another one would tell what this one leaves out; the words in app.py name no place."""
    folder = Path(arena.server.__file__).parent
    found = {
        file.name
        for file in folder.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute)
        and node.attr == "document_of"
        and isinstance(node.value, ast.Name)
        and node.value.id == "faults"
    }
    assert found == {"discretion.py"}
