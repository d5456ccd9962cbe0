"""`arena accounts`: tokens, invitations, a roster in one go, and the log of changes."""

import csv
import io
import json

import pytest
from click.testing import CliRunner

from arena.class_roster import read_roster
from arena.cli import main
from arena.errors import UsageFault
from arena.home import open_home
from registry import Role
from tests.registry.tokens import token_fits


def run(*arguments, home, **options):
    return CliRunner().invoke(main, [*arguments, "--home", str(home)], **options)


def document(*arguments, home, **options):
    result = run(*arguments, "--json", home=home, **options)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_token_is_made_renewed_and_listed(home):
    made = document("accounts", "add", "ada", home=home)
    registry = open_home(home).registry
    assert token_fits(registry, "ada", made["token"])
    (ada,) = [
        one for one in document("accounts", "list", home=home)["accounts"] if one["name"] == "ada"
    ]
    assert (ada["token"], ada["origin"], ada["role"]) == (True, "operator", "author")
    assert run("accounts", "add", "ada", home=home).exit_code == 2

    refused = run("accounts", "renew", "ada", home=home, input="n\n")
    assert refused.exit_code == 1
    assert "will fit no longer" in refused.output
    assert token_fits(registry, "ada", made["token"])

    renewed = document("accounts", "renew", "ada", "--yes", home=home)["token"]
    assert token_fits(registry, "ada", renewed)
    assert not token_fits(registry, "ada", made["token"])
    table = run("accounts", "list", home=home).output
    assert "ada" in table
    assert renewed not in table


def test_an_author_of_the_command_line_gets_a_token_without_being_asked(home):
    before = {one["name"] for one in document("accounts", "list", home=home)["accounts"]}
    assert {"house", "starter"} <= before
    file = home.parent / "bot.py"
    file.write_text("class Agent:\n    def act(self, observation):\n        return 'ROCK'\n")
    words = ("submit", str(file), "--game", "rrps", "--name", "grace/rock")
    assert run(*words, home=home).exit_code == 0
    shown = run("accounts", "renew", "grace", home=home)
    assert shown.exit_code == 0
    token = shown.output.split()[-1]
    assert token_fits(open_home(home).registry, "grace", token)


@pytest.mark.parametrize("name", ["house", "H0use", "csro", "a/b", "", "x\u202ey", "x" * 300])
def test_names_that_cannot_have_one_are_refused(home, name):
    refused = run("accounts", "add", name, home=home)
    assert refused.exit_code == 2, refused.output
    assert "error:" in refused.output
    assert "Traceback" not in refused.output


def test_a_roster_makes_accounts_or_codes_and_prints_them_once(home):
    text = "name,role\nada,\nbob, reader\n\nprof,operator\n"
    printed = run("accounts", "import", "-", home=home, input=text)
    assert printed.exit_code == 0, printed.output
    rows = list(csv.DictReader(io.StringIO(printed.stdout)))
    assert [(row["name"], row["role"]) for row in rows] == [
        ("ada", "author"),
        ("bob", "reader"),
        ("prof", "operator"),
    ]
    registry = open_home(home).registry
    assert all(token_fits(registry, row["name"], row["token"]) for row in rows)

    refused = run("accounts", "import", "-", home=home, input="cy\nada\n")
    assert refused.exit_code == 2 and "'ada'" in refused.output
    assert registry.account("cy") is None

    codes = document("accounts", "import", "-", "--invites", home=home, input="cy\n")
    (cy,) = codes["accounts"]
    token = document("accounts", "redeem", cy["code"], "cy", home=home)["token"]
    assert token_fits(registry, "cy", token)
    again = run("accounts", "redeem", cy["code"], "di", home=home)
    assert again.exit_code == 1 and "was used already" in again.output


def test_an_invitation_is_made_and_ended(home):
    code = document("accounts", "invite", "--uses", "3", home=home)["code"]
    (invite,) = document("accounts", "list", home=home)["invites"]
    assert (invite["uses"], invite["used"]) == (3, 0) and code not in json.dumps(invite)
    document("accounts", "invite", "--withdraw", invite["mark"], home=home)
    assert run("accounts", "redeem", code, "ada", home=home).exit_code == 1
    gone = run("accounts", "invite", "--withdraw", invite["mark"], home=home)
    assert gone.exit_code == 2 and "no open invitation" in gone.output


def test_an_account_is_changed_and_the_log_says_by_whom(home):
    document("accounts", "add", "ada", "--expires", "2030-01-02T03:04", home=home)
    assert document("accounts", "disable", "ada", home=home)["disabled"]
    assert not document("accounts", "enable", "ada", home=home)["disabled"]
    assert document("accounts", "role", "ada", "reader", home=home)["role"] == "reader"
    words = ("accounts", "quota", "ada", "--submissions", "3", "--minutes", "1.5")
    quota = document(*words, home=home)
    assert (quota["submissions_a_day"], quota["seconds_a_day"]) == (3, 90.0)
    assert quota["expires"] == "2030-01-02T03:04:00+00:00"
    told = " ".join(run("accounts", "list", home=home).output.split())
    assert "3 submissions" in told
    events = document("accounts", "log", "--subject", "ada", home=home)["events"]
    assert [one["what"] for one in events] == [
        "account.added",
        "account.disabled",
        "account.enabled",
        "account.role",
        "account.quota",
    ]
    assert {one["who"] for one in events} == {"operator"}
    assert all("login " in one["detail"] for one in events)
    assert "account.quota" in run("accounts", "log", home=home).output
    assert run("accounts", "disable", "nobody", home=home).exit_code == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "nobody in the roster"),
        ("name\n", "nobody in the roster"),
        ("ada\nbob,king\n", "line 2 .* 'king' is no role"),
        ("ada,author,1\n", "line 1 .* 3 columns"),
        ('ada\n"bob\n', "cannot be read"),
    ],
)
def test_rosters_that_are_none(text, told):
    with pytest.raises(UsageFault, match=told):
        read_roster(text)


def test_a_roster_is_read_as_spreadsheets_write_it():
    text = "\ufeffname,role\r\nada,author\r\n bob ,\r\n,\r\nname,reader\r\n"
    assert read_roster(text) == (
        ("ada", Role.AUTHOR),
        ("bob", Role.AUTHOR),
        ("name", Role.READER),
    )
