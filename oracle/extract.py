"""Finds the program in a model's reply.

Strict on purpose: a program is taken only from code that parses and defines the contract's class,
never pieced together from prose.  Every refusal has a kind and a reason that is worth sending
back to the model.  What a model wrote is parsed in a limited child, all of a reply's texts in one
question (`arena.source_check.find_program`).
"""

from __future__ import annotations

import html
import json
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from arena.source_check import find_program
from oracle.sketches import is_sketch
from oracle.values import Failure, Rejected

MAX_REPLY_CHARS = 400_000
"""Longer replies are refused before anything looks at them."""
_OPENS = re.compile(r"```[\w+-]*")
_CLOSES = re.compile(r"```[ \t]*")
_FENCE = re.compile(r"^( {0,3})(`{3,}+|~{3,}+)[ \t]*+([\w+.#-]*+)[^\n`]*+$")
"""Nothing in it is tried twice: a line may be as long as a reply."""
_MARK = re.compile(r"`{3,}+|~{3,}+")
_BOUND = re.compile(
    r"`{3,}+|~{3,}+|\A|\Z"
    r"|^[ \t]*+(?:</?[a-z_]++>|<!\[CDATA\[|\]\]>|\[/?PYTHON\])++[ \t]*+$",
    re.MULTILINE | re.IGNORECASE,
)
"""What may stand where a fence should: tags on lines of their own, or nothing at all."""
_TOKEN = re.compile(r"(?:<\|[\w-]{1,40}\|>|</s>|<end_of_turn>|\[/INST\])\Z")
"""Of a model's template, behind its answer."""
_MOST_TOKENS, _LONGEST_TOKEN = 4, 44
_IN_JSON = re.compile(r'[:\[,][ \t\n]*+("(?:[^"\\]++|\\.)*+")', re.DOTALL)
_MOST_JUDGED = 8
"""Programs of one reply among which one is chosen, the last ones: each is read by itself."""
_BLANKS = dict.fromkeys([0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " ")
_QUOTES = {0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'}
_PLAIN = str.maketrans(_BLANKS | dict.fromkeys([0xAD, 0x200B, 0x2060], "") | _QUOTES)
"""Python takes neither blanks other than ASCII's between its words nor what has no width."""
_PLACE = re.compile(r"line (\d+): (?:unterminated [\w -]+ \(detected at line (\d+)\))?")
_LANGUAGE = re.compile(r"[ \t]*+[\w+.#-]*+[ \t]*+\n")


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A fenced block of a reply.

    Attributes:
      language: the word behind the opening fence, in lower case.
      text: what stands between the fences.
      closed: whether the closing fence is there.
    """

    language: str
    text: str
    closed: bool


def code_blocks(reply: str) -> tuple[CodeBlock, ...]:
    """The fenced blocks of a reply, in order (CommonMark 0.31, section 4.5).

    A closing fence has the opening one's character, at least its length, and nothing behind it.
    """
    found: list[CodeBlock] = []
    opening: re.Match[str] | None = None
    lines: list[str] = []
    for line in reply.replace("\r\n", "\n").split("\n"):
        fence = _FENCE.match(line)
        if opening is None:
            if fence:
                opening, lines = fence, []
            continue
        if fence and _closes(fence, opening, line):
            found.append(CodeBlock(opening[3].lower(), "\n".join(lines), True))
            opening = None
            continue
        indent = len(opening[1])
        lines.append(line[indent:] if not line[:indent].strip() else line)
    if opening is not None:
        found.append(CodeBlock(opening[3].lower(), "\n".join(lines), False))
    return tuple(found)


def _closes(fence: re.Match[str], opening: re.Match[str], line: str) -> bool:
    same = fence[2][0] == opening[2][0] and len(fence[2]) >= len(opening[2])
    return same and line.strip() == fence[2]


def _widest(reply: str) -> str | None:
    """From the first opening fence to the last: a fence in a docstring cuts a program up."""
    lines = reply.replace("\r\n", "\n").split("\n")
    first = next((at for at, line in enumerate(lines) if _OPENS.fullmatch(line)), len(lines))
    last = next((at for at in range(len(lines) - 1, first, -1) if _CLOSES.fullmatch(lines[at])), -1)
    return "".join(f"{line}\n" for line in lines[first + 1 : last]) if last >= 0 else None


def _between(reply: str) -> list[str]:
    """What stands between each two fences or tags, the last first, wherever in a line they stand.

    Some models end their last line of code with the fence, write a token of their own behind it, or
    shift the whole block into a list.
    """
    reply = reply.replace("\r\n", "\n")
    found = []
    for opens, closes in pairwise(_BOUND.finditer(reply)):
        language = _LANGUAGE.match(reply, opens.end(), closes.start())
        start = language.end() if language else opens.end()
        found.append(textwrap.dedent(reply[start : closes.start()]))
    return found[::-1]


def _without_tokens(reply: str) -> str:
    for _ in range(_MOST_TOKENS):
        said = reply.rstrip()
        token = _TOKEN.search(said, max(0, len(said) - _LONGEST_TOKEN))
        if token is None:
            break
        reply = said[: token.start()]
    return reply


def plain(text: str) -> str:
    """The text as it was probably meant: plain blanks and quotes, nothing escaped for a page."""
    meant = text.translate(_PLAIN).replace(r"\_", "_")
    try:
        return html.unescape(meant)
    except ValueError:  # a character by a number of thousands of digits
        return meant


def joined(reply: str) -> str:
    """All closed blocks of a reply, in order, as one program; "" where there is but one."""
    texts = [block.text.strip("\n") for block in code_blocks(reply) if block.closed]
    return "\n\n\n".join(texts) + "\n" if len(texts) > 1 else ""


def extract_program(
    reply: str | None,
    class_name: str,
    *,
    cut_off: bool = False,
    is_sound: Callable[[str], bool] = bool,
) -> str | Failure:
    """The policy's source in a reply, or why there is none.

    The last block that defines the class wins, which nothing need close; then the widest span
    between fences; then the bare reply, where that is a whole program; then what stands between
    fences that are not written as they should be, or tags.  Where several define it, one that is
    sound and leaves nothing out goes before the others: behind a whole program a model may show
    again what it changed.  Only where there is no program at all, texts in JSON are looked at, and
    uncommon blanks and quotes are taken for plain ones.

    Args:
      reply: the model's text; None where it gave none.
      class_name: the class that a policy defines.
      cut_off: whether the model ran into its output limit; then nothing unclosed is trusted.
      is_sound: whether a program passes the checks of its game; asked only where there are several.
    """
    if reply is None or not reply.strip():
        return Failure(Rejected.EMPTY, "the reply was empty; answer with one Python code block")
    if len(reply) > MAX_REPLY_CHARS:
        return Failure(Rejected.NO_CODE, f"the reply has {len(reply):,} characters; be brief")
    found = _extracted(reply, class_name, cut_off, is_sound)
    if isinstance(found, Failure) and (meant := plain(reply)) != reply:
        again = _extracted(meant, class_name, cut_off, is_sound)
        return found if isinstance(again, Failure) else again
    return found


def _extracted(
    reply: str, class_name: str, cut_off: bool, is_sound: Callable[[str], bool]
) -> str | Failure:
    reply = reply.replace("\ufeff", "")  # a byte order mark: invisible, and no Python
    reply = _without_tokens(reply)
    blocks = code_blocks(reply)
    blamed = _blamed(blocks, class_name)
    texts = _candidates(reply, blocks, blamed, class_name, cut_off)
    at = texts.index(blamed.text) if blamed and blamed.text in texts else None
    found = find_program(texts, class_name, at)
    if found.number is not None:
        return _tidy(_chosen(texts[found.number :], class_name, is_sound))
    in_json = [] if cut_off else _in_json(reply, class_name)
    at = find_program(in_json, class_name).number
    if at is not None:
        return _tidy(in_json[at])
    return _why_not(blamed, class_name, cut_off, found.problem)


def _chosen(texts: Sequence[str], class_name: str, is_sound: Callable[[str], bool]) -> str:
    """The first program that is whole and sound, or the first; the first text is a program."""
    programs = [texts[0]]
    for _ in range(_MOST_JUDGED - 1):
        texts = [one for one in texts[1:] if one.strip() != programs[-1].strip()]
        number = find_program(texts, class_name).number
        if number is None:
            break
        texts = texts[number:]
        programs.append(texts[0])
    if len(programs) == 1:
        return programs[0]
    sound = [one for one in programs if is_sound(_tidy(one))]
    whole = [one for one in sound if not is_sketch(one)]
    return next((one for one in sound if not is_sketch(one, whole)), programs[0])


def _in_json(reply: str, class_name: str) -> list[str]:
    """Texts of a reply in JSON that name the class, the last first."""
    found = []
    for text in _IN_JSON.finditer(reply):
        if class_name in text[1]:
            try:
                found.append(str(json.loads(text[1], strict=False)))
            except ValueError:
                continue
    return found[::-1]


def _candidates(
    reply: str,
    blocks: tuple[CodeBlock, ...],
    blamed: CodeBlock | None,
    class_name: str,
    cut_off: bool,
) -> list[str]:
    """The texts that may be the program, the likeliest first, each once."""
    texts = [block.text for block in reversed(blocks) if block.closed]
    if not cut_off and blocks and not blocks[-1].closed:
        last = blocks[-1].text
        mark = _MARK.search(last)
        texts[:0] = [last, last[: mark.start()]] if mark else [last]
    widest = _widest(reply)
    texts += [widest] if widest is not None else []
    if not cut_off and not blocks:
        texts.append(reply)
    if not cut_off:
        known = {text.strip() for text in texts}
        texts += [text for text in _between(reply) if text.strip() not in known]
    # The name stands in every text that defines it; one that is not ASCII may be written otherwise.
    wanted = [one for one in texts if class_name in one or not one.isascii()]
    told = [blamed.text] if blamed and not cut_off else []
    return list(dict.fromkeys([*wanted, *told]))


def _blamed(blocks: tuple[CodeBlock, ...], class_name: str) -> CodeBlock | None:
    """The block whose errors are told: the last that names the class, or the last.

    Where nothing closes it, what reads most like its end does: words may stand behind a fence.
    """
    named = [block for block in blocks if f"class {class_name}" in block.text]
    for block in (named or blocks)[-1:]:
        mark = None if block.closed else _MARK.search(block.text)
        return replace(block, text=block.text[: mark.start()], closed=True) if mark else block
    return None


def _tidy(source: str) -> str:
    return source.strip("\n") + "\n"


def _why_not(blamed: CodeBlock | None, class_name: str, cut_off: bool, problem: str) -> Failure:
    if cut_off:
        return Failure(
            Rejected.TRUNCATED,
            "the reply ended inside the code; write a shorter program and close the code block",
        )
    if blamed and not blamed.closed and _is_at_the_end(problem, blamed.text):
        return Failure(
            Rejected.TRUNCATED,
            f"the code block is not closed, and its end cannot be read ({problem}); write the "
            "whole program between ```python and ```, and no words before the closing fence",
        )
    if blamed is None:
        return Failure(
            Rejected.NO_CODE,
            "the reply has no code block; put the whole program between ```python and ```",
        )
    if problem:
        return Failure(Rejected.NOT_A_POLICY, f"the program cannot be read: {problem}")
    return Failure(
        Rejected.NOT_A_POLICY,
        f"no code block defines the class {class_name} at its top level",
    )


def _is_at_the_end(problem: str, text: str) -> bool:
    """Whether Python came to the last line of a text before it met a problem."""
    place = _PLACE.match(problem)
    return place is not None and int(place[2] or place[1]) > text.rstrip().count("\n")
