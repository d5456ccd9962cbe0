"""The command line as users and their scripts meet it: documents, messages, exit codes."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.analysis.rankings import RANKINGS
from arena.cli import main
from arena.cli.session import Session
from arena.home_marker import FORMAT
from arena.payoffs import PayoffTable

GOOD = '''class Agent:
    """Always rock."""

    def act(self, observation):
        return "ROCK"
'''
LOOPS_AT_IMPORT = "while True:\n    pass\n\n" + GOOD
LOOPS_IN_ACT = GOOD.replace('return "ROCK"', "while True:\n            pass")


@pytest.fixture(scope="module")
def home(house, tmp_path_factory):
    """A home with the house in it, shared by tests that only add to it."""
    return shutil.copytree(house, tmp_path_factory.mktemp("cli") / "home")


def run(*arguments, home):
    return CliRunner().invoke(main, [*map(str, arguments), "--home", str(home)])


def document(*arguments, home, code=0):
    result = run(*arguments, "--json", home=home)
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def policies(home):
    return {one["ref"] for one in document("list", home=home)["policies"]}


@pytest.fixture
def file(tmp_path):
    def write(source, name="bot.py"):
        path = tmp_path / name
        path.write_bytes(source if isinstance(source, bytes) else source.encode())
        return path

    return write


def submit(path, home, *more, name="me/bot", game="rrps", code=0):
    words = ("submit", path, "--game", game, "--name", name, "--sandbox", "process", *more)
    return document(*words, home=home, code=code)


def test_the_first_command_creates_the_home_and_enrols_the_house(home):
    refs = policies(home)
    assert {"house/greenberg@1", "house/CFR+@1", "house/AlwaysCall@1", "starter/rrps@1"} <= refs
    assert len(document("list", "--author", "house", "--game", "rrps", home=home)["policies"]) == 43


def test_show_prints_provenance(home):
    shown = run("show", "house/greenberg", home=home).stdout
    assert "Andrzej Nagorko" in shown
    assert "2000" in shown
    assert document("show", "house/CFR+", home=home)["provenance"]["author"]


def test_a_command_to_go_on_with_names_the_home(home, file, monkeypatch):
    path = str(file(f"# to go on with\n{GOOD}"))
    said = run("submit", path, "--game", "rrps", "--name", "me/on", home=home).stdout
    assert f"play it:  arena play --game rrps --only me/on@1 --home {home}\n" in said
    spaced = Session(Path("/some where"), None, as_json=False)
    assert spaced.typed("arena list") == "arena list --home '/some where'"
    monkeypatch.setenv("ARENA_HOME", "/some where")
    assert spaced.typed("arena list") == "arena list"
    monkeypatch.delenv("ARENA_HOME")
    assert Session(Path("arena-home"), None, as_json=False).typed("arena list") == "arena list"


def test_submit_show_source_and_yank(home, file):
    path = file(GOOD)
    taken = submit(path, home, "--label", "team=a", "--description", "rock [bold]only[/] :skull:")
    assert taken["ref"] == "me/bot@1"
    assert taken["status"] == "qualified"
    assert run("show", "me/bot", "--source", home=home).stdout == GOOD
    assert "rock [bold]only[/] :skull:" in run("show", "me/bot", home=home).stdout
    assert "rock [bold]only[/] :skull:" in run("list", "--author", "me", home=home).stdout
    again = submit(path, home, name="me/other")
    assert (again["ref"], again["digest"]) == ("me/bot@1", taken["digest"])
    assert again["reason"] == "the same content was registered before"
    changed = file(GOOD.replace("ROCK", "PAPER"))
    assert submit(changed, home)["ref"] == "me/bot@2"
    assert document("yank", "me/bot@2", "--game", "rrps", home=home)["status"] == "yanked"
    assert document("show", "me/bot@2", home=home)["status"] == "yanked"
    words = ("play", "--game", "rrps", "--only", "me/bot@2", "--matches", "1")
    assert run(*words, home=home).exit_code == 2
    assert submit(changed, home, code=1)["status"] == "yanked"
    back = document("reinstate", "me/bot@2", "--game", "rrps", home=home)
    assert back["status"] == "qualified"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (b"\xff\xfe\x00binary", "not-text"),
        ("class Agent:\n    def act(self, observation)\n        return 1\n", "line 2"),
        ("x = 1\n", "class-missing"),
        ("class Agent:\n    pass\n", "method-missing"),
        ("class Agent:\n    def act(self):\n        return 'ROCK'\n", "bad-signature"),
        ("import socket\n\n" + GOOD, "import-not-allowed"),
        ("#" * 70_000 + "\n" + GOOD, "too-large"),
        (LOOPS_AT_IMPORT, "load-failed"),
        (LOOPS_IN_ACT, "timed-out"),
        (GOOD.replace('"ROCK"', "1 / 0"), "ZeroDivisionError"),
        (GOOD.replace('"ROCK"', '"LIZARD"'), "illegal-action"),
        (GOOD.replace('"ROCK"', '"rock"'), "the actions are ROCK, PAPER, SCISSORS"),
        (GOOD.replace('"ROCK"', "3"), "malformed-action"),
    ],
)
def test_bad_policies_are_rejected_with_a_reason_and_not_stored(home, file, source, reason):
    before = policies(home)
    answer = submit(file(source), home, name="me/bad", code=1)
    assert answer["status"] == "rejected"
    assert reason in answer["reason"]
    assert policies(home) == before
    checked = document(
        "check", file(source), "--game", "rrps", "--sandbox", "process", home=home, code=1
    )
    assert checked["status"] == "rejected"


def test_missing_files_and_folders(home, tmp_path):
    assert "file-missing" in submit(tmp_path / "none.py", home, code=1)["reason"]
    assert "is-directory" in submit(tmp_path, home, code=1)["reason"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "--game", "chess"),
        ("show", "nobody/nothing"),
        ("play", "--game", "rrps", "--only", "nobody/nothing"),
        ("play", "--game", "rrps", "--matches", "0"),
        ("play",),
        ("replay", "not-an-id"),
        ("replay", "abcdef"),
        ("evaluate", "nobody/nothing", "--game", "rrps"),
        ("leaderboard", "--game", "rrps", "--against", "leduc-3@1"),
        ("evaluate", "house/rockbot", "--game", "rrps", "--against", "leduc-3@1"),
    ],
)
def test_usage_errors_exit_with_2_and_say_what_to_do(home, arguments):
    result = run(*arguments, home=home)
    assert result.exit_code == 2
    assert len(result.stderr) > 20
    assert "Traceback" not in result.output


@pytest.mark.parametrize("by", RANKINGS)
def test_a_leaderboard_without_any_match(new_home, by):
    home = new_home()
    rows = document("leaderboard", "--game", "rrps", "--by", by, "--more", home=home)["rows"]
    assert len(rows) >= 43
    assert all(row["agg_score"] is row["rank"] is row["rank_low"] is None for row in rows)
    assert [row["ref"] for row in rows] == sorted(row["ref"] for row in rows)
    table = run("leaderboard", "--game", "rrps", "--by", by, home=home).stdout.splitlines()
    assert all(line.split()[0] == "-" for line in table if "house/" in line)


def test_the_names_of_the_house_are_taken(home, file):
    before = policies(home)
    words = ("submit", file(GOOD), "--game", "rrps", "--name", "house/rockbot")
    refused = run(*words, home=home)
    assert refused.exit_code == 2
    assert "the arena's own" in refused.stderr
    assert policies(home) == before


def test_names_of_files_are_not_markup(home, tmp_path):
    path = tmp_path / "b[" / "x] [bold].py"
    path.parent.mkdir()
    path.write_text(GOOD)
    checked = run("check", path, "--game", "rrps", "--sandbox", "process", home=home)
    assert checked.exit_code == 0, checked.output
    assert "b[/x][bold].py" in "".join(checked.stdout.split())  # a long path is folded somewhere


def test_a_malformed_name_is_a_usage_error(home, file):
    words = ("submit", file(GOOD), "--game", "rrps", "--name", "no spaces/please")
    assert run(*words, home=home).exit_code == 2


def test_play_leaderboard_payoffs_matches_replay_export(home, tmp_path):
    """One pass over a small Leduc tournament, every answer as JSON and for people."""
    report = document("play", "--game", "leduc", "--matches", "4", "--workers", "1", home=home)
    assert (report["played"], report["skipped"]) == (6 * 4, 0)
    assert set(report) >= {"played", "skipped", "forfeits", "seconds"}
    board = document("leaderboard", "--game", "leduc", home=home)["rows"]
    assert [row["rank"] for row in board] == [1, 2, 3, 4]
    fields = {"ref", "mean_return", "stderr", "trueskill", "pop_return", "pop_expl", "agg_score"}
    assert set(board[0]) >= fields | {"matches", "forfeits"}
    assert "starter/leduc@1" in run("leaderboard", "--game", "leduc", home=home).stdout
    by_rating = document("leaderboard", "--game", "leduc", "--by", "rating", "--more", home=home)
    assert by_rating["rows"][0]["nash_mass"] is not None

    table = document("payoffs", "--game", "leduc", home=home)
    assert len(table["mean"]) == len(table["refs"]) == 4
    alone = run("payoffs", "--game", "leduc", "starter/leduc", home=home)
    assert alone.exit_code == 2 and "name others beside starter/leduc" in alone.stderr
    csv = tmp_path / "payoffs.csv"
    document("payoffs", "--game", "leduc", "--csv", csv, home=home)
    pairs = PayoffTable.from_csv(csv)
    assert len(pairs.digests) == 4
    assert (pairs.count.sum(axis=1) > 0).all()
    piped = run("payoffs", "--game", "leduc", "--csv", "-", home=home)
    assert (piped.exit_code, piped.stdout_bytes) == (0, csv.read_bytes())
    assert run("payoffs", "--game", "leduc", "--csv", "-", "--json", home=home).exit_code == 2

    listed = document("matches", "--game", "leduc", "starter/leduc", "--limit", "3", home=home)
    assert len(listed["matches"]) == 3
    match = listed["matches"][0]["id"]
    told = document("replay", match[:10], "--verify", "--sandbox", "process", home=home)
    assert told["verified"] is True
    assert len(told["events"]) == 100
    assert "reproduced" in run("replay", match, "--verify", home=home).stdout

    files = document("export", tmp_path / "out", home=home)["files"]
    assert files
    assert all(Path(file).stat().st_size > 0 for file in files)


def test_evaluate_reports_intervals_and_every_opponent(home):
    words = ("evaluate", "starter/leduc", "--game", "leduc", "--matches", "8")
    result = document(*words, "--workers", "1", "--sandbox", "process", home=home)
    for key in ("pop_return", "pop_expl", "pop_expl_cross_fitted", "agg_score"):
        low, high = result[key]["ci95"]
        assert low <= result[key]["value"] <= high
    assert {one["ref"] for one in result["per_opponent"]} == {
        "house/CFR+@1",
        "house/AlwaysCall@1",
        "house/AlwaysFold@1",
    }


def test_a_home_of_a_newer_version_is_left_alone(tmp_path):
    (tmp_path / "home.json").write_text(json.dumps({"format": FORMAT + 1}))
    result = run("list", home=tmp_path)
    assert result.exit_code == 1
    assert "update policy-arena" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["home.json"]


def test_a_home_marker_that_is_not_one(tmp_path):
    (tmp_path / "home.json").write_text("[]")
    result = run("list", home=tmp_path)
    assert result.exit_code == 1
    assert "home.json" in result.stderr and "move it away" in result.stderr


def mounted(*words):
    """Mounts something; a container's root may not, and then the test is skipped, but not in CI."""
    done = subprocess.run(["mount", *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        if os.environ.get("CI"):
            pytest.fail(f"CI's root must be able to mount: {done.stderr}")
        pytest.skip(f"mounting is not allowed here: {done.stderr.strip()}")


@contextmanager
def read_only(folder):
    """Makes a folder unwritable: by permissions, or for root, whom they do not stop, by a mount."""
    if os.getuid() == 0:
        mounted("--bind", folder, folder)
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
        try:
            yield
        finally:
            subprocess.run(["umount", folder], check=True)
        return
    inside = [folder, *folder.rglob("*")]
    for path in inside:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        yield
    finally:
        for path in inside:
            path.chmod(0o755)


def test_a_read_only_home_can_be_read_and_refuses_writing(new_home, file):
    folder = new_home()
    run("play", "--game", "leduc", "--matches", "2", "--workers", "1", home=folder)
    policy = file(GOOD)
    with read_only(folder):
        assert run("list", home=folder).exit_code == 0
        board = document("leaderboard", "--game", "leduc", home=folder)
        assert len(board["rows"]) == 4
        for words in (
            ("play", "--game", "leduc", "--matches", "4"),
            ("submit", policy, "--game", "rrps", "--name", "me/bot", "--sandbox", "process"),
        ):
            refused = run(*words, home=folder)
            assert refused.exit_code == 1, refused.output
            assert "error:" in refused.stderr
            assert str(folder) in refused.stderr
    assert run("play", "--game", "leduc", "--matches", "4", home=folder).exit_code == 0


def test_a_full_disk_loses_nothing(tmp_path, house):
    """On a small file system of its own; only root can make one."""
    if os.getuid() != 0:
        pytest.skip("mounting a small file system takes root")
    place = tmp_path / "small"
    place.mkdir()
    mounted("-t", "tmpfs", "-o", "size=6m", "tmpfs", place)
    try:
        folder = shutil.copytree(house, place / "home")
        tables = ("house/CFR+", "house/AlwaysCall", "house/AlwaysFold")
        only = [word for ref in tables for word in ("--only", ref)]
        played = ("play", "--game", "leduc", *only, "--workers", "1", "--matches")
        before = document(*played, "20", home=folder)["played"]
        filler = place / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as stream:
            while True:
                stream.write(bytes(65_536))
        refused = run(*played, "400", home=folder)
        assert refused.exit_code == 1, refused.output
        assert "room" in refused.stderr or "full" in refused.stderr
        filler.unlink()
        after = document(*played, "400", home=folder)
        assert after["skipped"] >= before
        assert after["played"] + after["skipped"] == 3 * 400
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def test_every_command_has_help():
    for name, command in main.commands.items():
        if name == "dashboard":  # it becomes another program, and so would this process
            continue
        result = CliRunner().invoke(main, [name, "--help"])
        assert result.exit_code == 0
        assert command.help
        assert command.help.splitlines()[0].endswith(".")


def test_the_dashboards_help_is_that_of_the_pages():
    words = [sys.executable, "-m", "arena", "dashboard", "--help"]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert "--port" in shown and "--submitting" in shown


def test_precision_is_told_and_only_where_it_is_asked_for(home):
    words = ("play", "--game", "kuhn", "--matches", "40", "--only", "house/Kuhn1950")
    told = document(*words, "--precision", "20", home=home)
    assert told["imprecise"] == 0
    assert "imprecise" not in document(*words, home=home)
    assert run(*words, "--precision", "0", home=home).exit_code == 2
    shown = run(*words, "--precision", "0.01", home=home)
    assert "not as precise as asked for" in shown.stdout


def test_a_focus_needs_a_budget(home):
    words = ("play", "--game", "kuhn", "--focus", "nash")
    assert run(*words, home=home).exit_code == 2
    assert run(*words, "--budget", "1", home=home).exit_code == 2
