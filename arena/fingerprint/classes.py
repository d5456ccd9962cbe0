"""Which classes of a program are its own through and through, and who is `self` in them.

In a *plain* class nothing comes from outside: no decorator, no keyword, no base but plain classes
of the same file.  An attribute of its instances is there because the program put it there.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from arena.fingerprint.scopes import Names, Variable

_NO_INSTANCE = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
"""Methods whose first argument is a class without any decorator saying so."""


@dataclass(slots=True)
class Classes:
    """What `look` found out.

    Attributes:
      plain: the plain classes, each with the number of its family: all that inherit from or to it.
      bound: names bound in the body of each class, plain or not.
      selves: the first argument of each method of a plain class, where it always is the instance
        (as far as calls on instances go), with the family and the method's name.
    """

    plain: dict[ast.ClassDef, int] = field(default_factory=dict)
    bound: dict[ast.AST, set[str]] = field(default_factory=dict)
    selves: dict[Variable, tuple[int, str]] = field(default_factory=dict)


def look(names: Names) -> Classes:
    """Sorts the classes of a program."""
    parents = {node: _parents(node, names) for node in names.classes}
    strange = [node for node, known in parents.items() if known is None]
    seen = set(strange)
    while strange:  # what a strange class inherits from is part of it
        bases = (_one_class(base, names) for base in strange.pop().bases)
        for base in bases:
            if base is not None and base not in seen:
                seen.add(base)
                strange.append(base)
    found = Classes()
    family = _families({node: known or [] for node, known in parents.items()})
    found.plain = {node: family[node] for node in names.classes if node not in seen}
    for variable in set(names.of.values()):
        if isinstance(variable.owner, ast.ClassDef):
            found.bound.setdefault(variable.owner, set()).add(variable.name)
    for node, number in found.plain.items():
        _add_selves(node, number, names, found.selves)
    return found


def _parents(node: ast.ClassDef, names: Names) -> list[ast.ClassDef] | None:
    """The classes of the file that it inherits from; None where something else is in play."""
    if node.decorator_list or node.keywords:
        return None
    found = []
    for base in node.bases:
        parent = _one_class(base, names)
        if parent is not None:
            found.append(parent)
        elif not _is_root(base, names):
            return None
    return found


def _one_class(base: ast.expr, names: Names) -> ast.ClassDef | None:
    variable = names.of.get(base)
    if variable is None or len(variable.binders) != 1 or variable.deleted:
        return None
    binder = variable.binders[0]
    return binder if isinstance(binder, ast.ClassDef) else None


def _is_root(base: ast.expr, names: Names) -> bool:
    """`object`, or `ABC`: bases that give instances nothing but what starts with underscores."""
    variable = names.of.get(base)
    if variable is None:
        return False
    if not variable.binders:
        return variable.name == "object"
    binder = variable.binders[0]
    if len(variable.binders) > 1 or not isinstance(binder, ast.alias):
        return False
    return names.imported[binder] == "abc.ABC"


def _families(parents: Mapping[ast.ClassDef, list[ast.ClassDef]]) -> dict[ast.ClassDef, int]:
    relatives: dict[ast.ClassDef, list[ast.ClassDef]] = {node: [] for node in parents}
    for node, above in parents.items():
        for parent in above:
            relatives[node].append(parent)
            relatives[parent].append(node)
    family: dict[ast.ClassDef, int] = {}
    for number, node in enumerate(parents):
        waiting = [node]
        while waiting:
            one = waiting.pop()
            if one not in family:
                family[one] = number
                waiting.extend(relatives[one])
    return family


def _add_selves(
    node: ast.ClassDef, family: int, names: Names, selves: dict[Variable, tuple[int, str]]
) -> None:
    for method in node.body:
        if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if method.name in _NO_INSTANCE or not all(
            isinstance(one, ast.Name) and one.id == "property" and not names.of[one].binders
            for one in method.decorator_list
        ):
            continue
        positional = [*method.args.posonlyargs, *method.args.args]
        if positional:
            first = names.of[positional[0]]
            if len(first.binders) == 1 and not first.deleted:
                selves[first] = (family, method.name)
