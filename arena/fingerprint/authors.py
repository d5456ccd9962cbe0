"""Which names of a program its author chose, so that another name would do as well.

A name counts, and stays as it is written, wherever something could see it: the game, the standard
library, numpy, a string, or code that looks at code.  In doubt it counts.
"""

from __future__ import annotations

import ast
import builtins
import re

from arena.contract import AuthorContract
from arena.fingerprint.classes import Classes
from arena.fingerprint.library import DUCK_WORDS, WORDS
from arena.fingerprint.scopes import Names, Place, Variable
from arena.fingerprint.survey import Sign, Unit, words_of

_LOOKS_AT_NAMES = frozenset(
    ["__builtins__", "__import__", "compile", "dir", "eval", "exec", "globals", "locals", "vars"]
)
"""Built-ins that show or take names."""
_LOOKS_AT_CODE = frozenset(
    [
        "_getframe",
        "_sys",
        "ag_code",
        "ag_frame",
        "builtins",
        "cr_code",
        "cr_frame",
        "currentframe",
        "dis",
        "exc_info",
        "format_exc",
        "gc",
        "gi_code",
        "gi_frame",
        "importlib",
        "inspect",
        "linecache",
        "sys",
        "tb_frame",
        "traceback",
    ]
)
"""Attributes and modules that lead to names."""
_LOOKS_AT_ATTRIBUTES = frozenset(["delattr", "getattr", "hasattr", "setattr"])
_TAKES_ATTRIBUTES = frozenset(["attrgetter", "make_dataclass", "methodcaller", "types"])
_MAKES_TEXT = frozenset(["ascii", "format", "print", "repr", "str"])
_TEXT_MODULES = frozenset(["Formatter", "Template", "pprint", "reprlib", "textwrap"])
_TEXT_FORMAT = re.compile(r"%[-#0 +.\d]*[sra]|\{")
_MANGLED = re.compile(r"_[^\W_]\w*?__\w*[^\W_]\w*?_?$")
_DOCUMENTED = frozenset(
    ["__dict__", "__doc__", "dir", "getdoc", "globals", "inspect", "locals", "vars"]
)
"""Where one of these words is, docstrings are data."""

_OPERATORS = (
    "abs add and await bool bytes ceil complex contains delitem divmod enter eq float floor "
    "floordiv format ge getitem gt hash iadd iand ifloordiv ilshift imatmul imod imul index init "
    "int invert ior ipow irshift isub iter itruediv ixor le len length_hint lshift lt matmul "
    "missing mod mul ne neg new next or pos post_init pow radd rand rdivmod repr reversed "
    "rfloordiv rlshift rmatmul rmod rmul ror round rpow rrshift rshift rsub rtruediv rxor setitem "
    "str sub truediv trunc xor"
)
HARMLESS_DUNDERS = frozenset(
    {f"__{word}__" for word in _OPERATORS.split()}
    | {"__call__", "__class__", "__copy__", "__debug__", "__deepcopy__", "__future__", "__name__"}
)
"""Names that have nothing to do with names.  `__name__` alone is always "policy"."""


class Authorship:
    """Tells for each name whether it is the author's.

    Attributes:
      everything_counts: the program may see any name: all stay.
      attributes_count: the program may see any attribute's name: these stay.
      used: everything that is read, by the parts that are alive.
    """

    def __init__(
        self, names: Names, classes: Classes, units: set[Unit], contract: AuthorContract
    ) -> None:
        """Looks at what the live units of a program say."""
        said = Unit(ast.Module([], []))
        for unit in units:
            said.add(unit)
        self._names = names
        self._known: dict[Variable, bool] = {}
        self._classes = classes
        self._said = said
        self.used = said.uses
        self._class_name = contract.class_name
        self._bound = {name for node in said.classes for name in classes.bound.get(node, ())}
        self._fixed = {
            name
            for node in said.classes
            if node not in classes.plain
            for name in classes.bound.get(node, ())
        }
        self._called = {*contract.methods, *contract.optional}
        self._text_words = {word for text in said.strings for word in words_of(text)}
        self.everything_counts = self._looks_at_code()
        self.attributes_count = self._looks_at_attributes()
        self._text_is_made = self._makes_text()
        self._foreign = self._foreign_attributes()
        self._mixed = self._read_by_order()

    @property
    def docstrings_count(self) -> bool:
        """Whether the program may read its docstrings."""
        said = self._said
        return not _DOCUMENTED.isdisjoint(said.reads | said.words | self._text_words)

    def of(self, variable: Variable) -> bool:
        """Whether a variable's name is the author's."""
        known = self._known.get(variable)
        if known is None:
            known = self._known[variable] = self._decide(variable)
        return known

    def _decide(self, variable: Variable) -> bool:
        name = variable.name
        if self.everything_counts or not variable.binders or name.startswith("__"):
            return False
        if variable.place is Place.CLASS:
            return self.of_attribute(name)
        if variable in self._mixed or not all(map(self._is_free, variable.binders)):
            return False
        if variable.place is Place.MODULE:
            return name != self._class_name and not hasattr(builtins, name)
        return True

    def of_attribute(self, name: str) -> bool:
        """Whether an attribute's name is the author's."""
        if self.everything_counts or self.attributes_count or name.startswith("__"):
            return False
        if name not in self._said.stored and name not in self._bound:
            return False
        if name in self._called or name in self._fixed or name in DUCK_WORDS:
            return False
        if name in self._text_words or name in self._said.keywords or name in self._mixed:
            return False
        return name not in self._foreign or name not in WORDS

    def family(self, name: str, family: int) -> int:
        """Tells attributes of unrelated classes apart, where it is certain whose they are."""
        return -1 if name in self._foreign else family

    def _is_free(self, binder: ast.AST) -> bool:
        """Whether what gives a variable its value lets it have another name."""
        if isinstance(binder, ast.arg):
            named = binder.arg in self._said.keywords
            return not named and Sign.UNPACKED not in self._said.signs
        if isinstance(binder, ast.ClassDef):
            return binder in self._classes.plain and not self._text_is_made
        return True

    def _looks_at_code(self) -> bool:
        said, names = self._said, self._names
        if names.star or names.type_parameters or not said.signs.isdisjoint(_CODE_SIGNS):
            return True
        if not _LOOKS_AT_NAMES.isdisjoint(said.reads):
            return True
        if not _LOOKS_AT_CODE.isdisjoint(said.reads | said.words | self._text_words):
            return True
        written = said.reads | said.words | self._text_words | self._bound
        unusual = {word for word in written if word.startswith("__") and word.endswith("__")}
        if unusual - HARMLESS_DUNDERS - {"__slots__", "__match_args__"} or "__name__" in said.words:
            return True
        if any(_takes_names(node) for node in said.classes):
            return True
        return any(_MANGLED.fullmatch(word) for word in written)

    def _looks_at_attributes(self) -> bool:
        said = self._said
        return (
            not _LOOKS_AT_ATTRIBUTES.isdisjoint(said.reads)
            or not _TAKES_ATTRIBUTES.isdisjoint(said.words)
            or not {"__slots__", "__match_args__"}.isdisjoint(self._bound)
            or not said.signs.isdisjoint(_ATTRIBUTE_SIGNS)
        )

    def _makes_text(self) -> bool:
        """Whether a class's name may become part of a string."""
        said = self._said
        return (
            not _MAKES_TEXT.isdisjoint(said.reads)
            or not _TEXT_MODULES.isdisjoint(said.words)
            or Sign.FORMATTED in said.signs
            or any(_TEXT_FORMAT.search(text) for text in said.strings)
        )

    def _foreign_attributes(self) -> set[str]:
        """Attributes that may be taken of something else than an instance of a plain class.

        A method that is taken of anything but `self` may be called with another first argument.
        """
        through: dict[str, set[str]] = {}
        for variable, attributes in self._said.own.items():
            _, method = self._classes.selves[variable]
            through.setdefault(method, set()).update(attributes)
        found: set[str] = set()
        waiting = list(self._said.foreign)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting.extend(through.get(name, ()))
        return found

    def _read_by_order(self) -> set[Variable | str]:
        """Names in a class's body that mean the class's or the outer variable, as it comes."""
        found: set[Variable | str] = set()
        for inner, outer in self._names.fallbacks:
            if outer.binders or hasattr(builtins, outer.name):
                found.update((inner.name, outer))
        return found


_CODE_SIGNS = frozenset({Sign.EXCEPTION, Sign.PRIVATE})
_ATTRIBUTE_SIGNS = frozenset({Sign.TYPE_MADE, Sign.CLASS_CHANGED, Sign.FORMAT_UNKNOWN})


def _takes_names(node: ast.ClassDef) -> bool:
    """Whether making the class, or being one, may show the names in its body."""
    metaclass = any(keyword.arg in (None, "metaclass") for keyword in node.keywords)
    return metaclass or any(isinstance(one, ast.Name) and one.id == "type" for one in node.bases)
