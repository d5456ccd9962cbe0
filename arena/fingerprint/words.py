"""A program as a sequence of words that is the same for all spellings of it.

Whatever its author named is numbered in the order in which it first appears.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from arena.fingerprint.authors import Authorship
from arena.fingerprint.classes import Classes
from arena.fingerprint.scopes import Names, Place
from arena.fingerprint.survey import Key
from sandbox.box.allowed import ALLOWED_MODULES

_LEFT_OUT = frozenset({"ctx", "kind", "type_comment", "type_ignores", "simple"})
_END = ")"
_SINGLE = -1
"""Family of an attribute that may be of any object."""


class Spelling:
    """Writes a program down."""

    def __init__(
        self,
        names: Names,
        classes: Classes,
        authors: Authorship,
        keys: Mapping[ast.AST, tuple[Key, ...]],
        left_out: set[ast.AST],
        annotated: Callable[[ast.expr], bool],
        docstrings: dict[ast.AST, str],
    ) -> None:
        """Takes everything that was found out about the program.

        Args:
          names: of its variables.
          classes: of it.
          authors: which names count.
          keys: what each statement gives a name to, of those that do nothing else.
          left_out: statements and imports that do nothing at all.
          annotated: whether an annotation counts.
          docstrings: those that count, by what they document.
        """
        self._names = names
        self._classes = classes
        self._authors = authors
        self._keys = keys
        self._left_out = left_out
        self._top: set[ast.ClassDef] = set()
        self._annotated = annotated
        self._docstrings = docstrings
        self._numbers: dict[object, str] = {}
        self.words: list[str] = []
        self._special: dict[type, Callable[..., None]] = {
            ast.Module: self._module,
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Constant: self._constant,
            ast.arg: self._argument,
            ast.FunctionDef: self._definition,
            ast.AsyncFunctionDef: self._definition,
            ast.ClassDef: self._definition,
            ast.Lambda: self._lambda,
            ast.Import: self._import,
            ast.ImportFrom: self._import,
            ast.AnnAssign: self._annotated_assignment,
            ast.ExceptHandler: self._named,
            ast.MatchAs: self._named,
            ast.MatchStar: self._named,
            ast.MatchMapping: self._named,
            ast.MatchClass: self._match_class,
        }

    def write(self, node: ast.AST) -> None:
        """Adds a node's words; recurses as deeply as the tree is."""
        if node in self._left_out:
            return
        self.words.append(type(node).__name__)
        special = self._special.get(type(node))
        if special is not None:
            special(node)
        else:
            self._fields(node)
        self.words.append(_END)

    def _fields(self, node: ast.AST, without: Sequence[str] = ()) -> None:
        for name in node._fields:
            if name in _LEFT_OUT or name in without:
                continue
            value = getattr(node, name, None)
            if isinstance(value, list):
                if value:
                    self._list(name, value)
            elif value is not None:
                self.words.append(f".{name}")
                self._value(value)

    def _list(self, name: str, items: Sequence[Any]) -> None:
        if all(item in self._left_out for item in items):
            return
        self.words.append(f".{name}")
        for item in items:
            self._value(item)

    def _value(self, value: object) -> None:
        if isinstance(value, ast.AST):
            self.write(value)
        elif type(value) is int:
            self.words.append(f"int {value:x}")  # in decimal, Python refuses very long ones
        else:
            self.words.append(f"{type(value).__name__} {value!a}")

    # Names.

    def _label(self, node: ast.AST) -> None:
        """The word for the variable that a node names."""
        variable = self._names.of.get(node)
        if variable is None:
            return
        if variable.place is Place.CLASS and variable.owner is not None:
            owner = variable.owner
            assert isinstance(owner, ast.ClassDef)
            self._attribute_label(variable.name, self._classes.plain.get(owner, _SINGLE))
        elif self._authors.of(variable):
            self._numbered(variable.place.value, variable)
        else:
            self.words.append(f"{variable.place.value} {variable.name}")

    def _attribute_label(self, name: str, family: int) -> None:
        if self._authors.of_attribute(name):
            self._numbered("attribute", (name, self._authors.family(name, family)))
        else:
            self.words.append(f"attribute {name}")

    def _numbered(self, kind: str, key: object) -> None:
        word = self._numbers.get(key)
        if word is None:
            word = self._numbers[key] = f"{kind}{len(self._numbers)}"
        self.words.append(word)

    def _name(self, node: ast.Name) -> None:
        self._label(node)

    def _attribute(self, node: ast.Attribute) -> None:
        variable = self._names.of.get(node.value)
        family, _ = self._classes.selves.get(variable, (_SINGLE, "")) if variable else (_SINGLE, "")
        self._attribute_label(node.attr, family)
        self.write(node.value)

    def _constant(self, node: ast.Constant) -> None:
        self._value(node.value)

    def _match_class(self, node: ast.MatchClass) -> None:
        for name in node.kwd_attrs:
            self._attribute_label(name, _SINGLE)
        self._fields(node, without=("kwd_attrs",))

    def _named(self, node: ast.AST) -> None:
        self._label(node)
        self._fields(node, without=("name", "rest"))

    # Definitions.

    def _argument(self, node: ast.arg) -> None:
        self._label(node)
        self._annotation("annotation", node.annotation)

    def _annotation(self, field: str, annotation: ast.expr | None) -> None:
        if annotation is not None and self._annotated(annotation):
            self.words.append(f".{field}")
            self.write(annotation)

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self._label(node)
        if node in self._docstrings:
            self.words.append(f"doc {self._docstrings[node]!a}")
        if node in self._names.generators:
            self.words.append("generator")
        if not isinstance(node, ast.ClassDef):
            self._annotation("returns", node.returns)
        self._fields(node, without=("name", "returns", "body"))
        self.words.append(".body")
        # Only here: what is compared to be put in order is written twice.
        self._statements(node.body, ordered=node in self._top)

    def _lambda(self, node: ast.Lambda) -> None:
        if node in self._names.generators:
            self.words.append("generator")
        self._fields(node)

    def _annotated_assignment(self, node: ast.AnnAssign) -> None:
        counts = node not in self._names.in_function and self._annotated(node.annotation)
        if not counts and node.value is not None:
            self.words[-1] = ast.Assign.__name__
            self._list("targets", [node.target])
            self.words.append(".value")
            self.write(node.value)
        else:
            self._fields(node, without=() if counts else ("annotation",))

    # What may stand in any order.

    def _module(self, node: ast.Module) -> None:
        if node in self._docstrings:
            self.words.append(f"doc {self._docstrings[node]!a}")
        self._top = {one for one in node.body if isinstance(one, ast.ClassDef)}
        self._statements(node.body, ordered=True)

    def _statements(self, body: Sequence[ast.stmt], *, ordered: bool) -> None:
        """The statements of a block; definitions and imports in a row are put in order."""
        if not ordered or self._authors.everything_counts:
            for statement in body:
                self.write(statement)
            return
        for kind, run in itertools.groupby(body, self._kind):
            if kind is ast.Import:
                self._imports(run)
            else:
                for statement in self._sorted(run) if kind is ast.FunctionDef else run:
                    self.write(statement)

    def _kind(self, statement: ast.stmt) -> type | None:
        """Which statements can change places with each other; None for those that cannot."""
        if isinstance(statement, ast.Import | ast.ImportFrom):
            return ast.Import
        if statement in self._keys and not isinstance(statement, ast.ClassDef):
            return ast.FunctionDef
        return None

    def _sorted(self, run: Iterable[ast.stmt]) -> Sequence[ast.stmt]:
        """Definitions in a row, in an order that depends on what they do."""
        statements = [one for one in run if one not in self._left_out]
        bound = [key for one in statements for key in self._keys[one]]
        if len(statements) < 2 or len(set(bound)) < len(bound):
            return statements
        return sorted(statements, key=self._shape)

    def _shape(self, statement: ast.stmt) -> str:
        """The words of a statement by itself."""
        words, numbers = self.words, self._numbers
        self.words, self._numbers = [], {}
        self.write(statement)
        shape = "\0".join(self.words)
        self.words, self._numbers = words, numbers
        return shape

    # Imports.

    def _imports(self, run: Iterable[ast.stmt]) -> None:
        """Imports in a row: their order makes no difference where each binds another name."""
        aliases = [
            alias
            for statement in run
            if isinstance(statement, ast.Import | ast.ImportFrom)
            for alias in statement.names
            if alias not in self._left_out
        ]
        variables = {self._names.of.get(alias) for alias in aliases}
        known = all(self._origin(a).partition(".")[0] in ALLOWED_MODULES for a in aliases)
        if len(variables) == len(aliases) and known:
            aliases.sort(key=self._origin)
        for alias in aliases:
            self._import_one(alias)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if alias not in self._left_out:
                self._import_one(alias)

    def _origin(self, alias: ast.alias) -> str:
        return self._names.imported[alias]

    def _import_one(self, alias: ast.alias) -> None:
        """One import: from where, whether the last part of a dotted name is meant, as what."""
        origin = self._origin(alias)
        last = "as" if alias.asname is not None and "." in alias.name else ""
        self.words.append(f"import {last} {origin}")
        self._label(alias)
