"""Whether a parsed source defines a class that a game can call, as far as one can see.

Python decides much of this only when it runs (decorators, metaclasses, bases from elsewhere).
Where the text does not settle a question, the policy passes: its trial will tell.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arena.contract import AuthorContract
from arena.rejection import Rejection, RejectionKind

_PLAIN_BASES = frozenset({"object", "ABC", "abc.ABC", "Protocol", "typing.Protocol", "Generic"})
_PLAIN_METACLASSES = frozenset({"type", "ABCMeta", "abc.ABCMeta"})
_STATIC, _CLASS = "staticmethod", "classmethod"
_TRANSPARENT = frozenset({"abstractmethod", "abc.abstractmethod", "override", "typing.override"})

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class _Found:
    """A method as found: what it is bound to, and whether the search ended in the unknown."""

    node: ast.AST | None
    open: bool


def class_problem(tree: ast.Module, contract: AuthorContract) -> Rejection | None:
    """The first thing that would keep the game from using the class; None where there is none."""
    top = _bindings(tree.body)
    if contract.class_name not in top:
        return _class_missing(tree, contract)
    entrant = _as_class(top[contract.class_name], top)
    if isinstance(entrant, Function):
        return Rejection(
            RejectionKind.CLASS_MISSING,
            f"{_at(entrant)}{contract.class_name} is a function; define a class of that name",
            entrant.lineno,
        )
    if not isinstance(entrant, ast.ClassDef):
        return None  # Bound to something that only running it can tell.
    classes = _Classes(top, contract.class_name, _patched(tree, contract.class_name))
    if (problem := _constructor_problem(entrant, classes)) is not None:
        return problem
    for name, arguments in contract.methods.items():
        found = classes.find(entrant, name)
        if found.node is None and not found.open:
            return Rejection(
                RejectionKind.METHOD_MISSING,
                f"{_at(entrant)}class {contract.class_name} has no method {name}; add "
                f"{_wanted(name, arguments)}",
                entrant.lineno,
            )
        if (problem := _method_problem(found.node, name, arguments)) is not None:
            return problem
    for name, arguments in contract.optional.items():
        problem = _method_problem(classes.find(entrant, name).node, name, arguments)
        if problem is not None:
            return problem
    return None


def makes_class(tree: ast.Module, name: str) -> bool:
    """Whether a module makes a class of that name, or something that only running it can tell.

    One that imports the name, or binds it to another that it does not define, only uses it.
    """
    if any(isinstance(one, ast.ClassDef) and one.name == name for one in _statements(tree.body)):
        return True
    top = _bindings(tree.body)
    bound = _as_class(top.get(name, tree), top)
    return not isinstance(bound, Function | ast.Module | ast.Import | ast.ImportFrom | ast.Name)


@dataclass(frozen=True, slots=True)
class _Classes:
    """The classes of one file and how names are looked up in them."""

    top: dict[str, ast.AST]
    entrant: str
    patched: frozenset[str]

    def find(self, owner: ast.ClassDef, name: str) -> _Found:
        """The method as a class has it, itself or from bases in the file (depth first)."""
        if name in self.patched:
            return _Found(None, True)
        unknown = False
        seen: set[ast.ClassDef] = set()
        waiting = [owner]
        while waiting:
            current = waiting.pop()
            if current in seen:
                continue
            seen.add(current)
            body = _bindings(current.body)
            unknown = unknown or any(not _is_dataclass(one) for one in current.decorator_list)
            if name in body:
                # Whatever is unknown up to here may have a method that wins.
                return _Found(None if unknown else body[name], unknown)
            known, all_known = self._bases(current)
            unknown = unknown or not all_known or "__getattr__" in body
            waiting.extend(reversed(known))
        return _Found(None, unknown)

    def _bases(self, owner: ast.ClassDef) -> tuple[list[ast.ClassDef], bool]:
        known: list[ast.ClassDef] = []
        all_known = all(
            keyword.arg == "metaclass" and _dotted(keyword.value) in _PLAIN_METACLASSES
            for keyword in owner.keywords
        )
        for base in owner.bases:
            plain = base.value if isinstance(base, ast.Subscript) else base
            target = _as_class(self.top.get(_dotted(plain), plain), self.top)
            if isinstance(target, ast.ClassDef):
                known.append(target)
            elif _dotted(plain) not in _PLAIN_BASES:
                all_known = False
        return known, all_known


def _constructor_problem(owner: ast.ClassDef, classes: _Classes) -> Rejection | None:
    """`Class()` must work."""
    decorators = [one for one in owner.decorator_list if _is_dataclass(one)]
    found = classes.find(owner, "__init__")
    own = _bindings(owner.body)
    if decorators and "__init__" not in own:
        return _field_problem(owner, decorators[0])
    for name, node in (("__init__", found.node), ("__new__", own.get("__new__"))):
        if isinstance(node, ast.FunctionDef) and name == "__new__" and not node.decorator_list:
            problem = _call_problem(node, 0, skip=1)
        else:
            problem = None if node is None else _method_call_problem(node, 0)
        if problem is not None and node is not None:
            line = getattr(node, "lineno", owner.lineno)
            return Rejection(
                RejectionKind.BAD_SIGNATURE,
                f"line {line}: {owner.name} is made with no arguments, but {name} {problem}; give "
                "every argument after self a default",
                line,
            )
    return None


def _field_problem(owner: ast.ClassDef, decorator: ast.expr) -> Rejection | None:
    """A dataclass makes its own `__init__`, with an argument for each field."""
    if isinstance(decorator, ast.Call) and any(one.arg == "init" for one in decorator.keywords):
        return None
    for statement in owner.body:
        if not isinstance(statement, ast.AnnAssign) or statement.value is not None:
            continue
        if _is_class_variable(statement.annotation):
            continue
        return Rejection(
            RejectionKind.BAD_SIGNATURE,
            f"line {statement.lineno}: {owner.name} is made with no arguments, but this field has "
            "no default; give it one",
            statement.lineno,
        )
    return None


def _method_problem(node: ast.AST | None, name: str, arguments: int) -> Rejection | None:
    if node is None:
        return None
    line = getattr(node, "lineno", None)
    if isinstance(node, ast.AsyncFunctionDef):
        problem: str | None = "is async; nothing awaits it, so write a plain def"
    elif isinstance(node, ast.FunctionDef) and (yielded := _yield_line(node)):
        problem = f"is a generator (yield on line {yielded}); return the action instead"
    else:
        problem = _method_call_problem(node, arguments)
        problem = problem and f"{problem}; write {_wanted(name, arguments)}"
    if problem is None:
        return None
    return Rejection(RejectionKind.BAD_SIGNATURE, f"line {line}: {name} {problem}", line)


def _method_call_problem(node: ast.AST, arguments: int) -> str | None:
    """Why a call on an instance with that many arguments fails; None where it does not."""
    if isinstance(node, ast.ClassDef | ast.Import | ast.ImportFrom):
        return None
    if isinstance(node, ast.Constant):
        return "is no method but a constant"
    if not isinstance(node, Function):
        return None
    decorators = [] if isinstance(node, ast.Lambda) else [_dotted(d) for d in node.decorator_list]
    meaning = [one for one in decorators if one not in _TRANSPARENT]
    if len(meaning) > 1 or any(one not in (_STATIC, _CLASS) for one in meaning):
        return None  # A decorator may change the signature.
    return _call_problem(node, arguments, skip=0 if _STATIC in meaning else 1)


def _call_problem(node: Function, arguments: int, *, skip: int) -> str | None:
    """Why a call with `arguments` positional arguments after `skip` bound ones fails."""
    signature = node.args
    positional = [*signature.posonlyargs, *signature.args]
    given = arguments + skip
    after = "after self" if skip else "in all"
    if skip and not positional and signature.vararg is None:
        return "takes no self"
    if given > len(positional) and signature.vararg is None:
        takes = max(len(positional) - skip, 0)
        return f"is called with {_counted(arguments)} {after} and takes {takes or 'none'}"
    required = len(positional) - len(signature.defaults)
    if given < required:
        names = ", ".join(argument.arg for argument in positional[given:required])
        return f"is called with {_counted(arguments)} {after} and also requires {names}"
    for argument, default in zip(signature.kwonlyargs, signature.kw_defaults, strict=True):
        if default is None:
            return f"requires the keyword argument {argument.arg}, which is never given"
    return None


def _class_missing(tree: ast.Module, contract: AuthorContract) -> Rejection:
    wanted = contract.class_name
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    same = next((one for one in classes if one.name == wanted), None)
    if same is not None:
        line, hint = same.lineno, f"the class on line {same.lineno} is not at the top level"
    elif len(classes) == 1:
        line = classes[0].lineno
        hint = f"is it {classes[0].name} on line {line}? then rename it"
    elif classes:
        line, hint = None, f"it has {', '.join(one.name for one in classes[:5])}"
    else:
        line, hint = None, "it defines no class at all"
    return Rejection(
        RejectionKind.CLASS_MISSING,
        f"the file must define class {wanted} at its top level with "
        f"{', '.join(_wanted(*method) for method in contract.methods.items())}; {hint}",
        line,
    )


def _bindings(body: Sequence[ast.stmt]) -> dict[str, ast.AST]:
    """What each name is bound to by the statements of a scope, last one first served."""
    bound: dict[str, ast.AST] = {}
    for statement in _statements(body):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        bound[name.id] = statement.value if name is target else statement
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            if isinstance(statement.target, ast.Name):
                bound[statement.target.id] = statement.value
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                bound[(alias.asname or alias.name).partition(".")[0]] = statement
    return bound


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a scope in order, those inside if, for, with and try included."""
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        inside = [
            child
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
        ]
        waiting.extend(reversed(inside))


def _as_class(node: ast.AST, top: dict[str, ast.AST]) -> ast.AST:
    """Follows plain renamings (`Agent = Copycat`) to what they end at."""
    for _ in range(len(top)):
        if not isinstance(node, ast.Name) or node.id not in top:
            return node
        node = top[node.id]
    return node


def _patched(tree: ast.Module, class_name: str) -> frozenset[str]:
    """Attributes that the module sets on the class from outside (`Agent.act = act`)."""
    return frozenset(
        target.attr
        for statement in _statements(tree.body)
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Attribute) and _dotted(target.value) == class_name
    )


def _yield_line(function: ast.FunctionDef) -> int | None:
    """Line of a yield of the function itself, not of a function inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return node.lineno
        if not isinstance(node, Function | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))
    return None


def _dotted(node: ast.AST) -> str:
    """`a.b` as text; "" where the node is not a name or one attribute of a name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ""


def _is_dataclass(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return _dotted(called) in ("dataclass", "dataclasses.dataclass")


def _is_class_variable(annotation: ast.expr) -> bool:
    for node in ast.walk(annotation):
        word = getattr(node, "id", None) or getattr(node, "attr", None)
        text = node.value if isinstance(node, ast.Constant) else word
        if isinstance(text, str) and "ClassVar" in text:
            return True
    return False


def _counted(arguments: int) -> str:
    return f"{arguments or 'no'} argument{'' if arguments == 1 else 's'}"


def _wanted(name: str, arguments: int) -> str:
    taken = ["argument"] if arguments == 1 else [f"argument{i + 1}" for i in range(arguments)]
    return f"def {name}({', '.join(['self', *taken])})"


def _at(node: ast.ClassDef | Function) -> str:
    return f"line {node.lineno}: "
