"""The `arena` command.  Each group of commands has a module of its own here."""

from __future__ import annotations

import sys

try:
    import click

    from arena.cli.lazy import LazyGroup
except KeyboardInterrupt:  # before there is anything else to catch it
    sys.stderr.write("stopped before it began\n")
    sys.exit(130)

PLACES = {
    "games": "arena.cli.games",
    "rules": "arena.cli.games",
    "submit": "arena.cli.entrants",
    "check": "arena.cli.entrants",
    "list": "arena.cli.entrants",
    "show": "arena.cli.entrants",
    "history": "arena.cli.entrants",
    "yank": "arena.cli.entrants",
    "reinstate": "arena.cli.entrants",
    "try": "arena.cli.practice",
    "accounts": "arena.cli.accounts",
    "play": "arena.cli.matches",
    "matches": "arena.cli.matches",
    "replay": "arena.cli.matches",
    "export": "arena.cli.matches",
    "leaderboard": "arena.cli.standings",
    "payoffs": "arena.cli.standings",
    "evaluate": "arena.cli.standings",
    "seed": "arena.cli.seasons",
    "backup": "arena.cli.backups",
    "restore": "arena.cli.backups",
    "tournament": "arena.cli.tournaments",
    "verify": "arena.cli.tournaments",
    "doctor": "arena.cli.machine",
    "dashboard": "arena.cli.machine",
    "serve": "arena.cli.serving",
    "login": "arena.cli.serving",
}
SUMMARIES = {
    "games": "Lists the games.",
    "rules": "Prints what an author needs to know to write a policy of GAME.",
    "submit": "Checks a policy FILE, tries it in the sandbox, and registers it as a new version.",
    "check": "Runs the checks of `submit` on a FILE (- is what is piped in) and stores nothing.",
    "list": "Lists registered policies.",
    "show": "Shows a policy: who wrote it, when, from what, and where it stands.",
    "history": "Tells what became of a policy: every status that it had, when and why.",
    "yank": "Withdraws a policy from round robins.",
    "reinstate": "Lets a withdrawn or quarantined policy take part again.",
    "try": "Plays a policy FILE (- is what is piped in) against others, and shows what it prints.",
    "accounts": "Who submits, operates or only reads; their tokens; the log of what was changed.",
    "play": "Plays the round robin of all qualified policies.",
    "matches": "Lists stored matches, newest first; REF narrows them to one policy's.",
    "replay": "Retells a stored match, and with --verify checks that it can be reproduced.",
    "export": "Writes matches, pair statistics and policies as Parquet files for other tools.",
    "leaderboard": "Ranks all qualified policies by their scores against the population.",
    "payoffs": "The payoff table: mean return of row against column.",
    "evaluate": "Plays REF against the evaluation population and reports how good it is and why.",
    "seed": "The secret that all seeds and deals follow from.",
    "backup": "Copies everything that a home keeps into one new FILE, also while it is in use.",
    "restore": "Makes the home from a FILE that `arena backup` wrote; --home names a new folder.",
    "tournament": "Entries until a moment, a final with seeds of its own, and a certificate of it.",
    "verify": "Checks the certificate of a final against itself; needs no home.",
    "doctor": "Says what this machine has to hold untrusted code, and what to do about the rest.",
    "dashboard": "Shows the home as web pages; --help lists the options.",
    "serve": "Serves the home to other machines: an HTTP API, the pages, and a player.",
    "login": "Keeps the token of an account at URL, for every command with --home URL.",
}


@click.group(
    cls=LazyGroup,
    places=PLACES,
    summaries=SUMMARIES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="policy-arena", prog_name="arena")
def main() -> None:
    """Policy Arena: tournaments of code policies in repeated games.

    Submit a policy, play the round robin, read the leaderboard, replay any match.
    Everything is kept in one home folder (--home or ARENA_HOME), or on a server (ARENA_URL).
    """
