"""`arena author`: who there is, and the tokens that the operator makes."""

import json

import pytest
from click.testing import CliRunner

from arena.cli import main
from arena.home import open_home


def run(*arguments, home, **options):
    return CliRunner().invoke(main, [*arguments, "--home", str(home)], **options)


def document(*arguments, home):
    result = run(*arguments, "--json", home=home)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_token_is_made_renewed_and_listed(home):
    made = document("author", "token", "ada", home=home)
    registry = open_home(home).registry
    assert registry.token_fits("ada", made["token"])
    (ada,) = [
        one for one in document("author", "list", home=home)["authors"] if one["name"] == "ada"
    ]
    assert (ada["token"], ada["origin"]) == (True, "operator")

    refused = run("author", "token", "ada", home=home, input="n\n")
    assert refused.exit_code == 1
    assert "will fit no longer" in refused.output
    assert registry.token_fits("ada", made["token"])

    renewed = document("author", "token", "ada", "--yes", home=home)["token"]
    assert registry.token_fits("ada", renewed)
    assert not registry.token_fits("ada", made["token"])
    table = run("author", "list", home=home).output
    assert "ada" in table
    assert renewed not in table


def test_an_author_of_the_command_line_gets_a_token_without_being_asked(home):
    before = {one["name"] for one in document("author", "list", home=home)["authors"]}
    assert {"house", "starter"} <= before
    file = home.parent / "bot.py"
    file.write_text("class Agent:\n    def act(self, observation):\n        return 'ROCK'\n")
    words = ("submit", str(file), "--game", "rrps", "--name", "grace/rock")
    assert run(*words, home=home).exit_code == 0
    shown = run("author", "token", "grace", home=home)
    assert shown.exit_code == 0
    token = shown.output.split()[-1]
    assert open_home(home).registry.token_fits("grace", token)


@pytest.mark.parametrize("name", ["house", "H0use", "csro", "a/b", "", "x\u202ey", "x" * 300])
def test_names_that_cannot_have_one_are_refused(home, name):
    refused = run("author", "token", name, home=home)
    assert refused.exit_code == 2, refused.output
    assert "error:" in refused.output
    assert "Traceback" not in refused.output
