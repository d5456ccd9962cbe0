"""Commands about servers: serve, login."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from arena.cli.session import Session, answer_options, notice, plain, session_options
from arena.cli.walls import sandbox_options
from arena.cli.workers import workers_options
from arena.errors import UsageFault
from arena.executors import Workers
from sandbox.choose import WallChoice

MINUTE = 60.0


@click.command()
@click.option(
    "--port",
    default=8500,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="0 takes a free one.",
)
@click.option(
    "--listen",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="Of this machine; anything but loopback lets others in.",
)
@click.option(
    "--player/--no-player",
    default=True,
    show_default=True,
    help="Play what is missing of the round robins while nobody waits.",
)
@click.option(
    "--matches",
    default=16,
    show_default=True,
    type=click.IntRange(1),
    help="Of each pair, that are played so.",
)
@click.option(
    "--pages/--no-pages",
    default=True,
    show_default=True,
    help="Show the pages of `arena dashboard` at the same address.",
)
@click.option(
    "--author-minutes",
    default=120.0,
    show_default=True,
    type=click.FloatRange(0, min_open=True),
    help="For which an author's matches may hold a processor on one day (in UTC).",
)
@click.option(
    "--author-submissions",
    default=200,
    show_default=True,
    type=click.IntRange(1),
    help="Of an author on one day.",
)
@click.option(
    "--rate",
    default=100.0,
    show_default=True,
    type=click.FloatRange(1),
    help="Requests a second of one client, in the long run.",
)
@click.option(
    "--oidc",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Let people sign in on the pages by OpenID Connect, as FILE says.",
)
@workers_options
@sandbox_options
@session_options
def serve(
    session: Session,
    port: int,
    listen: str,
    player: bool,
    matches: int,
    pages: bool,
    author_minutes: float,
    author_submissions: int,
    rate: float,
    oidc: Path | None,
    workers: Workers,
    wall: WallChoice,
) -> None:
    """Serves the home to other machines: an HTTP API, the pages, and a thread that plays.

    Whoever comes shows a token: make accounts with `arena accounts`.  The server writes a log of
    one JSON document a line on stderr.
    """
    home = session.home_path  # a server serves a folder
    if oidc is not None and not pages:
        raise UsageFault("--oidc is for the pages, and --no-pages leaves them out")
    # A web server and all that it needs, which no other command loads.
    from arena.server.serving import Server, Serving
    from arena.server.telling import log_as_json
    from registry.rights import Quota

    log_as_json()
    notice(f"opening {home} ...")
    serving = Serving(
        home.resolve(),
        session.registry_url,
        session.seed_key,
        wall,
        workers,
        matches if player else 0,
        Quota(author_submissions, MINUTE * author_minutes),
        pages,
        rate,
        None if oidc is None else oidc.resolve(),
    )

    def announce(where: str) -> None:
        click.echo(f"Policy Arena: {where}")
        sys.stdout.flush()

    Server(serving).run(listen, port, announce)


@click.command()
@click.argument("url")
@click.option("--forget", is_flag=True, help="Forget the token that is kept for it.")
@answer_options
def login(session: Session, url: str, forget: bool) -> None:
    """Keeps the token of an account at URL, for every command with --home URL.

    It is asked for, or read from what is piped in, and tried.  The file is the user's own.
    """
    from arena.logins import address_of, keep

    address = address_of(url)
    if forget:
        file = keep(address, "")
        session.answer(
            {"server": address, "account": None, "file": str(file)},
            lambda out: out.print(f"forgot the token for {plain(address)}"),
        )
        return
    from arena.remote import RemoteArena

    piped = not sys.stdin.isatty()
    token = sys.stdin.readline().strip() if piped else click.prompt("token", hide_input=True)
    made: type = RemoteArena
    with made(address, token, timeout=5.0) as arena:
        account = arena.account()
    file = keep(address, token)
    session.answer(
        {"server": address, "account": account["name"], "file": str(file)},
        lambda out: out.print(
            f"{plain(address)} knows you as {plain(account['name'])} ({account['role']}); the "
            f"token is kept in {plain(str(file))}",
            soft_wrap=True,
        ),
    )


COMMANDS: tuple[click.Command, ...] = (serve, login)
