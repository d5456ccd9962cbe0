"""What a server tells without being asked: streams of events, resumed, bounded and ended."""

import gzip
import json
import sqlite3
import time
from contextlib import closing, contextmanager

import httpx2
import pytest
from click.testing import CliRunner

import arena.server.background as background_module
import arena.server.pruning as pruning_module
import arena.server.ranks as ranks_module
import arena.server.service as service_module
import arena.server.streams as streams_module
from arena.cli import main
from arena.errors import BadRequest, QuotaSpent, ServerError, ServerUnreachable
from arena.following import LONGEST_EVENT, Told, events_in
from arena.games import GAMES
from arena.home import open_home
from arena.remote import RemoteArena
from arena.server.ledger import FILE, KEPT_SECONDS, Ledger, State
from arena.server.notifications import Notifications, Rank
from arena.server.pruning import Pruning
from arena.wire.plain import Malformed
from registry.rights import Account, Role
from tests.arena.serving import served
from tests.arena.test_hostile_server import answering

ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"
PASS = (
    "class RepeatedKuhnPokerBot:\n"
    "    def restart(self, player_id):\n        pass\n"
    "    def act(self, obs):\n        return 'PASS'\n"
    "    def receive_outcome(self, obs):\n        pass\n"
)


@pytest.fixture
def there(new_home, monkeypatch):
    monkeypatch.setattr(ranks_module, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(streams_module, "BEAT_SECONDS", 0.3)
    monkeypatch.setattr(service_module, "KNOWN_SECONDS", 0.1)
    with served(new_home()) as running:
        yield running


@contextmanager
def stream(there, who, path, **headers):
    """The lines of a stream, as they come."""
    headers = {"Authorization": f"Bearer {there.tokens[who]}", **headers}
    with httpx2.stream("GET", there.address + path, headers=headers, timeout=20) as answer:
        yield answer


def items(answer, count):
    """The first items of a stream."""
    found = []
    for one in events_in(answer.iter_text()):
        found += [one] if isinstance(one, Told) else []
        if len(found) == count:
            return found
    return found


def heard(answer, seconds=2.0):
    """What a stream tells within some seconds, or until it ends."""
    text, until = "", time.monotonic() + seconds
    for piece in answer.iter_text():
        text += piece
        if time.monotonic() > until:
            break
    return text


def test_an_author_is_told_what_is_over_and_what_is_ranked(there):
    with (
        RemoteArena(there.address, there.tokens["ada"]) as ada,
        RemoteArena(there.address, there.tokens["boss"]) as boss,
        stream(there, "ada", "/api/v1/notifications") as mine,
        stream(there, "bob", "/api/v1/notifications") as others,
    ):
        assert mine.status_code == 200, mine.read()
        assert mine.headers["Content-Type"].startswith("text/event-stream")
        assert mine.headers["Cache-Control"] == "no-store"
        version = ada.submit(PASS, "kuhn", "ada/pass").version
        boss.play("kuhn", 2, only=["ada/pass"])
        done, ranked = items(mine, 2)
        assert (done.kind, done.about["method"], done.about["state"]) == ("job", "submit", "done")
        assert (ranked.kind, ranked.about["ref"]) == ("ranked", "ada/pass@1")
        rows = [one for one in boss.leaderboard("kuhn").rows if one.rank is not None]
        row = next(one for one in rows if one.digest == version.digest)
        assert (ranked.about["rank"], ranked.about["of"]) == (row.rank, len(rows))
        assert ranked.about["rank_low"] <= row.rank <= ranked.about["rank_high"]
        # Who was cut off says what was seen last, and operators hear of everybody's ranks.
        with stream(
            there, "ada", "/api/v1/notifications", **{"Last-Event-ID": str(done.number)}
        ) as late:
            assert items(late, 1) == [ranked]
        with stream(there, "boss", "/api/v1/notifications?after=0") as all_of_it:
            kinds = {(one.kind, one.about.get("method")) for one in items(all_of_it, 2)}
            assert kinds == {("job", "play"), ("ranked", None)}
        bob = RemoteArena(there.address, there.tokens["bob"])
        assert bob.check(ROCK, "rrps") is None
        (only,) = items(others, 1)
        assert only.about["method"] == "check", "nobody is told of another's"
        bob.close()


def test_a_job_is_followed_to_its_end(there):
    document = {"source": {"str": ROCK}, "game": "rrps", "name": "ada/rock"}
    headers = {"Authorization": f"Bearer {there.tokens['ada']}"}
    job = httpx2.post(there.address + "/api/v1/submit", json=document, headers=headers).json()
    with stream(there, "ada", f"/api/v1/jobs/{job['job']}/events") as answer:
        text = "".join(answer.iter_text())  # it ends by itself
    told = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
    assert told[-1] == {"job": job["job"], "method": "submit", "state": "done"}
    with stream(
        there, "ada", f"/api/v1/jobs/{job['job']}/events", **{"Last-Event-ID": "done"}
    ) as answer:
        assert "data:" not in "".join(answer.iter_text())
    with stream(there, "bob", f"/api/v1/jobs/{job['job']}/events") as answer:
        assert answer.status_code == 400


def test_a_number_that_is_none_is_refused(there):
    for after in ("x", "-1", "1.5", "9" * 30, "²"):
        with stream(there, "ada", f"/api/v1/notifications?after={after}") as answer:
            assert answer.status_code == 400, after


def test_streams_of_one_account_are_bounded_and_given_back(there, monkeypatch):
    monkeypatch.setattr(streams_module, "MOST_OF_ONE", 2)
    with (
        stream(there, "ada", "/api/v1/notifications"),
        stream(there, "ada", "/api/v1/notifications"),
    ):
        with stream(there, "ada", "/api/v1/notifications") as third:
            assert third.status_code == 429
        with stream(there, "bob", "/api/v1/notifications") as other:
            assert other.status_code == 200
        with (
            RemoteArena(there.address, there.tokens["ada"]) as ada,
            pytest.raises(QuotaSpent, match="2 streams of yours are open"),
        ):
            next(ada.notifications())
    deadline = time.monotonic() + 10
    status = 429
    while status == 429 and time.monotonic() < deadline:
        time.sleep(0.05)
        with stream(there, "ada", "/api/v1/notifications") as again:
            status = again.status_code
    assert status == 200


def test_an_account_that_is_shut_is_told_nothing_more(there):
    with stream(there, "ada", "/api/v1/notifications") as answer:
        registry = open_home(there.home).registry
        registry.disable_account("ada")
        began = time.monotonic()
        assert "data:" not in "".join(answer.iter_text())  # which comes to an end
        assert time.monotonic() - began < 15


def test_an_operator_who_is_none_any_more_is_told_no_more_of_others(there):
    with stream(there, "boss", "/api/v1/notifications") as answer:
        registry = open_home(there.home).registry
        registry.set_role("boss", Role.AUTHOR)
        registry.close()
        time.sleep(0.3)  # for which a token is known without asking again
        there.thread.server._notifications.ranked([Rank("rrps", "ada", "ada/rock@1", {})])
        assert "ada/rock" not in heard(answer)
    with stream(there, "boss", "/api/v1/notifications?after=0") as again:
        assert "ada/rock" not in heard(again)


def test_submit_waits_for_a_rank(new_home, tmp_path, monkeypatch):
    monkeypatch.setattr(ranks_module, "LOOK_SECONDS", 0.05)
    home, bot = new_home(), tmp_path / "bot.py"
    bot.write_text(PASS)
    words = ["submit", str(bot), "--game", "kuhn", "--name", "ada/pass", "--wait", "--json"]

    def submit(there):
        monkeypatch.setenv("ARENA_TOKEN", there.tokens["ada"])
        return CliRunner().invoke(main, [*words, "--home", there.address])

    with served(home) as idle:  # which plays nothing by itself, and says so
        done = submit(idle)
        assert done.exit_code == 3, done.output
        told = json.loads(done.stdout)
        assert (told["status"], told["rank"]) == ("qualified", None)
        assert "plays nothing by itself" in told["reason"]
        with RemoteArena(idle.address, idle.tokens["boss"]) as boss:
            assert boss.plays() == 0
            boss.play("kuhn", 4)
        told = json.loads(submit(idle).stdout)
        assert told["rank"] and "by itself" not in told["reason"], "what is ranked is told"
    bot.write_text(f"{PASS}# another\n")
    # Else it would first play all round robins of the games before this one.
    monkeypatch.setattr(background_module, "GAMES", {"kuhn": GAMES["kuhn"]})
    with served(home, matches=2) as there:
        with RemoteArena(there.address, there.tokens["eve"]) as eve:
            assert eve.plays() == 2
        done = submit(there)
        assert done.exit_code == 0, done.output
        told = json.loads(done.stdout)
        assert 1 <= told["rank_low"] <= told["rank"] <= told["rank_high"]
    refused = CliRunner().invoke(main, [*words, "--home", str(tmp_path / "home")])
    assert refused.exit_code == 2 and "is for a server" in refused.stderr


def test_what_is_over_is_written_down_with_the_job_and_once(tmp_path):
    ada = Account("ada", Role.AUTHOR, None)
    ledger = Ledger(tmp_path / FILE)
    notifications = Notifications(tmp_path / FILE)
    job, _ = ledger.add("ada", None, "check", "{}", State.WAITING)
    change, _ = ledger.add("ada", "k", "withdraw", "{}", State.RUNNING)
    ledger.begin(job)
    assert not notifications.since(ada, 0)
    ledger.end(change, State.DONE, result="null")
    ledger.end(job, State.DONE, result="null")
    (item,) = notifications.since(ada, 0)
    assert json.loads(item.about) == {"job": job.id, "method": "check", "state": "done"}
    rank = Rank("rrps", "ada", "ada/x@1", {"rank": 1})
    notifications.ranked([rank])
    notifications.ranked([rank])
    notifications.close()
    again = Notifications(tmp_path / FILE)
    assert [one.kind for one in again.since(ada, 0)] == ["job", "ranked"]
    assert again.unranked("rrps", ["ada/x@1", "ada/y@1"]) == {"ada/y@1"}
    assert again.since(ada, again.latest()) == []
    again.close()
    ledger.close()


def test_what_is_old_is_forgotten_while_the_server_runs(there, monkeypatch):
    monkeypatch.setattr(pruning_module, "MOST", 2)
    monkeypatch.setattr(pruning_module, "SOON_SECONDS", 0.01)
    monkeypatch.setattr(pruning_module, "LOOK_SECONDS", 0.01)
    server = there.thread.server
    server._pruning.stop()  # its own thread may begin only now, and would look every 10 ms, too
    ada = Account("ada", Role.AUTHOR, None)
    # Under way: the server's own runner looks every second, and would take those that wait.
    jobs = [server._ledger.add("ada", f"k{n}", "check", "{}", State.RUNNING)[0] for n in range(7)]
    for job in jobs[:6]:
        server._ledger.end(job, State.DONE, result="null")
    assert len(server._notifications.since(ada, 0)) == 6 and server._pruning.look() is False
    long_ago = time.time() - KEPT_SECONDS - 60
    with closing(sqlite3.connect(there.home / FILE)) as file, file:
        file.execute("update job set ended = ? where number <= ?", [long_ago, jobs[4].number])
        file.execute("update news set created = ?", [long_ago])
    pruning = Pruning(server._ledger, server._notifications)
    assert pruning.look(), "two at once, and there is more"
    assert sum(server._ledger.get(job.id) is not None for job in jobs) == 5
    pruning.start()
    deadline = time.monotonic() + 20
    while server._notifications.since(ada, 0) or server._ledger.get(jobs[4].id):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    pruning.stop()
    assert [server._ledger.get(job.id) is not None for job in jobs] == [False] * 5 + [True] * 2
    late = {"Last-Event-ID": "1"}
    with stream(
        there, "ada", "/api/v1/notifications", **late
    ) as answer:  # of which nothing is left
        assert answer.status_code == 200 and "data:" not in heard(answer, 0.5)
    server._ledger.end(jobs[6], State.DONE, result="null")


def test_who_was_ranked_before_a_home_was_served_is_not_told_of(new_home):
    from arena import Arena

    home = new_home()
    with Arena(home, sandbox="process", workers=1) as arena:
        arena.submit(PASS, "kuhn", "zoe/pass")
        arena.play("kuhn", 2, only=["zoe/pass"])
    with served(home) as there, RemoteArena(there.address, there.tokens["boss"]) as boss:
        notifications = there.thread.server._notifications
        deadline = time.monotonic() + 20
        while notifications.none_ranked() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert notifications.unranked("kuhn", ["zoe/pass@1"]) == set()
        assert boss.check(ROCK, "rrps") is None
        told = notifications.since(Account("boss", Role.OPERATOR, None), 0)
        assert [one.kind for one in told] == ["job"]


# What a client believes.


@pytest.mark.parametrize("cut", [1, 3, 7, 1000])
def test_events_are_read_wherever_they_are_cut(cut):
    text = 'retry: 5\n\nid: 3\n\n: beat\n\nid: 4\r\nevent: job\r\ndata: {"a": 1}\r\n\r\nid: 5\n'
    pieces = [text[at : at + cut] for at in range(0, len(text), cut)]
    assert list(events_in(pieces)) == [3, Told(4, "job", {"a": 1})]


@pytest.mark.parametrize(
    "text",
    [
        "id: x\n\n",
        "id: ٣\n\n",
        "id: " + "9" * 5000 + "\n\n",
        "id: 1\ndata: [\n\n",
        "id: 1\ndata: []\n\n",
        "x" * (LONGEST_EVENT + 1),
        "".join(f"f{n}: {'x' * 1000}\n" for n in range(70)),
        "".join(f"f{n}\n" for n in range(20_000)),
    ],
    ids=lambda text: repr(text)[:30],
)
def test_events_that_are_none_are_refused(text):
    with pytest.raises(Malformed):
        list(events_in([text]))
    body = (200, {"Content-Type": "text/event-stream"}, text.encode())
    with (
        answering(body) as (address, _),
        RemoteArena(address, timeout=0.5) as arena,
        pytest.raises(ServerError),
    ):
        next(arena.notifications())


def test_a_stream_that_is_packed_is_refused():
    packed = gzip.compress(b"id: 1\n\n" * 10)
    with (
        answering((200, {"Content-Encoding": "gzip"}, packed)) as (address, asked),
        RemoteArena(address, timeout=0.5) as arena,
        pytest.raises(ServerError, match="not packed"),
    ):
        next(arena.notifications())
    assert asked[0][2]["Accept-Encoding"] == "identity"


def test_a_stream_that_breaks_goes_on_where_it_was():
    first = (200, {}, b'id: 7\nevent: job\ndata: {"n": 1}\n\nid: 8\neve')
    second = (200, {}, b'id: 8\nevent: job\ndata: {"n": 2}\n\n')
    with answering(first, (503, {}, {}), second) as (address, asked), RemoteArena(address) as arena:
        told = arena.notifications()
        assert [next(told).about["n"] for _ in range(2)] == [1, 2]
        assert "Last-Event-ID" not in asked[0][2]
        assert [headers["Last-Event-ID"] for _, _, headers in asked[1:]] == ["7", "7"]
    with (
        answering((404, {}, {"error": {"kind": "BadRequest", "message": "none"}})) as (address, _),
        RemoteArena(address) as arena,
        pytest.raises(BadRequest, match="none"),
    ):
        next(arena.notifications())
    with (
        RemoteArena("http://127.0.0.1:9", "x", timeout=0.3) as nobody,
        pytest.raises(ServerUnreachable),
    ):
        next(nobody.notifications())
