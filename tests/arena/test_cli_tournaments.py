"""`arena tournament` and `arena verify`: a tournament from its announcement to its certificate."""

import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from arena import Arena
from arena.cli import main
from arena.cli.tournaments import _say_result
from tests.arena.contests import FIRST, SECOND, SECRET


def run(home, *arguments, code=0):
    found = CliRunner().invoke(main, [*map(str, arguments), "--home", str(home)])
    assert found.exit_code == code, found.output
    return found


def document(home, *arguments, code=0):
    return json.loads(run(home, *arguments, "--json", code=code).stdout)


def day(days):
    return f"{datetime.now(UTC) + timedelta(days=days):%Y-%m-%dT%H:%M}"


def test_a_tournament_from_the_announcement_to_a_certificate_elsewhere(home, tmp_path):
    secret = tmp_path / "secret.py"
    secret.write_text(SECRET)
    words = ("--game", "kuhn", "--closes", day(2), "--matches", "2", "--hidden", secret)
    opened = document(home, "tournament", "open", "spring", *words, "--hidden", "house/AlwaysPass")
    assert (opened["phase"], opened["hidden"], opened["counting"]) == ("open", 2, [])
    assert run(home, "tournament", "open", "spring", *words, code=1)
    for name, source in (("ada", FIRST), ("bob", SECOND)):
        file = tmp_path / f"{name}.py"
        file.write_text(source)
        run(home, "submit", file, "--game", "kuhn", "--name", f"{name}/x")
    with Arena(home) as arena:
        refs = [row.ref for row in arena.leaderboard("kuhn").rows]
        assert "ada/x@1" in refs and not any("secret" in ref for ref in refs)
        met = {digest for row in arena.matches("kuhn", limit=None) for digest in row.seats}
        assert arena.policy("operator/spring-secret", "kuhn").digest not in met

    shown = document(home, "tournament", "show", "spring")
    assert [one["ref"] for one in shown["counting"]] == ["ada/x@1", "bob/x@1"]
    assert "is open until" in run(home, "tournament", "final", "spring", code=1).stderr
    assert "has not begun" in run(home, "tournament", "certificate", "spring", code=2).stderr
    assert document(home, "tournament", "close", "spring")["phase"] == "closed"
    (listed,) = document(home, "tournament", "list")["tournaments"]
    assert listed["name"] == "spring"

    final = document(home, "tournament", "final", "spring")
    assert (final["phase"], final["played"], final["forfeits"]) == ("final", 10, 0)
    secret_key = document(home, "seed", "show")["seasons"][-1]
    assert (secret_key["number"], secret_key["key"]) == (final["season"], None)

    file = tmp_path / "spring.json"
    issued = document(home, "tournament", "certificate", "spring", "--out", file, "--sources")
    assert {row["author"] for row in issued["authors"]} == {"ada", "bob"}
    told = run(home, "tournament", "certificate", "spring", "--out", tmp_path / "bare.json").stdout
    assert "ada" in told and issued["digest"] in told
    seasons = document(home, "seed", "show")["seasons"]
    assert json.loads(file.read_text())["season"]["key"] == seasons[final["season"] - 1]["key"]

    nowhere = tmp_path / "nowhere"
    found = document(nowhere, "verify", file, "--play", "3", "--workers", "1")
    assert found["verified"] and found["digest"] == issued["digest"]
    assert found["checks"][-1]["detail"] == "3 matches"
    assert not nowhere.exists()
    bare = run(nowhere, "verify", tmp_path / "bare.json", "--play", "1", code=2)
    assert "leaves out the source" in bare.stderr
    said = run(nowhere, "verify", tmp_path / "bare.json").stdout
    assert "compare its digest, and its commitment, with what was published" in said
    assert issued["digest"] in said and json.loads(file.read_text())["season"]["commitment"] in said
    assert "open   recomputed: alike  not checked: sources are missing" in said
    at_home = document(home, "verify", tmp_path / "bare.json", "--play", "1", "--seed", "1")
    assert "the home's own record" in {one["check"] for one in at_home["checks"]}

    text = file.read_text()
    file.write_text(text.replace('"repetition": 1', '"repetition": 0', 1))
    wrong = run(nowhere, "verify", file, code=1)
    assert "NOT good" in wrong.stdout and "compare" not in wrong.stdout
    assert run(nowhere, "verify", tmp_path / "missing.json", code=2)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("open", "spring", "--game", "kuhn"), 2),
        (("open", "spring", "--game", "kuhn", "--closes", "tomorrow"), 2),
        (("open", "spring", "--game", "kuhn", "--closes", "2001-01-01"), 1),
        (("open", "a b", "--game", "kuhn", "--closes", "2999-01-01"), 2),
        (("open", "x", "--game", "kuhn", "--closes", "2999-01-01", "--hidden", "no/body"), 2),
        (("open", "x", "--game", "kuhn", "--closes", "2999-01-01", "--matches", "3"), 1),
        (("show", "spring"), 1),
        (("final", "spring"), 1),
    ],
)
def test_what_cannot_be_is_refused_with_words(home, words, code):
    refused = run(home, "tournament", *words, code=code)
    assert "rror" in refused.stderr and "Traceback" not in refused.output
    assert document(home, "tournament", "list")["tournaments"] == []


def test_a_hidden_policy_that_is_none_is_refused(home, tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text("class Nothing: pass\n")
    words = ("open", "x", "--game", "kuhn", "--closes", "2999-01-01", "--hidden", bad)
    assert "is not taken" in run(home, "tournament", *words, code=2).stderr
    assert document(home, "tournament", "list")["tournaments"] == []


def test_an_authors_place_is_among_authors():
    """Whose best entry is the third of all may be the second author."""

    def of(author, rank):
        score = {"value": 9.0 - (rank or 0), "low": 0.0, "high": 9.0} if rank else None
        ranks = {"rank": rank, "rank_low": rank, "rank_high": rank and rank + 1}
        return {"author": author, "best": f"{author}/x@1", "agg_score": score, **ranks}

    authors = [of("ada", 1), of("bob", 3), of("eve", 3), of("dan", 5), of("new", None)]
    out = Console(file=io.StringIO(), width=120)
    document = {"authors": authors, "alike": [], "disqualified": [], "digest": "d"}
    _say_result(out, Path("f"), document)
    told = [line.split() for line in out.file.getvalue().splitlines()[1:6]]
    assert [(row[0], row[1]) for row in told] == [
        ("1", "ada"), ("2", "bob"), ("2", "eve"), ("4", "dan"), ("-", "new"),
    ]  # fmt: skip
    assert " ".join(told[1]).endswith("rank 3 (could be 3 to 4)")
