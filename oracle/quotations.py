"""Which passages of a text quote a program's code.

Text and program are compared token by token, so that other blanks, line breaks and quote marks
hide nothing, and an expression in the middle of a line is found as well.  Code only: a docstring, a
comment and a sentence in a string are words about the program, and who describes it may well find
the same ones; nor is it the author's code what a game asks of every program.  The program is taken
apart by a pattern and never handed to Python's own parser, because nobody vouches for it.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from arena.contract import AuthorContract

LEAK_CHARS = 12
"""A line of code that is shorter than this gives nothing away."""
LEAK_TOKENS = 8
"""Nor does a part of a line of fewer tokens."""
CUT = "[...]"
"""What stands in the place of a passage that is cut out."""
_LONGEST = 64
"""Tokens of a line that are looked for as a whole; a longer one is found by its parts."""
_PIECE = re.compile(
    r"(?P<string>[a-zA-Z]{0,3}(?:"
    r'"""(?:\\.|[^\\])*?"""|' + r"'''(?:\\.|[^\\])*?'''|"
    r'"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'))"
    r"|(?P<comment>\#[^\n]*)"
    r"|(?P<newline>\n)"
    r"|(?P<opens>[(\[{])"
    r"|(?P<closes>[)\]}])"
    r"|(?P<blank>(?:[^\S\n]|\\\n)+)"
    r"|(?P<word>\w+)"
    r"|(?P<sign>.)",
    re.DOTALL,
)
"""What a program is made of; no string or comment ends in the middle of one of them."""
_QUOTES = "\"'\u2018-\u201e"
_TOKEN = re.compile(
    rf"[{_QUOTES}](?P<quoted>\w+)[{_QUOTES}]"
    r"|(?P<word>\d+(?:\.\d+)?\w*|\w+)"
    rf"|(?P<sign>\*\*=?|//=?|<<=?|>>=?|->|[-+*/%@&|^=!<>:]=|[^\s\w\\`{_QUOTES}])"
)
"""What text and program are compared by: all quote marks are alike, and those of markdown none."""
_MARKS = re.compile(r"[^\w\s,;!?-]")
"""What prose does not have in a line that reads like code; words and commas alone are prose."""
_IN_PROSE = frozenset("(),.;:?!-/%")
"""Signs that stand in sentences too, such as "(0.5, 0.3 or 20 %)": they are code among names."""
_NO_PART = frozenset(",.;:?!")
"""Signs that neither work something out nor enclose anything."""


@dataclass(frozen=True, slots=True)
class _Token:
    """A token of a program.

    Attributes:
      text: as it is compared.
      sign: whether it is an operator, a bracket or the like; never in a string.
      name: whether it is a name; never in a string.
      said: whether it is in a string with other tokens.
    """

    text: str
    sign: bool = False
    name: bool = False
    said: bool = False


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a program without its comment, or a statement over several."""

    text: str
    tokens: tuple[_Token, ...]


def leaks(text: str, source: str, contract: AuthorContract | None = None) -> tuple[str, ...]:
    """The passages of a text that quote the program's code, in order.

    Such a passage is a whole line of `LEAK_CHARS` or more characters, or a part of one of
    `LEAK_TOKENS` or more tokens with an operator or a bracket.

    Args:
      text: any.
      source: of the program.
      contract: of its game; the lines that begin its class and its methods are everybody's.
    """
    return tuple(text[start:end] for start, end in _quoted(text, source, contract))


def without_quotations(text: str, source: str, contract: AuthorContract | None = None) -> str:
    """The text with all of these passages cut out."""
    for start, end in reversed(_quoted(text, source, contract)):
        text = f"{text[:start]}{CUT}{text[end:]}"
    return text


def _quoted(text: str, source: str, contract: AuthorContract | None) -> list[tuple[int, int]]:
    """Where quotations begin and end; those that overlap are one."""
    passages = _passages(source, contract)
    found = list(_TOKEN.finditer(text))
    tokens = tuple(map(_compared, found))
    spans: list[tuple[int, int, bool]] = []
    for first in range(len(tokens)):
        same = [
            (n, known[part])
            for n, known in passages.items()
            if (part := tokens[first : first + n]) in known
        ]
        if not same:
            continue
        start, last, telling = first, first + max(same)[0] - 1, any(tells for _, tells in same)
        if spans and first <= spans[-1][1]:
            start, before, told = spans.pop()
            last, telling = max(last, before), telling or told
        spans.append((start, last, telling))
    return [_bounds(found[start : last + 1]) for start, last, telling in spans if telling]


def _bounds(found: Sequence[re.Match[str]]) -> tuple[int, int]:
    """Where these tokens begin and end; commas and the like beside them may be the sentence's."""
    own = [one for one in found if one[0] not in _NO_PART]
    return own[0].start(), own[-1].end()


def _passages(
    source: str, contract: AuthorContract | None
) -> dict[int, dict[tuple[str, ...], bool]]:
    """Parts of the program by their number of tokens, and whether one alone gives code away.

    What does not still belongs to a longer quotation.
    """
    found: dict[int, dict[tuple[str, ...], bool]] = {}
    for line in _lines(source, contract):
        parts = []
        if len(line.text) >= LEAK_CHARS and len(line.tokens) <= _LONGEST and _is_code(line):
            parts.append((line.tokens, True))
        for run in _runs(line.tokens):
            for at in range(len(run) - LEAK_TOKENS + 1):
                part = run[at : at + LEAK_TOKENS]
                parts.append((part, _is_expression(part)))
        for part, telling in parts:
            known = found.setdefault(len(part), {})
            same = tuple(one.text for one in part)
            known[same] = telling or known.get(same, False)
    return found


def _runs(tokens: Sequence[_Token]) -> Iterator[tuple[_Token, ...]]:
    """The tokens between sentences: what a program says is no code, whatever stands around it."""
    for said, run in groupby(tokens, key=lambda one: one.said):
        if not said:
            yield tuple(run)


def _is_code(line: _Line) -> bool:
    """Whether no sentence reads like a whole line."""
    if not _MARKS.search(line.text):
        return False
    return any(one.name or _is_telling(one) for one in line.tokens)


def _is_expression(tokens: Sequence[_Token]) -> bool:
    """Whether these hold an operator or a bracket that no sentence has at such a place."""
    works = any(one.sign and one.text not in _NO_PART for one in tokens)
    return works and any(one.name or _is_telling(one) for one in tokens)


def _is_telling(token: _Token) -> bool:
    return token.sign and token.text not in _IN_PROSE


def _lines(source: str, contract: AuthorContract | None) -> Iterator[_Line]:
    """Each line with code, and each statement of several, without what every program has."""
    for statement in _statements(source):
        own = _own(statement, contract)
        lines = [list(run) for ends, run in groupby(own, key=_ends_a_line) if not ends]
        for pieces in [*lines, own] if len(lines) > 1 else lines:
            text = " ".join("".join(piece[0] for piece in pieces).split())
            yield _Line(text, tuple(_tokens(pieces)))


def _statements(source: str) -> Iterator[list[re.Match[str]]]:
    """The pieces of each statement without its comments; those of strings alone are left out."""
    pieces: list[re.Match[str]] = []
    depth, code = 0, False
    for piece in _PIECE.finditer(source):
        kind = piece.lastgroup
        if kind == "newline" and depth == 0:
            if code:
                yield pieces
            pieces, code = [], False
        elif kind != "comment":
            pieces.append(piece)
            depth += (kind == "opens") - (kind == "closes" and depth > 0)
            code = code or kind in ("opens", "closes", "word", "sign")
    if code:
        yield pieces


def _own(pieces: list[re.Match[str]], contract: AuthorContract | None) -> list[re.Match[str]]:
    """What of a statement is its author's: not how a class or method begins that a game asks for.

    A default value in there is.
    """
    if contract is None:
        return pieces
    words = [piece[0] for piece in pieces if piece.lastgroup not in ("blank", "newline")]
    wanted = {contract.class_name, "__init__", *contract.methods, *contract.optional}
    if words[0] not in ("class", "def") or wanted.isdisjoint(words[1:2]):
        return pieces
    depth = 0
    for at, piece in enumerate(pieces, 1):
        depth += (piece.lastgroup == "opens") - (piece.lastgroup == "closes")
        if piece[0] == "=":
            return pieces
        if piece[0] == ":" and depth == 0:
            return pieces[at:]
    return pieces


def _ends_a_line(piece: re.Match[str]) -> bool:
    return piece.lastgroup == "newline"


def _tokens(pieces: Sequence[re.Match[str]]) -> Iterator[_Token]:
    """The tokens of a line; between strings it is read in one, as a number has several pieces."""
    for string, run in groupby(pieces, key=lambda piece: piece.lastgroup == "string"):
        texts = [piece[0] for piece in run]
        for text in texts if string else ["".join(texts)]:
            found = [_token(one, string) for one in _TOKEN.finditer(text)]
            said = string and len(found) > 1
            yield from (replace(one, said=True) for one in found) if said else found


def _token(found: re.Match[str], string: bool) -> _Token:
    text = _compared(found)
    if string:
        return _Token(text)
    name = text.isidentifier() and not keyword.iskeyword(text)
    return _Token(text, sign=found.lastgroup == "sign", name=name)


def _compared(found: re.Match[str]) -> str:
    """A token as it is compared."""
    return f'"{found["quoted"]}"' if found["quoted"] else found[0]
