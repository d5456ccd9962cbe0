"""What a program uses, so that what nobody uses can be left out.

A *unit* is a part that does nothing but give something a name: a function, a constant, an import.
It is alive if something that is alive uses the name.  What is left out can neither be called nor
read, so the program does the same without it; the rest of a program is alive in any case.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from arena.contract import AuthorContract
from arena.fingerprint import inert
from arena.fingerprint.classes import Classes
from arena.fingerprint.library import DUCK_WORDS
from arena.fingerprint.scopes import Names, Place, Variable

Key = Variable | str
"""What can be used: a variable, or an attribute of that name (of whatever)."""
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(eq=False, slots=True)
class Unit:
    """A part of a program, and what it says.

    Attributes:
      node: the part; the whole module for what is in no unit.
      keys: what it gives a name to.
      inside: the units within.
      uses: what it reads.
      reads: names that it reads and nothing in the file binds.
      stored: attributes that it gives a value to.
      foreign: attributes that it takes of anything but `self`.
      own: attributes that it takes of each `self`.
      words: attributes, modules, and what is imported of them.
      strings: all of them, docstrings left out.
      keywords: names of arguments in calls.
      classes: that it defines.
      signs: what else was seen, of `Sign`.
    """

    node: ast.AST
    keys: tuple[Key, ...] = ()
    inside: list[Unit] = field(default_factory=list)
    uses: set[Key] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    foreign: set[str] = field(default_factory=set)
    own: dict[Variable, set[str]] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)
    strings: set[str] = field(default_factory=set)
    keywords: set[str] = field(default_factory=set)
    classes: set[ast.ClassDef] = field(default_factory=set)
    signs: set[str] = field(default_factory=set)

    def add(self, other: Unit) -> None:
        """Takes over what another one says."""
        for name in _SETS:
            getattr(self, name).update(getattr(other, name))
        for variable, attributes in other.own.items():
            self.own.setdefault(variable, set()).update(attributes)


_SETS = ["uses", "reads", "stored", "foreign", "words", "strings", "keywords", "classes", "signs"]


class Sign:
    """What a unit can show besides words."""

    EXCEPTION = "an exception is looked at"
    TYPE_MADE = "type() may make a class"
    CLASS_CHANGED = "an object's class is changed"
    UNPACKED = "arguments come out of a mapping"
    FORMATTED = "objects are made text"
    FORMAT_UNKNOWN = "objects are made text by a format that is computed"
    PRIVATE = "a private part of a module is used"


class Survey:
    """Looks through a program once."""

    def __init__(
        self,
        tree: ast.Module,
        names: Names,
        classes: Classes,
        annotated: Callable[[ast.expr], bool],
    ) -> None:
        """Divides the program into units.

        Args:
          tree: the program, folded.
          names: of its variables.
          classes: of it.
          annotated: whether an annotation counts.
        """
        self._names = names
        self._classes = classes
        self._annotated = annotated
        self._top = set(tree.body)
        self._in_bodies = {name for bound in classes.bound.values() for name in bound}
        self._special: dict[type, Callable[..., None]] = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Constant: self._constant,
            ast.Call: self._call,
            ast.keyword: self._keyword,
            ast.AugAssign: self._augmented,
            ast.AnnAssign: self._annotated_assignment,
            ast.arg: self._argument,
            ast.ClassDef: self._class,
            ast.FunctionDef: self._function,
            ast.AsyncFunctionDef: self._function,
            ast.Import: self._import,
            ast.ImportFrom: self._import,
            ast.FormattedValue: self._formatted,
            ast.MatchClass: self._match_class,
        }
        self.units: list[Unit] = []
        self.root = Unit(tree)
        for statement in tree.body:
            self._visit(statement, self.root)

    def _visit(self, node: ast.AST, unit: Unit) -> None:
        if isinstance(node, ast.stmt):
            keys = self._keys(node)
            if keys is not None:
                unit = self._unit(node, keys, unit)
        special = self._special.get(type(node))
        if special is not None:
            special(node, unit)
        else:
            self._children(node, unit)

    def _children(self, node: ast.AST, unit: Unit, without: Sequence[str] = ()) -> None:
        for name in node._fields:
            if name in without:
                continue
            value = getattr(node, name, None)
            if isinstance(value, list):
                for item in value:
                    if isinstance(item, ast.AST):
                        self._visit(item, unit)
            elif isinstance(value, ast.AST):
                self._visit(value, unit)

    def _unit(self, node: ast.AST, keys: tuple[Key, ...], around: Unit) -> Unit:
        unit = Unit(node, keys)
        around.inside.append(unit)
        self.units.append(unit)
        return unit

    # What can be left out.

    def _keys(self, node: ast.stmt) -> tuple[Key, ...] | None:
        """What a statement gives a name to, where it does nothing else; None elsewhere."""
        names = self._names
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return self._keys_of([node]) if self._plain_function(node) else None
        if isinstance(node, ast.ClassDef):
            plain = node in self._classes.plain and not node.bases
            inside = all(self._keys(statement) is not None for statement in node.body)
            return self._keys_of([node]) if plain and inside else None
        if isinstance(node, ast.Assign):
            return self._keys_of(node.targets) if inert.has_no_effect(node.value, names) else None
        if isinstance(node, ast.AnnAssign):
            if node.value is not None and not inert.has_no_effect(node.value, names):
                return None
            simple = node not in names.in_function and self._annotated(node.annotation)
            return None if simple else self._keys_of([node.target])
        return None

    def _plain_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        arguments = node.args
        defaults = [*arguments.defaults, *filter(None, arguments.kw_defaults)]
        listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        listed += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
        annotations = [one.annotation for one in listed] + [node.returns]
        return (
            not node.decorator_list
            and all(inert.has_no_effect(one, self._names) for one in defaults)
            and not any(one is not None and self._annotated(one) for one in annotations)
        )

    def _keys_of(self, targets: Iterable[ast.AST]) -> tuple[Key, ...] | None:
        keys: list[Key] = []
        for target in targets:
            if isinstance(target, ast.Attribute):
                variable = self._names.of.get(target.value)
                known = variable in self._classes.selves
                if not known or target.attr in self._in_bodies:
                    return None  # a property of that name would be called
                keys.append(target.attr)
                continue
            variable = self._names.of.get(target)
            if variable is None:
                return None
            if variable.place is Place.CLASS and variable.owner not in self._classes.plain:
                return None
            keys.append(key_of(variable))
        return tuple(keys)

    # What is seen.

    def _name(self, node: ast.Name, unit: Unit) -> None:
        if isinstance(node.ctx, ast.Store):
            return
        variable = self._names.of[node]
        unit.uses.add(key_of(variable))
        if variable.place is Place.CLASS:
            unit.foreign.add(variable.name)
        if not variable.binders:
            unit.reads.add(variable.name)
            if variable.name == "type":
                unit.signs.add(Sign.TYPE_MADE)
        elif ast.ExceptHandler in variable.kinds:
            unit.signs.add(Sign.EXCEPTION)

    def _attribute(self, node: ast.Attribute, unit: Unit) -> None:
        unit.words.add(node.attr)
        if isinstance(node.ctx, ast.Store):
            unit.stored.add(node.attr)
            if node.attr == "__class__":
                unit.signs.add(Sign.CLASS_CHANGED)
        else:
            unit.uses.add(node.attr)
        variable = self._names.of.get(node.value)
        if variable in self._classes.selves:
            unit.own.setdefault(variable, set()).add(node.attr)
        else:
            unit.foreign.add(node.attr)
        if variable is not None and ast.alias in variable.kinds and node.attr.startswith("_"):
            unit.signs.add(Sign.PRIVATE)
        if node.attr in ("format", "format_map") and not isinstance(node.value, ast.Constant):
            unit.signs.add(Sign.FORMAT_UNKNOWN)
        self._visit(node.value, unit)

    def _constant(self, node: ast.Constant, unit: Unit) -> None:
        if isinstance(node.value, str):
            unit.strings.add(node.value)
            unit.uses.update(words_of(node.value))

    def _call(self, node: ast.Call, unit: Unit) -> None:
        asks_type = (
            isinstance(node.func, ast.Name)
            and node.func.id == "type"
            and len(node.args) == 1
            and not isinstance(node.args[0], ast.Starred)
            and not node.keywords
        )
        if asks_type:
            unit.reads.add("type")
            self._children(node, unit, without=("func",))
            unit.uses.add(key_of(self._names.of[node.func]))
        else:
            self._children(node, unit)

    def _keyword(self, node: ast.keyword, unit: Unit) -> None:
        if node.arg is None:
            unit.signs.add(Sign.UNPACKED)
        else:
            unit.keywords.add(node.arg)
        self._visit(node.value, unit)

    def _augmented(self, node: ast.AugAssign, unit: Unit) -> None:
        if isinstance(node.target, ast.Name):
            unit.uses.add(key_of(self._names.of[node.target]))
        elif isinstance(node.target, ast.Attribute):
            unit.uses.add(node.target.attr)
        self._children(node, unit)

    def _annotated_assignment(self, node: ast.AnnAssign, unit: Unit) -> None:
        counts = node not in self._names.in_function and self._annotated(node.annotation)
        self._children(node, unit, without=() if counts else ("annotation",))

    def _argument(self, node: ast.arg, unit: Unit) -> None:
        if node.annotation is not None and self._annotated(node.annotation):
            self._visit(node.annotation, unit)

    def _class(self, node: ast.ClassDef, unit: Unit) -> None:
        unit.classes.add(node)
        self._children(node, unit)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, unit: Unit) -> None:
        if node.decorator_list:  # an abstract method asks for another one of its name
            unit.uses.add(key_of(self._names.of[node]))
        counts = node.returns is not None and self._annotated(node.returns)
        self._children(node, unit, without=() if counts else ("returns",))

    def _import(self, node: ast.Import | ast.ImportFrom, unit: Unit) -> None:
        for alias in node.names:
            here = unit
            if node in self._top and inert.import_has_no_effect(alias, self._names):
                here = self._unit(alias, (key_of(self._names.of[alias]),), unit)
            here.words.update(self._names.imported[alias].split("."))

    def _formatted(self, node: ast.FormattedValue, unit: Unit) -> None:
        unit.signs.add(Sign.FORMATTED)
        self._children(node, unit)

    def _match_class(self, node: ast.MatchClass, unit: Unit) -> None:
        unit.uses.update(node.kwd_attrs)
        unit.foreign.update(node.kwd_attrs)
        self._children(node, unit)


def key_of(variable: Variable) -> Key:
    """What stands for a variable: those of classes are attributes."""
    return variable.name if variable.place is Place.CLASS else variable


def words_of(text: str) -> list[str]:
    """Everything in a string that could be a name."""
    return _WORD.findall(text)


def alive(root: Unit, contract: AuthorContract, *, attributes: bool = False) -> set[Unit]:
    """The units that are used, directly or not, and the root.

    Args:
      root: of all units.
      contract: whose methods are used.
      attributes: whether any attribute may be used without being named.
    """
    called = {*contract.methods, *contract.optional, *DUCK_WORDS}
    used: set[Key] = set()
    waiting_for: dict[Key, list[Unit]] = {}
    found: set[Unit] = set()
    new = [root]
    while new:
        unit = new.pop()
        if unit in found:
            continue
        found.add(unit)
        for key in unit.uses - used:
            used.add(key)
            new.extend(waiting_for.pop(key, ()))
        for inner in unit.inside:
            unnamed = attributes and any(isinstance(key, str) for key in inner.keys)
            if unnamed or any(k in used or _is_entry(k, called, contract) for k in inner.keys):
                new.append(inner)
            else:
                for key in inner.keys:
                    waiting_for.setdefault(key, []).append(inner)
    return found


def _is_entry(key: Key, called: set[str], contract: AuthorContract) -> bool:
    """Whether the game, or Python itself, may use what has that name."""
    if isinstance(key, str):
        return key in called or key.startswith("__")
    if key.name.startswith("__"):
        return True
    return key.place is Place.MODULE and key.name == contract.class_name
