"""What a parsed source uses and defines nowhere, and what it defines twice.

Python decides such things when it comes to them, and a policy that nobody can ask runs as it is: so
none of this refuses a submission.  Whoever takes a program out of a text, where a part may stand
for the whole, can tell by it.  Where the text does not settle a question, nothing is said.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

_OF_A_MODULE = {"__builtins__", "__class__", "__file__", "__name__", "__doc__", "__annotations__"}
_OF_AN_OBJECT = {*dir(object), "__dict__", "__module__", "__weakref__"}
_UNSETTLED = {"exec", "eval", "globals", "locals", "vars"}
"""With these, names may come from anywhere; likewise with a star import."""
_UNSETTLED_ATTRIBUTES = {"setattr", "getattr", "hasattr", "AttributeError", "super"}
_UNSETTLED_METHODS = {
    *("__getattr__", "__getattribute__", "__setattr__"),
    *("__dict__", "__class__", "__new__"),
}
_DATACLASS = "dataclass"
_LONGEST, _MOST = 120, 20
"""Characters of a name that are told, and names."""
_DEFINES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def loose_end(tree: ast.Module, class_name: str) -> str:
    """The first name, or attribute of the class's own, that is used and set nowhere; else "".

    Args:
      tree: a source.
      class_name: the class whose attributes are looked at, where it stands for itself.
    """
    nodes = list(_evaluated(tree))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    starred = any(isinstance(node, ast.ImportFrom) and _is_starred(node) for node in nodes)
    if starred or used & _UNSETTLED:
        return ""
    bound = set(bound_names(tree))
    known = bound | set(dir(builtins)) | _OF_A_MODULE
    loose = [node for node in nodes if isinstance(node, ast.Name) and node.id not in known]
    if loose:
        first = min(loose, key=lambda node: (node.lineno, node.col_offset))
        return f"line {first.lineno}: the name {first.id[:_LONGEST]} is defined nowhere"
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    if used & _UNSETTLED_ATTRIBUTES or bound & _UNSETTLED_METHODS:
        return ""
    if any(node.attr in _UNSETTLED_METHODS for node in attributes):
        return ""
    stored = {node.attr for node in attributes if isinstance(node.ctx, ast.Store)}
    return _unset(tree, class_name, bound | stored | _OF_AN_OBJECT)


def doubled(tree: ast.Module) -> tuple[str, ...]:
    """Classes and functions that stand twice in one body: the later one is all that counts.

    Those with decorators are left out (a property and its setter have one name), and "_"; at most
    20 are told.
    """
    found: dict[str, None] = {}
    for name, body in _bodies(tree):
        seen: set[str] = set()
        for node in body:
            if isinstance(node, _DEFINES) and not node.decorator_list and node.name != "_":
                if node.name in seen:
                    found[f"{name[:_LONGEST]}{node.name[:_LONGEST]}"] = None
                seen.add(node.name)
    return tuple(found)[:_MOST]


def bound_names(tree: ast.Module) -> Iterator[str]:
    """Every name that a source binds anywhere, whatever the scope."""
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
        elif type(node).__name__ in {"TypeVar", "ParamSpec", "TypeVarTuple"}:  # from Python 3.12 on
            yield node.name  # type: ignore[attr-defined]


def _unset(tree: ast.Module, class_name: str, known: set[str]) -> str:
    loose = [
        node
        for owner in tree.body
        if isinstance(owner, ast.ClassDef) and owner.name == class_name and _is_alone(owner)
        for method in owner.body
        if isinstance(method, ast.FunctionDef) and not method.decorator_list
        for own in [*method.args.posonlyargs, *method.args.args][:1]
        for node in _evaluated(method, own.arg)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == own.arg
        and node.attr not in known
    ]
    if not loose:
        return ""
    first = min(loose, key=lambda node: (node.lineno, node.col_offset))
    return f"line {first.lineno}: {ast.unparse(first)[:_LONGEST]} is set nowhere"


def _is_alone(owner: ast.ClassDef) -> bool:
    """Whether all that a class has stands in its text."""
    decorated = (one.func if isinstance(one, ast.Call) else one for one in owner.decorator_list)
    names = (getattr(one, "attr", getattr(one, "id", "")) for one in decorated)
    bases = {getattr(one, "id", "") for one in owner.bases}
    return bases <= {"object"} and not owner.keywords and all(one == _DATACLASS for one in names)


def _is_starred(node: ast.ImportFrom) -> bool:
    return any(alias.name == "*" for alias in node.names)


def _evaluated(tree: ast.AST, own: str = "") -> Iterator[ast.AST]:
    """All nodes but annotations, which Python need not look at.

    Args:
      tree: where to begin.
      own: a name; then nothing within that may bind it to something else.
    """
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if own and node is not tree and _binds(node, own):
            continue
        yield node
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns"}:
                continue
            children = value if isinstance(value, list) else [value]
            waiting += [child for child in children if isinstance(child, ast.AST)]


def _binds(node: ast.AST, own: str) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return any(isinstance(one, ast.arg) and one.arg == own for one in ast.walk(node.args))
    return isinstance(node, ast.ClassDef)


def _bodies(tree: ast.Module) -> Iterator[tuple[str, Sequence[ast.stmt]]]:
    yield "", tree.body
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield f"{node.name}.", node.body
