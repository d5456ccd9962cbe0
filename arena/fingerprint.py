"""A digest of what a program does: it finds copies under another layout or under other names.

It leaves out layout, comments, docstrings, `pass` and the annotations of functions, and numbers
the names that the author chose by their first use.  A name is left as it is wherever something
else could go by it: built-ins, what is imported, names that a call uses as keywords or a string
mentions, and attributes of anything but `self`.  So two programs with one digest do the same;
many that do the same have different ones, since telling is not decidable.  Whoever disguises a
program better than this is not recognised here, but by its next audit.

Runs in the limited child only (`arena/source_reading.py`).
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import re
from collections.abc import Iterator
from typing import TypeGuard

from arena.contract import AuthorContract

VERSION = 2
"""Rises when a program could get another digest.  Digests of version 1 have no prefix."""

_LAYOUT = frozenset({"ctx", "kind", "type_comment", "type_ignores", "returns"})
_BY_NAME = frozenset({"getattr", "setattr", "hasattr", "delattr"})
_MIRRORS = _BY_NAME | {"vars", "dir", "globals", "locals", "eval", "exec"}
_PLAIN = frozenset({"self", "__init__", "__getitem__", "__setitem__", "__len__", "__iter__"})
_WORD = re.compile(r"\w+")


def fingerprint(tree: ast.Module, contract: AuthorContract) -> str:
    """The digest of a program.

    Args:
      tree: of a program that Python can compile.
      contract: whose names count.

    Returns:
      The version, a colon, and 32 hexadecimal digits.
    """
    digest = hashlib.blake2b(digest_size=16)
    for word in _words(tree, _chosen_names(tree, contract)):
        digest.update(word.encode(errors="backslashreplace") + b"\0")
    return f"{VERSION}:{digest.hexdigest()}"


def _chosen_names(tree: ast.Module, contract: AuthorContract) -> frozenset[str]:
    """The names that may be replaced all through the file without changing what it does."""
    if _looks_at_names(tree):
        return frozenset()
    chosen: set[str] = set()
    kept = {*dir(builtins), contract.class_name, *contract.methods, *contract.optional}
    for node in ast.walk(tree):
        chosen.update(_bound(node))
        kept.update(_seen(node))
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    if _inherits(tree):
        kept |= attributes  # a library's class may go by any of them
    return frozenset(name for name in chosen - kept if not _is_special(name))


def _names_one(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether this is `getattr(thing, "name")` or its like: a string names what is meant."""
    match node:
        case ast.Call(ast.Name(function), [_, ast.Constant(str(name)), *_]):
            return function in _BY_NAME and not _is_special(name)
    return False


def _looks_at_names(tree: ast.Module) -> bool:
    """Whether the program may ask what something of its own is called."""
    harmless = {node.func for node in ast.walk(tree) if _names_one(node)}
    return any(
        (isinstance(node, ast.Name) and node.id in _MIRRORS and node not in harmless)
        or (isinstance(node, ast.Attribute) and _is_special(node.attr) and node.attr not in _PLAIN)
        for node in ast.walk(tree)
    )


def _bound(node: ast.AST) -> Iterator[str]:
    """Names that a node gives to something of the author's."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            yield name
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.arg():
            yield node.arg
        case ast.alias(asname=str(name)):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name


def _seen(node: ast.AST) -> Iterator[str]:
    """Names by which something else than the program's own code could go."""
    match node:
        case ast.alias(name=name):
            yield from name.split(".")
        case ast.ImportFrom(module=str(name)):
            yield from name.split(".")
        case ast.keyword(arg=str(name)):
            yield name
        case ast.MatchClass():
            yield from node.kwd_attrs
        case ast.Constant(value=str(text)):
            yield from _WORD.findall(text)
        case ast.Constant(value=bytes(data)):
            yield from _WORD.findall(data.decode("latin-1"))
        case ast.Attribute(value=ast.Name(id="self")):
            pass
        case ast.Attribute():
            yield node.attr


def _inherits(tree: ast.Module) -> bool:
    """Whether a class of the program has others than its own and `object` above it."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    known = {"object", *(node.name for node in classes)}
    bases = [base for node in classes for base in (*node.bases, *node.keywords)]
    return any(not (isinstance(base, ast.Name) and base.id in known) for base in bases)


def _is_special(name: str) -> bool:
    return name == "self" or (name.startswith("__") and name.endswith("__"))


def _words(tree: ast.Module, chosen: frozenset[str]) -> Iterator[str]:
    """The tree as words, top down; an explicit stack, because a chain of `elif` is deep."""
    numbers: dict[str, str] = {}
    waiting: list[object] = [tree]
    while waiting:
        item = waiting.pop()
        if isinstance(item, ast.AST):
            yield f"({type(item).__name__}"
            waiting.append(_END)
            waiting.extend(reversed(list(_content(item))))
        elif isinstance(item, _Mark):
            yield item.text
        elif isinstance(item, _Name) and item in chosen:
            yield numbers.setdefault(item, f"name {len(numbers)}")
        elif type(item) is int:
            yield f"int {item:x}"  # in decimal, Python refuses to write a very long number
        else:
            yield f"{type(item).__name__} {item!r}"


class _Mark:
    """A word between nodes."""

    def __init__(self, text: str) -> None:
        self.text = text


class _Name(str):
    """An identifier, as opposed to a string of the program."""


_END = _Mark(")")


def _content(node: ast.AST) -> Iterator[object]:
    """What tells a node from others of its kind; what is empty or only layout is left out."""
    for field, value in ast.iter_fields(node):
        if field in _LAYOUT or (field == "annotation" and isinstance(node, ast.arg)):
            continue
        yield _Mark(field)
        if isinstance(value, list):
            yield from (_named(node, one) for one in value if not _does_nothing(one))
        elif value is not None or isinstance(node, ast.Constant):
            yield _named(node, value)


def _named(node: ast.AST, value: object) -> object:
    return _Name(value) if isinstance(value, str) and not isinstance(node, ast.Constant) else value


def _does_nothing(statement: object) -> bool:
    """Docstrings are constants as well."""
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )
