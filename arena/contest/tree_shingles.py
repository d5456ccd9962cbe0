"""Short stretches of a program's syntax tree, as numbers: what copies have in common.

The tree is written as its nodes' kinds from the top down, without names, values or layout; each
run of `SPAN` kinds is hashed, and of every `WINDOW` hashes in a row the least is kept.  That is
winnowing (Schleimer, Wilkerson and Aiken 2003, doi:10.1145/872757.872770) over trees instead of
text: whatever two programs share in a stretch of SPAN + WINDOW - 1 nodes leaves a common number.

Runs in the limited child only (`sandbox/limited.py`); `arena/contest/likeness.py` asks.
"""

from __future__ import annotations

import ast
import hashlib
import unicodedata  # noqa: F401 - the parser imports it for some names, and behind the seal cannot
import warnings
from collections.abc import Iterator

SPAN = 8
WINDOW = 3
"""Short, as policies are: with 16, two lines that are put into one of thirty hide a copy."""
_LEFT_OUT = (ast.expr_context, ast.type_ignore, ast.Pass)


def shingles(source: str) -> list[int]:
    """The numbers of a program, ascending; none for what is no Python.

    Args:
      source: any text.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    kinds = list(_kinds(tree))
    hashes = [_number(kinds[i : i + SPAN]) for i in range(len(kinds) - SPAN + 1)]
    windows = range(max(len(hashes) - WINDOW + 1, min(len(hashes), 1)))
    return sorted({min(hashes[i : i + WINDOW]) for i in windows})


def _kinds(tree: ast.Module) -> Iterator[str]:
    """The kinds of nodes; an explicit stack, because a chain of `elif` is deep."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield type(node).__name__
        below = [
            child
            for field, value in ast.iter_fields(node)
            if field not in ("annotation", "returns")
            for child in (value if isinstance(value, list) else [value])
            if isinstance(child, ast.AST) and not _says_nothing(child)
        ]
        waiting.extend(reversed(below))


def _says_nothing(node: ast.AST) -> bool:
    """Docstrings are constants as well."""
    return isinstance(node, _LEFT_OUT) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def _number(kinds: list[str]) -> int:
    """48 bits, which JSON holds exactly."""
    return int.from_bytes(hashlib.blake2b(" ".join(kinds).encode(), digest_size=6).digest())
