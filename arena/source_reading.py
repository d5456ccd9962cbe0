"""Reads a policy's source: what is wrong with it, what it does, what it says of itself.

Everything here parses text that nobody vouches for, so it runs in the limited child only
(`sandbox/limited.py`), a fresh process for each question.  `arena/source_check.py` asks.  Questions
and answers are values of JSON.  Nothing is executed; what is too much for Python ends the process.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import sys
import unicodedata  # noqa: F401 - the parser imports it for some names, and behind the seal cannot
import warnings
from collections.abc import Iterator
from typing import Any, TypeGuard

from arena.class_check import class_problem, makes_class
from arena.contract import AuthorContract
from arena.fingerprint import fingerprint
from arena.loose_ends import bound_names, doubled, loose_end
from arena.rejection import Rejection, RejectionKind
from sandbox.box.allowed import ALLOWED_MODULES

USELESS_BUILTINS = {
    "open": "a policy has no files",
    "input": "nobody is there to answer",
    "breakpoint": "there is no debugger",
    "__import__": "write an import statement",
    "exit": "to end a match early is to forfeit it",
    "quit": "to end a match early is to forfeit it",
    "help": "there is no terminal",
}
"""Built-ins that cannot work inside the sandbox, and why."""

_QUOTED_CHARS = 120
_MOST_FRAMES = 100_000
"""Of our own functions; the processor time ends before."""


def read(question: dict[str, Any]) -> dict[str, Any]:
    """Reads a whole source.

    Args:
      question: "source"; "contract" with the fields of an `AuthorContract`.

    Returns:
      "rejection": None, or its [kind, message, line]; "code_digest" and "docstring" (of the last
      class of the contract's name), "" where there is none; "loose_end" and "doubled", see
      `arena/loose_ends.py`.
    """
    contract = AuthorContract(**question["contract"])
    tree = _tree(question["source"], whole=True)
    if isinstance(tree, Rejection):
        return _answer(tree)
    # Python has compiled it within its own bounds; below, one level takes a few of our frames.
    sys.setrecursionlimit(_MOST_FRAMES)
    problem = _import_problem(tree) or _name_problem(tree) or class_problem(tree, contract)
    return _answer(problem) | {
        "docstring": _docstring(tree, contract.class_name),
        "loose_end": loose_end(tree, contract.class_name),
        "doubled": doubled(tree),
        "code_digest": fingerprint(tree, contract),
    }


def find_program(question: dict[str, Any]) -> dict[str, Any]:
    """Finds the first of some texts that is a program which makes a class of that name.

    Args:
      question: "texts"; "class_name"; "blamed", the number of a text or None.

    Returns:
      "found": number of the text, or None; "problem": what is wrong with the blamed one, where
      none is found and that one is no Python, else "".
    """
    problem = ""
    for number, text in enumerate(question["texts"]):
        try:
            tree = _tree(text)
        except MemoryError:
            tree = _nested()
        if isinstance(tree, Rejection):
            if number == question["blamed"]:
                problem = tree.message
        elif makes_class(tree, question["class_name"]):
            return {"found": number, "problem": ""}
    return {"found": None, "problem": problem}


def difference(question: dict[str, Any]) -> str:
    """What changed from one text to another, in the unified format.

    Args:
      question: "before" and "after", the texts; "names" of both; "context", how many lines.
    """
    before, after = (question[key].splitlines() for key in ("before", "after"))
    one, other = question["names"]
    lines = difflib.unified_diff(before, after, one, other, n=question["context"], lineterm="")
    return "\n".join(lines)


def _answer(problem: Rejection | None) -> dict[str, Any]:
    rejection = None if problem is None else [problem.kind, problem.message, problem.line]
    nothing = {"code_digest": "", "docstring": "", "loose_end": "", "doubled": ()}
    return {"rejection": rejection, **nothing}


def _docstring(tree: ast.Module, class_name: str) -> str:
    """That of the last class of that name, indentation removed; "" where there is none."""
    found = [node for node in ast.walk(tree) if _is_class(node, class_name)]
    return (ast.get_docstring(found[-1]) or "") if found else ""


def _is_class(node: ast.AST, name: str) -> TypeGuard[ast.ClassDef]:
    return isinstance(node, ast.ClassDef) and node.name == name


def _tree(source: str, *, whole: bool = False) -> ast.Module | Rejection:
    """The tree of a source; `whole` compiles it as well, which finds some more errors.

    Raises:
      MemoryError: it takes too much, or is nested too deeply for the parser.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(source)
            if whole:
                compile(source, "<policy>", "exec", dont_inherit=True)
        except SyntaxError as error:
            return _syntax_problem(source, error)
        except RecursionError:
            return _nested()
        except (ValueError, OverflowError) as error:
            return Rejection(RejectionKind.SYNTAX_ERROR, f"Python cannot read it: {error}")
    return tree


def _nested() -> Rejection:
    return Rejection(
        RejectionKind.TOO_NESTED,
        "an expression or a chain of statements is nested too deeply for Python to compile; take "
        "it apart",
    )


def _syntax_problem(source: str, error: SyntaxError) -> Rejection:
    line = error.lineno
    if line is None:
        return Rejection(RejectionKind.SYNTAX_ERROR, f"Python cannot read it: {error.msg}")
    lines = source.split("\n")
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    if len(text) > _QUOTED_CHARS:
        text = text[: _QUOTED_CHARS - 3] + "..."
    quoted = f": {text}" if text else ""
    return Rejection(RejectionKind.SYNTAX_ERROR, f"line {line}: {error.msg}{quoted}", line)


def _import_problem(tree: ast.Module) -> Rejection | None:
    for name, line in sorted(_imports(tree), key=lambda found: found[1]):
        if not name:
            return Rejection(
                RejectionKind.IMPORT_NOT_ALLOWED,
                f"line {line}: a relative import; a policy is one file and nothing is beside it",
                line,
            )
        if not _is_allowed(name):
            return Rejection(
                RejectionKind.IMPORT_NOT_ALLOWED,
                f"line {line}: policies may not import {name[:_QUOTED_CHARS]}; they may import "
                f"{', '.join(sorted(ALLOWED_MODULES - {'__future__'}))}",
                line,
            )
    return None


def _imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Modules that are imported anywhere, with their line; a relative import has the name ""."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield "" if node.level else node.module or "", node.lineno
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno


def _is_allowed(name: str) -> bool:
    return name in ALLOWED_MODULES or name.partition(".")[0] in ALLOWED_MODULES


def _name_problem(tree: ast.Module) -> Rejection | None:
    """A built-in that cannot work, unless the file binds that name itself somewhere."""
    bound = set(bound_names(tree))
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    for node in sorted(names, key=lambda name: (name.lineno, name.col_offset)):
        if node.id in USELESS_BUILTINS and node.id not in bound:
            what = "a built-in" if hasattr(builtins, node.id) else "a name"
            return Rejection(
                RejectionKind.NAME_NOT_ALLOWED,
                f"line {node.lineno}: {node.id} is {what} that policies may not use "
                f"({USELESS_BUILTINS[node.id]})",
                node.lineno,
            )
    return None
