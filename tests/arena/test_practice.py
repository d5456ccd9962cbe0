"""Practice: what a policy prints is shown, and nothing is registered, stored or foretold."""

import json
import re
import shutil

import pytest
from click.testing import CliRunner

from arena import Arena, Rejection
from arena.cli import main
from arena.errors import UsageFault
from arena.practice import PRINTED_CHARS
from arena.values import Termination

TALKS = """class Agent:
    def __init__(self):
        self.throws = 0
        print(end="made")
        print(end=chr(10))

    def act(self, observation):
        self.throws += 1
        if self.throws % 400 == 0:
            print(end="|".join(["throw", str(self.throws), observation["opponent_action"]]))
            print(end=chr(10))
        {last}
        return "PAPER"
"""
HANDS = """class RepeatedKuhnPokerBot:
    def restart(self, player_id):
        print("I am", player_id)

    def act(self, obs):
        return obs["player_view"]["legal_actions"][0]

    def receive_outcome(self, obs):
        print("over")
"""


@pytest.fixture(scope="module")
def arena(house, tmp_path_factory):
    """One for all tests: what they hold is that nothing changes it."""
    home = shutil.copytree(house, tmp_path_factory.mktemp("practice") / "home")
    with Arena(home, sandbox="process", workers=1) as made:
        yield made


def talking(last=""):
    return TALKS.replace("{last}", last)


def test_what_it_prints_is_shown_and_changes_nothing(arena):
    policies = [one.ref for one in arena.policies()]
    found = arena.practise(talking(), "rrps", ["house/rockbot", "house/randbot"])
    silent = arena.practise(talking().replace("print", "dict"), "rrps", ["house/rockbot"])
    refs = ["house/rockbot@1"] * 2 + ["house/randbot@1"] * 2
    assert [one.opponent for one in found] == refs
    assert {one.seat for one in found[:2]} == {0, 1}
    for one in found[:2]:
        assert one.value == 1000
        assert one.printed == "made\nthrow|400|ROCK\nthrow|800|ROCK"
    assert all(one.printed == "" and one.value == 1000 for one in silent)
    assert [one.ref for one in arena.policies()] == policies
    assert not arena.matches("rrps")


def test_it_repeats_by_its_seed_and_by_no_secret(new_arena):
    source = talking("import random; return random.choice(['ROCK', 'PAPER', 'SCISSORS'])")
    one, other = new_arena("one"), new_arena("other")
    other.reveal_season()  # another key is in force
    first, again = (a.practise(source, "rrps", ["house/randbot"], 1) for a in (one, other))
    assert first[0].result.moves == again[0].result.moves
    differs = one.practise(source, "rrps", ["house/randbot"], 1, seed=2)
    assert differs[0].result.moves != first[0].result.moves


@pytest.mark.parametrize(
    ("last", "end", "printed"),
    [
        ("if self.throws == 500: raise RuntimeError('at 500')", "crashed", "throw|400|ROCK"),
        ("if self.throws == 500: return 'LIZARD'", "illegal-action", "throw|400|ROCK"),
        ("if self.throws == 500: return 7", "malformed-action", "throw|400|ROCK"),
        ("while self.throws == 500: pass", "timed-out", "throw|400|ROCK"),
    ],
)
def test_what_it_printed_before_a_fault_is_shown(arena, last, end, printed):
    (one,) = arena.practise(talking(last), "rrps", ["house/rockbot"], 1)
    assert one.result.termination is Termination(end)
    assert one.result.fault_seat == one.seat
    assert one.printed.endswith(printed)
    assert "<what the policy" not in one.result.fault_message


def test_games_of_hands(arena):
    (one,) = arena.practise(HANDS, "kuhn", ["house/AlwaysBet"], 1)
    assert one.printed.startswith("I am ")
    assert "over" in one.printed


def test_what_is_no_policy_is_rejected_and_somebody_must_be_met(arena):
    assert isinstance(arena.practise("x = 1", "rrps", ["house/rockbot"]), Rejection)
    with pytest.raises(UsageFault):
        arena.practise(talking(), "rrps", [])


def test_numpys_strings_are_named(arena):
    source = talking("import numpy; return numpy.random.choice(['ROCK', 'PAPER'])")
    (one,) = arena.practise(source, "rrps", ["house/rockbot"], 1)
    assert one.result.termination is Termination.MALFORMED_ACTION
    assert "np.str_" in one.result.fault_message


def test_the_commands_read_what_is_piped_in_and_make_no_home(tmp_path):
    home = tmp_path / "none"
    words = ["--game", "rrps", "--home", str(home), "--json"]
    against = ["--against", "house/rockbot", "--matches", "1"]
    tried = CliRunner().invoke(main, ["try", "-", *against, *words], input=talking())
    assert tried.exit_code == 0, tried.output
    (match,) = json.loads(tried.stdout)["matches"]
    assert (match["return"], match["printed"][:4]) == (1000, "made")
    checked = CliRunner().invoke(main, ["check", "-", *words], input=talking())
    assert checked.exit_code == 0, checked.output
    assert not home.exists()
    refused = CliRunner().invoke(main, ["check", "-", *words], input="x = 1")
    assert refused.exit_code == 1 and "class-missing" in refused.stdout
    large = CliRunner().invoke(main, ["check", "-", *words], input="#" * 70_000)
    assert large.exit_code == 1 and "too-large" in large.stdout
    taken = CliRunner().invoke(main, ["submit", "-", "--name", "ada/x", *words], input=talking())
    assert taken.exit_code == 0 and json.loads(taken.stdout)["ref"] == "ada/x@1"


def test_much_that_is_printed_is_clipped_unless_all_is_asked_for(tmp_path):
    source = talking("print(end=str(self.throws) + chr(10))")
    words = ["try", "-", "--game", "rrps", "--home", str(tmp_path / "none"), "--matches", "1"]
    words += ["--against", "house/rockbot"]
    shown = CliRunner().invoke(main, words, input=source).stdout.partition("printed")[2]
    lines = shown.splitlines()[1:]
    assert lines[:2] == ["made", "1"] and lines[-1] == "1000"
    assert lines[10] == "... 983 more lines; --all shows them ..."
    assert len(lines) == 21
    shown = CliRunner().invoke(main, [*words, "--all"], input=source).stdout.partition("printed")[2]
    assert len(shown.splitlines()) == 1 + 1003


def test_a_mistyped_opponent_is_told_before_a_sandbox_is_looked_for(tmp_path):
    words = ["try", "-", "--game", "rrps", "--home", str(tmp_path / "none"), "--against", "rockbot"]
    refused = CliRunner().invoke(main, words, input=talking())
    assert refused.exit_code != 0
    assert "house/rockbot" in refused.stderr
    assert "sandbox" not in refused.stderr


def test_of_more_than_is_kept_whole_lines_stay_and_the_loss_is_told(arena):
    source = (
        "class Agent:\n"
        "    def act(self, observation):\n"
        "        print('a line of which there are a thousand')\n"
        "        return 'ROCK'\n"
    )
    (one,) = arena.practise(source, "rrps", ["house/rockbot"], matches=1)
    told, *lines = one.printed.splitlines()
    assert re.fullmatch(r"\.\.\. [\d,]+ characters before this are not kept \.\.\.", told)
    assert set(lines) == {"a line of which there are a thousand"}
    lost = int(re.sub(r"\D", "", told))
    assert lost + 37 * len(lines) == 37_000
    assert len(one.printed) <= PRINTED_CHARS
