"""Which variable each name in a program means, by Python's scoping rules.

Source: the language reference, section 4.2 (naming and binding); the tests hold this to the
standard library's `symtable`.
"""

from __future__ import annotations

import ast
import enum
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Binder = (
    ast.Name
    | ast.arg
    | ast.alias
    | ast.FunctionDef
    | ast.AsyncFunctionDef
    | ast.ClassDef
    | ast.ExceptHandler
    | ast.MatchAs
    | ast.MatchStar
    | ast.MatchMapping
)
"""Nodes in which a variable's name is written."""


class Place(enum.Enum):
    """Where a variable lives."""

    MODULE = "global"
    CLASS = "class"
    FUNCTION = "local"


@dataclass(eq=False, slots=True)
class Variable:
    """One variable: the same object wherever the program means it.

    Attributes:
      name: as written.
      place: where it lives; what nothing in the file binds is looked for among the globals.
      owner: the class or function; None for globals.
      binders: nodes that give it a value.
      kinds: of these nodes.
      deleted: whether `del` unbinds it.
    """

    name: str
    place: Place
    owner: ast.AST | None
    binders: list[ast.AST] = field(default_factory=list)
    kinds: set[type] = field(default_factory=set)
    deleted: bool = False


@dataclass(eq=False, slots=True)
class Scope:
    """A block of the program with names of its own."""

    node: ast.AST
    place: Place
    parent: Scope | None
    bound: set[str] = field(default_factory=set)
    declared_global: set[str] = field(default_factory=set)
    declared_nonlocal: set[str] = field(default_factory=set)
    variables: dict[str, Variable] = field(default_factory=dict)


@dataclass(slots=True)
class Names:
    """What `resolve` found out.

    Attributes:
      of: the variable that each node names.
      generators: functions with a `yield` of their own, whether it can be reached or not.
      in_function: annotated assignments in functions, whose annotations nothing evaluates.
      fallbacks: variables of classes that are read in the class's body, with the variable of the
        same name outside: which of the two is read may depend on what ran before.
      classes: all of them.
      imported: what each import binds, with its module: "math", "typing.Any".
      attributes: all that are named anywhere.
      future: features asked for with `from __future__`.
      star: whether names come in by `import *`.
      type_parameters: whether there are any (PEP 695); their scopes are not followed.
    """

    of: dict[ast.AST, Variable] = field(default_factory=dict)
    generators: set[ast.AST] = field(default_factory=set)
    in_function: set[ast.AST] = field(default_factory=set)
    fallbacks: list[tuple[Variable, Variable]] = field(default_factory=list)
    classes: list[ast.ClassDef] = field(default_factory=list)
    imported: dict[ast.alias, str] = field(default_factory=dict)
    attributes: set[str] = field(default_factory=set)
    future: set[str] = field(default_factory=set)
    star: bool = False
    type_parameters: bool = False


def resolve(tree: ast.Module) -> Names:
    """Finds out what each name means.  Recurses as deeply as the tree is."""
    walk = _Walk(tree)
    for statement in tree.body:
        walk.visit(statement, walk.module)
    return walk.resolved()


class _Walk:
    """Collects scopes and names first: a name may be bound after it was used."""

    def __init__(self, tree: ast.Module) -> None:
        self.module = Scope(tree, Place.MODULE, None)
        self._names = Names()
        self._found: list[tuple[ast.AST, str, Scope]] = []
        self._special: dict[type, Callable[..., None]] = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.NamedExpr: self._named_expression,
            ast.FunctionDef: self._function,
            ast.AsyncFunctionDef: self._function,
            ast.Lambda: self._function,
            ast.ClassDef: self._class,
            ast.ListComp: self._comprehension,
            ast.SetComp: self._comprehension,
            ast.DictComp: self._comprehension,
            ast.GeneratorExp: self._comprehension,
            ast.AnnAssign: self._annotated,
            ast.Import: self._import,
            ast.ImportFrom: self._import,
            ast.Global: self._global,
            ast.Nonlocal: self._nonlocal,
            ast.ExceptHandler: self._named,
            ast.MatchAs: self._named,
            ast.MatchStar: self._named,
            ast.MatchMapping: self._rest,
            ast.Yield: self._yield,
            ast.YieldFrom: self._yield,
        }
        if sys.version_info >= (3, 12):
            self._special[ast.TypeAlias] = self._type_alias

    def visit(self, node: ast.AST, scope: Scope) -> None:
        special = self._special.get(type(node))
        if special is not None:
            special(node, scope)
        else:
            self._children(node, scope)

    def _children(self, node: ast.AST, scope: Scope) -> None:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                for item in value:
                    if isinstance(item, ast.AST):
                        self.visit(item, scope)
            elif isinstance(value, ast.AST):
                self.visit(value, scope)

    def _write(self, node: ast.AST, name: str, scope: Scope, *, binds: bool = True) -> None:
        self._found.append((node, name, scope))
        if binds:
            scope.bound.add(name)

    def _name(self, node: ast.Name, scope: Scope) -> None:
        self._write(node, node.id, scope, binds=not isinstance(node.ctx, ast.Load))

    def _attribute(self, node: ast.Attribute, scope: Scope) -> None:
        self._names.attributes.add(node.attr)
        self.visit(node.value, scope)

    def _named_expression(self, node: ast.NamedExpr, scope: Scope) -> None:
        outside = scope
        while isinstance(outside.node, Comprehension) and outside.parent is not None:
            outside = outside.parent
        self._write(node.target, node.target.id, outside)
        self.visit(node.value, scope)

    def _function(self, node: Function, scope: Scope) -> None:
        if not isinstance(node, ast.Lambda):
            self._write(node, node.name, scope)
            for decorator in node.decorator_list:
                self.visit(decorator, scope)
            if node.returns is not None:
                self.visit(node.returns, scope)
            self._type_parameters(node, scope)
        inside = Scope(node, Place.FUNCTION, scope)
        self._arguments(node.args, scope, inside)
        for statement in [node.body] if isinstance(node, ast.Lambda) else node.body:
            self.visit(statement, inside)

    def _arguments(self, arguments: ast.arguments, scope: Scope, inside: Scope) -> None:
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self.visit(default, scope)
        for argument in all_arguments(arguments):
            self._write(argument, argument.arg, inside)
            if argument.annotation is not None:
                self.visit(argument.annotation, scope)

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        self._write(node, node.name, scope)
        self._names.classes.append(node)
        self._type_parameters(node, scope)
        for outside in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(outside, scope)
        inside = Scope(node, Place.CLASS, scope)
        for statement in node.body:
            self.visit(statement, inside)

    def _type_parameters(self, node: ast.AST, scope: Scope) -> None:
        for parameter in getattr(node, "type_params", ()):
            self._names.type_parameters = True
            self.visit(parameter, scope)

    def _type_alias(self, node: ast.AST, scope: Scope) -> None:
        self._names.type_parameters = True
        self._children(node, scope)

    def _comprehension(self, node: Comprehension, scope: Scope) -> None:
        inside = Scope(node, Place.FUNCTION, scope)
        for number, generator in enumerate(node.generators):
            self.visit(generator.iter, inside if number else scope)
            self.visit(generator.target, inside)
            for condition in generator.ifs:
                self.visit(condition, inside)
        if isinstance(node, ast.DictComp):
            self.visit(node.key, inside)
            self.visit(node.value, inside)
        else:
            self.visit(node.elt, inside)

    def _annotated(self, node: ast.AnnAssign, scope: Scope) -> None:
        if scope.place is Place.FUNCTION:
            self._names.in_function.add(node)
        if isinstance(node.target, ast.Name) and not node.simple and node.value is None:
            self._write(node.target, node.target.id, scope, binds=False)
        else:
            self.visit(node.target, scope)
        self.visit(node.annotation, scope)
        if node.value is not None:
            self.visit(node.value, scope)

    def _import(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        origin = ""
        if isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "") + "."
        for alias in node.names:
            if origin == "__future__.":
                self._names.future.add(alias.name)
            self._names.imported[alias] = origin + alias.name
            if alias.name == "*":
                self._names.star = True
            else:
                self._write(alias, alias.asname or alias.name.partition(".")[0], scope)

    def _global(self, node: ast.Global, scope: Scope) -> None:
        scope.declared_global.update(node.names)

    def _nonlocal(self, node: ast.Nonlocal, scope: Scope) -> None:
        scope.declared_nonlocal.update(node.names)

    def _named(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar, scope: Scope) -> None:
        if node.name is not None:
            self._write(node, node.name, scope)
        self._children(node, scope)

    def _rest(self, node: ast.MatchMapping, scope: Scope) -> None:
        if node.rest is not None:
            self._write(node, node.rest, scope)
        self._children(node, scope)

    def _yield(self, node: ast.Yield | ast.YieldFrom, scope: Scope) -> None:
        self._names.generators.add(scope.node)
        self._children(node, scope)

    def resolved(self) -> Names:
        names = self._names
        for node, name, scope in self._found:
            variable = self._variable(name, scope)
            names.of[node] = variable
            context = node.ctx if isinstance(node, ast.Name) else None
            if isinstance(context, ast.Load):
                if variable.place is Place.CLASS:
                    names.fallbacks.append((variable, self._outside(name, scope)))
            elif isinstance(context, ast.Del):
                variable.deleted = True
            else:
                variable.binders.append(node)
                variable.kinds.add(type(node))
        return names

    def _variable(self, name: str, scope: Scope) -> Variable:
        if name in scope.declared_global:
            return self._own(name, self.module)
        if name in scope.bound and name not in scope.declared_nonlocal:
            return self._own(name, scope)
        return self._outside(name, scope)

    def _outside(self, name: str, scope: Scope) -> Variable:
        """The variable of that name in the functions around a scope, or the global one."""
        around = scope.parent
        while around is not None and around.place is not Place.MODULE:
            if around.place is Place.FUNCTION:
                if name in around.declared_global:
                    break
                if name in around.bound and name not in around.declared_nonlocal:
                    return self._own(name, around)
            around = around.parent
        return self._own(name, self.module)

    @staticmethod
    def _own(name: str, scope: Scope) -> Variable:
        found = scope.variables.get(name)
        if found is None:
            owner = None if scope.place is Place.MODULE else scope.node
            found = scope.variables[name] = Variable(name, scope.place, owner)
        return found


def all_arguments(arguments: ast.arguments) -> list[ast.arg]:
    """The parameters of a function, in order of writing."""
    starred = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *starred]
