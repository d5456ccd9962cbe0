"""A digest of what a program does: it finds copies under another layout or under other names.

It leaves out layout, comments, docstrings, `pass` and annotations of functions that do nothing,
and numbers the names that the author chose by their first use.  Python runs an annotation when it
meets the definition: a whole attack fits into one, and whoever hides one in another's program must
not get that one's digest, or both are taken out of play.  A name is left as it is wherever
something else could go by it: built-ins, what is imported, names that a call uses as keywords or a
string mentions, attributes of anything but `self`, and what Python's private names depend on.  So
two programs with one digest do the same; many that do the same have different ones, since telling
is not decidable.  Whoever disguises a program better than this is not recognised here, but by its
next audit.

Runs in the limited child only (`arena/source_reading.py`).
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import re
from collections.abc import Iterator
from itertools import islice
from typing import TypeGuard

from arena.contract import AuthorContract

VERSION, OF_FEW = 3, 4
"""Of digests; one rises when a program could get another.  Version 1 has no prefix, and up to
version 2 no annotation of a function counted.  Up to version 3 a private name was any name, and
methods that are chosen by annotations were not known: only programs that have such are of version
4, so that all others keep the digests that quarantines and certificates hold."""

_LAYOUT = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
_BY_NAME = frozenset({"getattr", "setattr", "hasattr", "delattr"})
_MIRRORS = _BY_NAME | {"vars", "dir", "globals", "locals", "eval", "exec"}
_READERS = frozenset({"get_annotations", "get_type_hints", "inspect", "singledispatch"})
_DISPATCH = "singledispatchmethod"
"""What chooses among methods by their annotations."""
_PLAIN = frozenset({"self", "__init__", "__getitem__", "__setitem__", "__len__", "__iter__"})
_WORD = re.compile(r"\w+")
_GENERIC = frozenset({"dict", "frozenset", "list", "set", "tuple", "type"})
_LONG = 100
_TYPES = _GENERIC | {"bool", "bytes", "complex", "float", "int", "object", "str"}


def fingerprint(tree: ast.Module, contract: AuthorContract) -> str:
    """The digest of a program.

    Args:
      tree: of a program that Python can compile.
      contract: whose names count.

    Returns:
      The version, a colon, and 32 hexadecimal digits.
    """
    digest, version = hashlib.blake2b(digest_size=16), VERSION
    if _looks_at_itself(tree):
        words = _words(tree, chosen=frozenset(), idle=frozenset())
    elif _DISPATCH in _identifiers(tree):
        words, version = _words(tree, chosen=frozenset(), idle=frozenset()), OF_FEW
    else:
        idle = frozenset({*_idle_annotations(tree), *_idle_statements(tree)})
        chosen = _chosen_names(tree, contract)
        if any(map(_is_private, _identifiers(tree))):
            chosen, version = chosen - _told_apart(tree), OF_FEW
        words = _words(tree, chosen, idle)
    for word in words:
        digest.update(word.encode(errors="backslashreplace") + b"\0")
    return f"{version}:{digest.hexdigest()}"


def _chosen_names(tree: ast.Module, contract: AuthorContract) -> frozenset[str]:
    """The names that may be replaced all through the file without changing what it does."""
    chosen: set[str] = set()
    kept = {*dir(builtins), contract.class_name, *contract.methods, *contract.optional}
    for node in ast.walk(tree):
        chosen.update(_bound(node))
        kept.update(_seen(node))
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    if _inherits(tree):
        kept |= attributes  # a library's class may go by any of them
    return frozenset(name for name in chosen - kept if not _is_special(name))


def _told_apart(tree: ast.Module) -> frozenset[str]:
    """What says which names are one: in the class A, Python makes __x to _A__x."""
    classes = (node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return frozenset({*(name for name in _identifiers(tree) if "__" in name), *classes})


def _names_one(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether this is `getattr(thing, "name")` or its like: a string names what is meant."""
    match node:
        case ast.Call(ast.Name(function), [_, ast.Constant(str(name)), *_]):
            return function in _BY_NAME and not _is_special(name)
    return False


def _looks_at_itself(tree: ast.Module) -> bool:
    """Whether the program may ask what something of its own is called, or how it is described."""
    harmless = {node.func for node in ast.walk(tree) if _names_one(node)}
    return not _READERS.isdisjoint(_identifiers(tree)) or any(
        (isinstance(node, ast.Name) and node.id in _MIRRORS and node not in harmless)
        or (isinstance(node, ast.Name) and _is_telling(node.id) and node.id != "__name__")
        or (isinstance(node, ast.Attribute) and _is_telling(node.attr))
        for node in ast.walk(tree)
    )


def _idle_statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Docstrings are constants as well."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Pass) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            yield node


def _idle_annotations(tree: ast.Module) -> Iterator[ast.AST]:
    """Annotations of functions that compute nothing of the author's when Python meets them."""
    postponed = any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(name.name == "annotations" for name in node.names)
        for node in tree.body
    )
    types = _TYPES.difference(_identifiers(tree, used=False))
    for node in ast.walk(tree):
        match node:
            case ast.arg(annotation=ast.expr() as annotation):
                pass
            case ast.FunctionDef(returns=ast.expr() as annotation):
                pass
            case ast.AsyncFunctionDef(returns=ast.expr() as annotation):
                pass
            case _:
                continue
        if postponed or _is_idle(annotation, types):
            yield annotation


def _is_idle(annotation: ast.expr, types: frozenset[str]) -> bool:
    if sum(1 for _ in islice(ast.walk(annotation), _LONG)) == _LONG:
        return False  # nor would Python recurse that deep
    return _is_type(annotation, types) or (
        isinstance(annotation, ast.Constant) and isinstance(annotation.value, str | None)
    )


def _is_type(annotation: ast.expr, types: frozenset[str]) -> bool:
    """Whether it is made of built-in types alone, in a way that cannot fail."""
    match annotation:
        case ast.Name(id=name):
            return name in types
        case ast.Subscript(ast.Name(id=name), ast.Tuple(elts=inner)):
            return name in types & _GENERIC and all(_is_argument(one, types) for one in inner)
        case ast.Subscript(ast.Name(id=name), inner):
            return name in types & _GENERIC and _is_argument(inner, types)
        case ast.BinOp(left, ast.BitOr(), ast.Constant(None)):
            return _is_type(left, types)
        case ast.BinOp(left, ast.BitOr(), right):
            return _is_type(right, types) and (_is_type(left, types) or _is_none(left))
    return False


def _is_argument(inner: ast.expr, types: frozenset[str]) -> bool:
    of_dots = isinstance(inner, ast.Constant) and inner.value is ...
    return of_dots or _is_idle(inner, types)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _identifiers(tree: ast.Module, *, used: bool = True) -> Iterator[str]:
    """Every name in the program; without `used`, only where it may get another meaning."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            continue
        if not used and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            continue
        for _, value in ast.iter_fields(node):
            for name in value if isinstance(value, list) else (value,):
                if isinstance(name, str):
                    yield from _TYPES if name == "*" else name.split(".")


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


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def _is_telling(name: str) -> bool:
    return _is_special(name) and name not in _PLAIN


def _words(tree: ast.Module, chosen: frozenset[str], idle: frozenset[ast.AST]) -> Iterator[str]:
    """The tree as words, top down; an explicit stack, because a chain of `elif` is deep."""
    numbers: dict[str, str] = {}
    waiting: list[object] = [tree]
    while waiting:
        item = waiting.pop()
        if isinstance(item, ast.AST):
            yield f"({type(item).__name__}"
            waiting.append(_END)
            waiting.extend(reversed(list(_content(item, idle))))
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


def _content(node: ast.AST, idle: frozenset[ast.AST]) -> Iterator[object]:
    """What tells a node from others of its kind; what is empty or only layout is left out."""
    for field, value in ast.iter_fields(node):
        if field in _LAYOUT:
            continue
        yield _Mark(field)
        if isinstance(value, list):
            yield from (_named(node, one) for one in value if one not in idle)
        elif isinstance(value, ast.AST):
            if value not in idle:
                yield value
        elif value is not None or isinstance(node, ast.Constant):
            yield _named(node, value)


def _named(node: ast.AST, value: object) -> object:
    return _Name(value) if isinstance(value, str) and not isinstance(node, ast.Constant) else value
