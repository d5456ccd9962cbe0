"""Server-sent events of an arena behind an address, read by a client that believes nothing.

See https://html.spec.whatwg.org/multipage/server-sent-events.html: lines of `id`, `event` and
`data`, and an empty line after each event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from arena.wire.answers import document_in
from arena.wire.plain import Json, Malformed

LONGEST_EVENT = 1 << 16
"""Characters of one event, and of one line."""


@dataclass(frozen=True, slots=True)
class Told:
    """One notification: a thing that an account is told without asking.

    Attributes:
      number: they rise; who says the last that was seen gets those that came later.
      kind: "job" (`about` has job, method and state: it is over) or "ranked" (`about` has game,
        ref, digest, rank, rank_low, rank_high, of and provisional).
      about: a JSON object.
    """

    number: int
    kind: str
    about: Mapping[str, Json]


def events_in(texts: Iterable[str]) -> Iterator[Told | int]:
    """The events of a stream, and numbers of which nothing but themselves is told.

    Args:
      texts: pieces of the stream, cut anywhere.

    Raises:
      Malformed: it is no such stream.
    """
    fields: dict[str, str] = {}
    size = 0
    for line in _lines(texts):
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
            size += len(line)  # names too: fields without a value would be held without end
            if size > LONGEST_EVENT:
                raise Malformed(f"an event of at most {LONGEST_EVENT:,} characters is wanted")
            continue
        if "id" in fields:
            number = _number(fields["id"])
            about = document_in(fields["data"].encode()) if "data" in fields else None
            yield number if about is None else Told(number, fields.get("event", ""), about)
        fields, size = {}, 0


def _lines(texts: Iterable[str]) -> Iterator[str]:
    left = ""
    for text in texts:
        *lines, left = (left + text).split("\n")
        yield from (line.removesuffix("\r") for line in lines)
        if len(left) > LONGEST_EVENT:
            raise Malformed(f"a line of at most {LONGEST_EVENT:,} characters is wanted")


def _number(told: str) -> int:
    # No int() of what may have thousands of digits, nor of digits of other scripts.
    if not (told.isascii() and told.isdecimal() and len(told) <= 18):
        raise Malformed("the number of an event is wanted", "id")
    return int(told)
