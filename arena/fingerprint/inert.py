"""Which parts of a program have no effect of their own: values, annotations, imports."""

from __future__ import annotations

import ast

from arena.fingerprint.scopes import Names, Place
from sandbox.box.allowed import ALLOWED_MODULES

_GENERIC = frozenset({"dict", "frozenset", "list", "set", "tuple", "type"})
_BUILTIN_TYPES = _GENERIC | {"bool", "bytes", "complex", "float", "int", "object", "str"}
_TYPING = [
    "Any",
    "Callable",
    "ClassVar",
    "Collection",
    "Counter",
    "DefaultDict",
    "Deque",
    "Dict",
    "Final",
    "FrozenSet",
    "Generator",
    "Generic",
    "Hashable",
    "Iterable",
    "Iterator",
    "List",
    "Literal",
    "Mapping",
    "MutableMapping",
    "MutableSequence",
    "MutableSet",
    "NoReturn",
    "Optional",
    "OrderedDict",
    "Protocol",
    "Sequence",
    "Set",
    "Sized",
    "Tuple",
    "Type",
    "Union",
]
_ABC = [
    "Callable",
    "Collection",
    "Generator",
    "Hashable",
    "Iterable",
    "Iterator",
    "Mapping",
    "MutableMapping",
    "MutableSequence",
    "MutableSet",
    "Sequence",
    "Set",
    "Sized",
]
_COLLECTIONS = ("Counter", "OrderedDict", "defaultdict", "deque")

TYPE_NAMES = frozenset(
    [f"typing.{name}" for name in _TYPING]
    + [f"collections.abc.{name}" for name in _ABC]
    + [f"collections.{name}" for name in _COLLECTIONS]
    + ["numpy.ndarray", "random.Random", "fractions.Fraction", "decimal.Decimal"]
)
"""Names of types that annotations are made of, and that are there in every Python from 3.11."""

READERS = frozenset(
    {
        "NamedTuple",
        "TypedDict",
        "dataclass",
        "dataclasses",
        "get_annotations",
        "get_type_hints",
        "singledispatch",
        "singledispatchmethod",
    }
)
"""Where one of these is mentioned, annotations may be read; for dunder names see `authors.py`."""


def annotations_matter(names: Names) -> bool:
    """Whether something in the program may read annotations."""
    words = {part for dotted in names.imported.values() for part in dotted.split(".")}
    return not READERS.isdisjoint(words | names.attributes)


def has_no_effect(value: ast.expr, names: Names) -> bool:
    """Whether computing a value can neither fail nor change anything."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Tuple | ast.List):
            waiting.extend(node.elts)
        elif isinstance(node, ast.Set):
            if not all(isinstance(one, ast.Constant) for one in node.elts):
                return False  # what is in a set is hashed
        elif isinstance(node, ast.Dict):
            if not all(isinstance(one, ast.Constant) for one in node.keys):
                return False
            waiting.extend(node.values)
        elif isinstance(node, ast.Lambda):
            waiting.extend(node.args.defaults)
            waiting.extend(one for one in node.args.kw_defaults if one is not None)
        elif isinstance(node, ast.Name):
            if not _is_parameter(node, names):
                return False
        elif not isinstance(node, ast.Constant):
            return False
    return True


def _is_parameter(node: ast.Name, names: Names) -> bool:
    """Whether it is a parameter: these have a value, unless somebody deletes it."""
    variable = names.of[node]
    if variable.place is not Place.FUNCTION or variable.deleted:
        return False
    # The end of an exception's handler deletes the name that it gave.
    return ast.arg in variable.kinds and ast.ExceptHandler not in variable.kinds


def only_names_types(annotation: ast.expr, names: Names) -> bool:
    """Whether an annotation is made of well-known types only, so that computing it does nothing.

    Whether it makes sense as a type is not asked.
    """
    waiting = [annotation]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Subscript):
            if not _is_type(node.value, names, _GENERIC):
                return False
            waiting.append(node.slice)
        elif isinstance(node, ast.Tuple | ast.List):
            waiting.extend(node.elts)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            sides = (node.left, node.right)
            if all(isinstance(one, ast.Constant) for one in sides):
                return False
            if any(isinstance(one, ast.Constant) and one.value is not None for one in sides):
                return False
            waiting.extend(sides)
        elif not isinstance(node, ast.Constant) and not _is_type(node, names, _BUILTIN_TYPES):
            return False
    return True


def _is_type(node: ast.expr, names: Names, builtin: frozenset[str]) -> bool:
    if isinstance(node, ast.Name):
        variable = names.of[node]
        if not variable.binders:
            return variable.place is Place.MODULE and variable.name in builtin
        origins = _origins(node, names)
        return (bool(origins) and origins <= TYPE_NAMES) or _is_class_before(node, names)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        origins = {f"{origin}.{node.attr}" for origin in _origins(node.value, names)}
        return bool(origins) and origins <= TYPE_NAMES
    return False


def _is_class_before(node: ast.Name, names: Names) -> bool:
    variable = names.of[node]
    binder = variable.binders[0]
    return (
        isinstance(binder, ast.ClassDef)
        and len(variable.binders) == 1
        and variable.place is Place.MODULE
        and not variable.deleted
        and (binder.end_lineno or 0) < node.lineno
    )


def _origins(node: ast.Name, names: Names) -> set[str]:
    """Where a name is imported from, if imports are all that binds it."""
    variable = names.of[node]
    if variable.kinds != {ast.alias} or variable.deleted:
        return set()
    return {names.imported[one] for one in variable.binders if isinstance(one, ast.alias)}


def import_has_no_effect(alias: ast.alias, names: Names) -> bool:
    """Whether an import only binds a name: it cannot fail, and runs nothing that shows."""
    dotted = names.imported[alias]
    if dotted in TYPE_NAMES:
        return not dotted.startswith("numpy.")
    return dotted in ALLOWED_MODULES - {"numpy"}
