"""Static checks of a policy's source: early feedback for its author, in milliseconds.

This is *not* what keeps hostile code away: whatever passes here still runs in the sandbox only.
Nothing is executed, and nothing is parsed in this process: Python's own parser and compiler can be
made to take gigabytes and minutes.  `arena/source_reading.py` does it, in a limited child.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from arena.contract import AuthorContract
from arena.rejection import Rejection, RejectionKind
from sandbox.errors import SandboxUnavailable
from sandbox.limited import ChildLimits, Excess, LimitedCalls
from sandbox.values import Limits

MAX_BYTES = Limits().source_bytes
LIMITS = ChildLimits()
"""What reading one source may cost."""
_READ, _FIND, _DIFFERENCE = (
    f"arena.source_reading:{name}" for name in ("read", "find_program", "difference")
)
_CHILD = LimitedCalls((_READ, _FIND, _DIFFERENCE), LIMITS)
"""One for each process, which starts when it is needed."""
_REMEMBERED = 128
"""Sources whose reading is kept: the same text is checked, compared and registered in a row."""
_DIGEST = re.compile(r"(?:\d+:[0-9a-f]{32})?")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a source says.

    Attributes:
      rejection: the first thing that is wrong with it, or None.
      code_digest: of what the code does; see `normalised_digest`.
      docstring: of the contract's class; see `docstring_of`.
      loose_end: the first name that it uses and defines nowhere, in words, or ""; it refuses
        nothing, see `arena/loose_ends.py`.
      doubled: classes and methods that stand twice in one body; likewise.
    """

    rejection: Rejection | None
    code_digest: str
    docstring: str
    loose_end: str = ""
    doubled: tuple[str, ...] = ()


def read_program(source: str, contract: AuthorContract) -> Reading:
    """Reads a source as far as that can be done without running it.

    Args:
      source: any text.
      contract: the class that the game asks for.

    Raises:
      SandboxUnavailable: the limited child cannot be started, or gets no processor time.
    """
    problem = text_problem(source)
    if problem is not None:
        return Reading(problem, "", "")
    methods, optional = tuple(contract.methods.items()), tuple(contract.optional.items())
    return _read(source, contract.class_name, methods, optional)


def check_source(source: str, contract: AuthorContract) -> Rejection | None:
    """The first thing that is wrong with a source, or None; see `read_program`."""
    return read_program(source, contract).rejection


def normalised_digest(source: str, contract: AuthorContract) -> str:
    """Digest of what the code does, however it is written; finds clones.

    Returns:
      A version, a colon and 32 hexadecimal digits (see `arena/fingerprint.py`); "" where the source
      cannot be compiled.  Digests compare within one version only; those that were stored
      without a colon are of version 1.

    Raises:
      SandboxUnavailable: as `read_program`.
    """
    return read_program(source, contract).code_digest


def docstring_of(source: str, class_name: str) -> str:
    """Docstring of the last class of that name, indentation removed; "" where there is none.

    Raises:
      SandboxUnavailable: as `read_program`.
    """
    return read_program(source, AuthorContract(class_name, {}, {})).docstring


def text_problem(source: str, max_bytes: int = MAX_BYTES) -> Rejection | None:
    """Whether it is text at all, and not too much of it."""
    try:
        size = len(source.encode())
    except UnicodeEncodeError as error:
        line = source.count("\n", 0, error.start) + 1
        return Rejection(
            RejectionKind.NOT_TEXT,
            f"line {line}: there is a character that is not valid Unicode; save it as UTF-8",
            line,
        )
    if size > max_bytes:
        return Rejection(
            RejectionKind.TOO_LARGE,
            f"the source has {size:,} bytes and may have {max_bytes:,}; shorten it (tables can "
            "often be computed when the policy is made)",
        )
    if "\0" in source:
        line = source.count("\n", 0, source.index("\0")) + 1
        return Rejection(
            RejectionKind.NOT_TEXT,
            f"line {line}: there is a NUL byte, so this is no Python source; save it as UTF-8",
            line,
        )
    return None


@dataclass(frozen=True, slots=True)
class Found:
    """Which of some texts is a program.

    Attributes:
      number: of the first that is one, or None.
      problem: what is wrong with the one that is to blame, or "" where that is Python as well.
    """

    number: int | None
    problem: str


def find_program(texts: Sequence[str], class_name: str, blamed: int | None = None) -> Found:
    """The first text that is Python and makes a class of that name, as far as one can see.

    Args:
      texts: in order of preference; all of them together have the budget of one question.
      class_name: what is looked for.
      blamed: number of the text whose problem is told where none is found.

    Raises:
      SandboxUnavailable: as `read_program`.
    """
    if not texts:
        return Found(None, "")
    question = {"texts": list(texts), "class_name": class_name, "blamed": blamed}
    answer = _CHILD.call(_FIND, question)
    if isinstance(answer, Excess):
        return Found(None, _too_much(answer).message)
    match answer:
        case {"found": None | int() as number, "problem": str(problem)} if (
            number is None or 0 <= number < len(texts)
        ):
            return Found(number, problem)
    raise _forged(answer)


def difference(
    before: str, after: str, names: tuple[str, str] = ("", ""), *, context: int = 3
) -> str | None:
    """What changed from one text to another, in the unified format.

    Args:
      before: a text.
      after: the text that it became.
      names: of both, for the two lines at the top.
      context: lines that are shown around each change.

    Returns:
      None where it takes too long to find out.

    Raises:
      SandboxUnavailable: as `read_program`.
    """
    question = {"before": before, "after": after, "names": names, "context": context}
    answer = _CHILD.call(_DIFFERENCE, question)
    if isinstance(answer, Excess):
        return None
    if not isinstance(answer, str):
        raise _forged(answer)
    return answer


@functools.lru_cache(maxsize=_REMEMBERED)
def _read(
    source: str,
    class_name: str,
    methods: tuple[tuple[str, int], ...],
    optional: tuple[tuple[str, int], ...],
) -> Reading:
    contract = AuthorContract(class_name, dict(methods), dict(optional))
    answer = _CHILD.call(_READ, {"source": source, "contract": asdict(contract)})
    if isinstance(answer, Excess):
        return Reading(_too_much(answer), "", "")
    match answer:
        case {
            "rejection": rejection,
            "code_digest": str(digest),
            "docstring": str(docstring),
            "loose_end": str(loose_end),
            "doubled": [*doubled],
        } if _DIGEST.fullmatch(digest) and all(isinstance(one, str) for one in doubled):
            return Reading(_rejection(rejection), digest, docstring, loose_end, tuple(doubled))
    raise _forged(answer)


def _rejection(answer: Any) -> Rejection | None:
    match answer:
        case None:
            return None
        case [str(kind), str(message), None | int() as line] if kind in set(RejectionKind):
            return Rejection(RejectionKind(kind), message, line)
    raise _forged(answer)


def _too_much(excess: Excess) -> Rejection:
    if excess in (Excess.MEMORY, Excess.CRASH):
        return Rejection(
            RejectionKind.TOO_NESTED,
            "an expression or a chain of statements is nested too deeply for Python to compile in "
            f"{LIMITS.memory_mib} MiB of memory, which is all that it may take; take it apart",
        )
    return Rejection(
        RejectionKind.TOO_COSTLY,
        f"reading it takes more than {LIMITS.cpu_seconds:g} s of processor time, which is all that "
        "a source may take; shorten it, and take apart what is nested",
    )


def _forged(answer: object) -> SandboxUnavailable:
    return SandboxUnavailable(
        f"reading a source gave an answer that makes no sense: {answer!r:.200}"
    )
