"""A certificate at a server: an operator issues it, and from then on every account has it."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

from arena.backup import back_up, restore
from arena.cli import main
from arena.contest import issuing
from arena.contest.certificate import without_sources
from arena.contest.verification import verify
from arena.errors import NotAllowed, UsageFault
from arena.home import CERTIFICATE, FINALS, open_home
from registry import Status
from registry.errors import TournamentConflict, UnknownTournament
from tests.arena.serving import served


@pytest.fixture
def there(finished, tmp_path):
    with served(shutil.copytree(finished.path, tmp_path / "home")) as running:
        yield running


@pytest.fixture
def as_(as_):
    """The office as somebody sees it."""
    return lambda name: as_(name).office


def sources(document):
    """Names of the policies whose sources a certificate holds."""
    parts = [one for part in ("entrants", "hidden") for one in document[part]]
    return {one["names"][0] for one in parts if "source" in one}


def file_of(home):
    """Where the certificate is kept."""
    (place,) = (home / FINALS).glob("spring-*")
    return place / CERTIFICATE


def test_nobody_but_an_operator_issues_it(there, as_):
    registry = open_home(there.home).registry
    before = registry.events()[-1].position
    for name in ("ada", "eve"):
        office = as_(name)
        with pytest.raises(UsageFault, match="no certificate yet: an operator issues it"):
            office.certificate("spring")
        with pytest.raises(UsageFault, match="no certificate yet"):
            office.certificate("spring", sources=True)
        with pytest.raises(NotAllowed, match="publishes the key of the final, is for operators"):
            office.certify("spring")
        with pytest.raises(UnknownTournament):
            office.certificate("autumn")
    assert registry.events(after=before) == ()
    assert registry.tournament("spring").certificate == ""
    assert registry.current_season().number == registry.tournament("spring").season
    assert not file_of(there.home).exists()


def test_once_issued_it_is_everybodys_with_the_sources_that_each_may_see(there, as_):
    registry = open_home(there.home).registry
    whole = as_("boss").certify("spring")
    everything = {one["names"][0] for one in (*whole["entrants"], *whole["hidden"])}
    assert (
        sources(whole)
        == everything
        == {
            *("ada/x@2", "bob/y@1", "cy/z@1"),
            *("prof/secret@1", "house/AlwaysPass@1"),
        }
    )
    open_ones = everything - {"prof/secret@1"}
    for name in ("ada", "eve", "boss"):
        office = as_(name)
        bare = office.certificate("spring")
        assert bare == without_sources(whole) and not sources(bare)
        assert not [one.problem for one in verify(bare) if one.problem]
    assert sources(as_("boss").certificate("spring", sources=True)) == everything
    assert sources(as_("ada").certificate("spring", sources=True)) == open_ones
    # Who withdraws takes the source back, from everybody but the author and the operators.
    registry.set_status(registry.get("kuhn", "bob/y@1").digest, Status.YANKED, "mine")
    for name, seen in (
        ("eve", open_ones - {"bob/y@1"}),
        ("ada", open_ones - {"bob/y@1"}),
        ("bob", open_ones),
        ("boss", everything),
    ):
        document = as_(name).certificate("spring", sources=True)
        assert sources(document) == seen
        assert document["digest"] == whole["digest"]
        assert not [one.problem for one in verify(document) if one.problem]


def test_a_large_one_is_not_read_again_at_every_match(there, as_):
    bare = without_sources(as_("boss").certify("spring"))
    assert as_("ada").certificate("spring") == bare
    open_to_ada = as_("ada").certificate("spring", sources=True)
    path = file_of(there.home)
    path.parent.rename(path.parent.with_name("away"))
    open_home(there.home).registry.invite()
    for name in ("ada", "eve"):
        assert as_(name).certificate("spring") == bare, "it is known, whatever changes"
    assert as_("ada").certificate("spring", sources=True) == open_to_ada


def test_a_policy_that_is_hidden_again_is_named_and_not_shown(there, as_):
    boss = as_("boss")
    whole = boss.certify("spring")
    closes = datetime.now(UTC) + timedelta(days=1)
    boss.announce("summer", "kuhn", None, closes, hidden=["prof/secret"])
    mine = as_("ada").certificate("spring", sources=True)
    assert [one["names"] for one in mine["hidden"]] == [one["names"] for one in whole["hidden"]]
    assert "prof/secret@1" not in sources(mine)


def test_it_stays_what_it_was_whatever_becomes_of_its_policies(issued, tmp_path):
    home, document = issued
    home = open_home(shutil.copytree(home.path, tmp_path / "home"))
    path = file_of(home.path)
    kept = path.read_text()
    assert path.stat().st_mode & 0o077 == 0 and "source" not in kept
    bare = without_sources(document)
    for damaged in ("", "{", '{"format": 1}', kept.replace('"PASS', '"X'), kept[:-20]):
        path.write_text(damaged)
        assert issued_of(home) == bare
    for changed in (kept.replace('"format": 1', '"format": 1, "more": 2'), None):
        path.unlink()
        if changed:
            path.write_text(changed)
        assert issued_of(home) == bare, "what was changed is composed again"
        assert path.read_text() == kept
    home.registry.set_status(home.registry.get("kuhn", "cy/z@1").digest, Status.QUARANTINED, "late")
    assert issued_of(home) == bare
    back_up(home, tmp_path / "copy.tar")
    restore(tmp_path / "copy.tar", tmp_path / "again")
    assert issued_of(open_home(tmp_path / "again")) == bare
    path.unlink()
    with pytest.raises(TournamentConflict, match="is not kept here"):
        issued_of(home)


def issued_of(home):
    return issuing.issued(home, "spring")


def test_the_command_writes_it_for_authors_as_for_operators(there, tmp_path, monkeypatch):
    monkeypatch.setenv("ARENA_URL", there.address)
    monkeypatch.delenv("ARENA_HOME", raising=False)
    monkeypatch.chdir(tmp_path)

    def run(who, *words, code=0):
        monkeypatch.setenv("ARENA_TOKEN", there.tokens[who])
        done = CliRunner().invoke(main, ["tournament", "certificate", "spring", *words])
        assert done.exit_code == code, done.output
        return done

    refused = run("ada", code=1)
    assert "issuing it, which publishes the key of the final, is for operators" in refused.stderr
    assert "ada has the role of author" in refused.stderr
    assert not (tmp_path / "spring.json").exists()
    first = json.loads(run("boss", "--json", "--sources", "--out", "whole.json").stdout)
    assert first["sources"] == {"held": 5, "of": 5}
    told = json.loads(run("eve", "--json").stdout)
    assert told["digest"] == first["digest"] and told["sources"] == {"held": 0, "of": 5}
    assert "source" not in (tmp_path / "spring.json").read_text()
    assert "with 4 of 5 sources" in run("ada", "--sources", "--out", "mine.json").stdout
    document = json.loads((tmp_path / "mine.json").read_text())
    assert sources(document) == sources(json.loads((tmp_path / "whole.json").read_text())) - {
        "prof/secret@1"
    }
