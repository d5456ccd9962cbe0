"""A roster: a table of names and roles, of which accounts or invitations are made in one go."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from arena.errors import UsageFault
from registry import Role

MOST_NAMES = 10_000
_HEADERS = (["name"], ["name", "role"])


def read_roster(text: str) -> tuple[tuple[str, Role], ...]:
    """Names and roles from comma-separated values: a name in each line, and a role or none.

    A first line of `name` or `name,role` is taken for headings.  Empty lines do not count.

    Args:
      text: the table.

    Returns:
      Name and role of each, in the order of the lines; whoever has no role is an author.

    Raises:
      UsageFault: a line is not written so, or there is none.
    """
    found: list[tuple[str, Role]] = []
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff")), strict=True)
    try:
        for cells in reader:
            cells = [cell.strip() for cell in cells]
            if not any(cells) or (not found and cells in _HEADERS):
                continue
            found.append(_line(cells, reader.line_num))
    except csv.Error as error:
        raise UsageFault(f"line {reader.line_num} of the roster cannot be read: {error}") from error
    if not found:
        raise UsageFault("there is nobody in the roster: write NAME or NAME,ROLE in each line")
    if len(found) > MOST_NAMES:
        raise UsageFault(f"the roster has {len(found):,} names; {MOST_NAMES:,} are taken at once")
    return tuple(found)


def write_roster(roster: Sequence[tuple[str, Role]], secrets: Mapping[str, str], what: str) -> str:
    """The roster with the secret of each as comma-separated values, headings first.

    Args:
      roster: as `read_roster` returns it.
      secrets: by name.
      what: heading of the secrets: "token" or "code".
    """
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow(("name", "role", what))
    table.writerows((name, role.value, secrets[name]) for name, role in roster)
    return written.getvalue()


def _line(cells: Sequence[str], number: int) -> tuple[str, Role]:
    if len(cells) > 2:
        raise UsageFault(f"line {number} of the roster has {len(cells)} columns: name and role")
    role = cells[1] if len(cells) == 2 and cells[1] else Role.AUTHOR.value
    if role not in frozenset(Role):
        raise UsageFault(
            f"line {number} of the roster: {role[:40]!r} is no role; there are "
            f"{', '.join(one.value for one in Role)}"
        )
    return cells[0], Role(role)
