"""What a server with pages tells anybody, for other sites: badges of policies, feeds of newcomers.

The pages show the same without a token.  Whatever is asked for, a leaderboard is computed at most
every few seconds.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

from arena.analysis.leaderboard import Row
from arena.errors import UsageFault
from arena.games import GAMES
from arena.games.protocol import Game
from arena.home import Home
from arena.record import Record
from arena.server.state import StateOfHome
from arena.server.veil import as_strangers_see
from registry.values import PolicyVersion, Status

FRESH_SECONDS = 10.0
NEWEST = 30
"""Policies in a feed."""
_ATOM = "http://www.w3.org/2005/Atom"
_SVG = "http://www.w3.org/2000/svg"
_JSON_FEED = "https://jsonfeed.org/version/1.1"
_LETTER = 6.6
"""Width of a letter of a badge, about; its text is stretched to what it says it is."""
_HEIGHT, _MARGIN = 20, 7.0
_DARK, _COLOUR = "#3b3b3b", "#0f5e9c"
"""White on either has a contrast above 6.5."""


@dataclass(frozen=True, slots=True)
class _Standing:
    """Everybody who takes part in a game, and when that was looked at."""

    state: str
    at: float
    rows: Mapping[str, Row]
    newest: tuple[PolicyVersion, ...]
    ranked: int


class Public:
    """Badges and feeds of a home.  Safe for many threads.

    Args:
      home: what is told of.
    """

    def __init__(self, home: Home) -> None:
        self._home, self._record, self._state = home, Record(home), StateOfHome(home)
        self._lock = threading.Lock()
        self._standings: dict[str, _Standing] = {}

    def badge(self, game: str, ref: str) -> str:
        """A picture (SVG) of where a policy stands, for a README.

        Args:
          game: name of the game.
          ref: of the policy.

        Raises:
          UsageFault: there is no such game.
          UnknownPolicy, MalformedName: there is no such policy.
        """
        standing = self._standing(_game(game))
        version = Record(as_strangers_see(self._home)).policy(ref, game)
        row = standing.rows.get(version.digest)
        return _picture(f"{version.name} at {game}", _told(row, standing.ranked))

    def feed(self, game: str, root: str) -> str:
        """The newest entrants as a JSON Feed 1.1.

        Args:
          game: name of the game.
          root: address of the server.

        Raises:
          UsageFault: there is no such game.
        """
        played = _game(game)
        standing = self._standing(played)
        items = [
            {
                "id": version.digest,
                "title": version.ref,
                "date_published": version.created.isoformat(),
                "content_text": _text(version, standing),
            }
            for version in standing.newest
        ]
        return json.dumps(
            {
                "version": _JSON_FEED,
                "title": _title(played),
                "home_page_url": root,
                "feed_url": f"{root}/feed/{game}.json",
                "items": items,
            }
        )

    def atom(self, game: str, root: str) -> str:
        """The same as an Atom feed (RFC 4287)."""
        played = _game(game)
        standing = self._standing(played)
        ElementTree.register_namespace("", _ATOM)
        feed = ElementTree.Element(f"{{{_ATOM}}}feed")

        def add(parent: ElementTree.Element, name: str, text: str) -> ElementTree.Element:
            made = ElementTree.SubElement(parent, f"{{{_ATOM}}}{name}")
            made.text = text
            return made

        address = f"{root}/feed/{game}.atom"
        add(feed, "id", address)
        add(feed, "title", _title(played))
        add(feed, "updated", max((one.created.isoformat() for one in standing.newest), default=""))
        add(feed, "link", "").attrib |= {"rel": "self", "href": address}
        for version in standing.newest:
            entry = add(feed, "entry", "")
            add(entry, "id", f"urn:policy-arena:{version.digest}")
            add(entry, "title", version.ref)
            add(entry, "updated", version.created.isoformat())
            add(add(entry, "author", ""), "name", version.author)
            add(entry, "summary", _printable(_text(version, standing)))
        return ElementTree.tostring(feed, encoding="unicode", xml_declaration=True)

    def close(self) -> None:
        """Closes what it opened."""
        self._state.close()

    def _standing(self, game: Game) -> _Standing:
        with self._lock:
            kept = self._standings.get(game.name)
            if kept is not None and time.monotonic() - kept.at < FRESH_SECONDS:
                return kept
            state = self._state.word()
            if kept is None or kept.state != state:
                board = self._record.leaderboard(game)
                entrants = self._record.policies(game, status=Status.QUALIFIED)
                newest = sorted(entrants, key=lambda one: (one.created, one.ref), reverse=True)
                ranked = sum(row.rank is not None for row in board.rows)
                rows = {row.digest: row for row in board.rows}
                kept = _Standing(state, 0.0, rows, tuple(newest[:NEWEST]), ranked)
            made = _Standing(kept.state, time.monotonic(), kept.rows, kept.newest, kept.ranked)
            self._standings[game.name] = made
            return made


def _game(name: str) -> Game:
    if name not in GAMES:
        raise UsageFault(f"there is no game {name!r:.40}; there are {', '.join(GAMES)}")
    return GAMES[name]


def _title(game: Game) -> str:
    return f"Policy Arena: newest entrants of {game.title}"


def _told(row: Row | None, ranked: int) -> str:
    if row is None:
        return "takes no part"
    if row.rank is None or row.rank_low is None:
        return "not ranked yet"
    range_ = "" if row.rank_low == row.rank_high else f" ({row.rank_low}-{row.rank_high})"
    return f"rank {row.rank}{range_} of {ranked}"


def _text(version: PolicyVersion, standing: _Standing) -> str:
    where = _told(standing.rows.get(version.digest), standing.ranked)
    return f"{where}. {version.description}".strip()


def _printable(text: str) -> str:
    """Without what XML cannot hold."""
    return "".join(one if one.isprintable() or one in "\n\t" else " " for one in text)


def _picture(label: str, value: str) -> str:
    """Two fields beside each other."""
    widths = [len(text) * _LETTER + 2 * _MARGIN for text in (label, value)]
    whole = f"{label}: {value}"
    ElementTree.register_namespace("", _SVG)
    size = {"width": f"{sum(widths):.0f}", "height": str(_HEIGHT)}
    svg = ElementTree.Element(f"{{{_SVG}}}svg", size | {"role": "img", "aria-label": whole})
    ElementTree.SubElement(svg, f"{{{_SVG}}}title").text = whole
    start = 0.0
    for text, width, colour in zip((label, value), widths, (_DARK, _COLOUR), strict=True):
        field = {"x": f"{start:.1f}", "width": f"{width:.1f}", "height": str(_HEIGHT)}
        ElementTree.SubElement(svg, f"{{{_SVG}}}rect", field | {"fill": colour})
        words = {
            "x": f"{start + _MARGIN:.1f}",
            "y": "14",
            "fill": "#fff",
            "font-family": "Verdana,DejaVu Sans,sans-serif",
            "font-size": "11",
            "textLength": f"{width - 2 * _MARGIN:.1f}",
            "lengthAdjust": "spacingAndGlyphs",
        }
        ElementTree.SubElement(svg, f"{{{_SVG}}}text", words).text = text
        start += width
    return ElementTree.tostring(svg, encoding="unicode")
