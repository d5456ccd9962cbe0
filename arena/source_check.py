"""Static checks of a policy's source: early feedback for its author, in milliseconds.

This is *not* what keeps hostile code away: whatever passes here still runs in the sandbox only.
Nothing is executed.  The size is bounded before anything is parsed; CPython's own parser and
compiler bound their recursion (64 KiB of nesting of any kind brought nothing worse out of them
than `RecursionError`, `MemoryError` or a syntax error), and nothing here recurses on what an
author wrote.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from arena.class_check import class_problem
from arena.games.protocol import AuthorContract
from arena.rejection import Rejection, RejectionKind
from sandbox.box.allowed import ALLOWED_MODULES
from sandbox.values import Limits

MAX_BYTES = Limits().source_bytes

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
_WARNINGS = threading.Lock()
"""Silencing warnings swaps a list that all threads share: one at a time."""


def check_source(
    source: str, contract: AuthorContract, *, max_bytes: int = MAX_BYTES
) -> Rejection | None:
    """Checks a policy's source as far as that can be done without running it.

    Never raises, whatever the source.

    Args:
      source: any text.
      contract: the class that the game asks for.
      max_bytes: size of the source as UTF-8.

    Returns:
      The first thing that is wrong, or None.
    """
    problem = text_problem(source, max_bytes)
    if problem is not None:
        return problem
    tree = _parse(source)
    if isinstance(tree, Rejection):
        return tree
    return _import_problem(tree) or _name_problem(tree) or class_problem(tree, contract)


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


def normalised_digest(source: str) -> str:
    """Digest of what the code does, whatever its layout, comments and docstrings: finds clones.

    Names count; line numbers do not.

    Returns:
      32 hexadecimal digits; "" where the source does not parse.
    """
    tree = _parse(source) if text_problem(source) is None else None
    if not isinstance(tree, ast.Module):
        return ""
    digest = hashlib.blake2b(digest_size=16)
    for token in _tokens(tree):
        digest.update(token.encode(errors="backslashreplace") + b"\0")
    return digest.hexdigest()


def docstring_of(source: str, class_name: str) -> str:
    """Docstring of the last class of that name, indentation removed; "" where there is none."""
    tree = _parse(source) if text_problem(source) is None else None
    if not isinstance(tree, ast.Module):
        return ""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.name == class_name
    ]
    return (ast.get_docstring(found[-1]) or "") if found else ""


def _parse(source: str) -> ast.Module | Rejection:
    """The tree of a source that Python can also compile."""
    with _WARNINGS, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(source)
            # Some errors are found by the compiler only ("return" outside a function).
            compile(source, "<policy>", "exec", dont_inherit=True)
        except SyntaxError as error:
            return _syntax_problem(source, error)
        except (RecursionError, MemoryError):
            return Rejection(
                RejectionKind.TOO_NESTED,
                "an expression or a chain of statements is nested too deeply for Python to "
                "compile; take it apart",
            )
        except (ValueError, OverflowError) as error:
            return Rejection(RejectionKind.SYNTAX_ERROR, f"Python cannot read it: {error}")
    return tree


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
    bound = set(_bound_names(tree))
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


def _bound_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest


@dataclass(frozen=True, slots=True)
class _Mark:
    """A word between nodes: the name of a field, or the end of a node."""

    text: str


def _tokens(tree: ast.Module) -> Iterator[str]:
    """The tree as words, top down.

    An explicit stack, because `ast.dump` recurses and gives up on a long chain of `elif`.
    """
    waiting: list[object] = [tree]
    while waiting:
        item = waiting.pop()
        if isinstance(item, ast.AST):
            yield type(item).__name__
            waiting.append(_Mark(")"))
            waiting.extend(reversed(list(_content(item))))
        elif isinstance(item, _Mark):
            yield item.text
        elif type(item) is int:
            yield f"int {item:x}"  # In decimal, Python refuses to write a very long number.
        else:
            yield f"{type(item).__name__} {item!r}"


def _content(node: ast.AST) -> Iterator[object]:
    """What tells a node from others of its kind; what is empty or only layout is left out."""
    for name, value in ast.iter_fields(node):
        if name in ("ctx", "kind", "type_comment", "type_ignores"):
            continue
        if isinstance(value, list):
            kept = value[1:] if name == "body" and _has_docstring(node) else value
            if kept:
                yield _Mark(name)
                yield from kept
        elif value is not None or isinstance(node, ast.Constant):
            yield _Mark(name)
            yield value


def _has_docstring(node: ast.AST) -> bool:
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    if not isinstance(node, documented) or not node.body:
        return False
    first = node.body[0]
    return (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
