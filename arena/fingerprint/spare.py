"""Takes parameters out that nobody gives a value and nobody reads.

The game calls the methods of its contract with a fixed number of arguments.  Where nothing else in
the file calls such a method, what it could take besides makes no difference.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Set

from arena.contract import AuthorContract
from arena.fingerprint.inert import has_no_effect
from arena.fingerprint.scopes import Names, Place
from arena.fingerprint.survey import Key


def drop_spare_parameters(
    tree: ast.Module,
    names: Names,
    contract: AuthorContract,
    used: Set[Key],
    annotated: Callable[[ast.expr], bool],
) -> None:
    """Changes the signatures of the contract's methods in place.

    Args:
      tree: the program.
      names: of its variables.
      contract: of the game.
      used: everything that the program reads.
      annotated: whether an annotation counts.
    """

    def spare(argument: ast.arg) -> bool:
        counts = argument.annotation is not None and annotated(argument.annotation)
        return not counts and names.of[argument] not in used

    for entrant in tree.body:
        if not isinstance(entrant, ast.ClassDef) or entrant.name != contract.class_name:
            continue
        called = {**contract.methods, **contract.optional}
        variable = names.of[entrant]
        if variable.place is Place.MODULE and variable not in used:
            called["__init__"] = 0
        for method in entrant.body:
            if not isinstance(method, ast.FunctionDef) or method.decorator_list:
                continue
            if method.name in called and method.name not in used:
                _drop(method.args, 1 + called[method.name], names, spare)


def _drop(
    arguments: ast.arguments, given: int, names: Names, spare: Callable[[ast.arg], bool]
) -> None:
    if arguments.vararg is not None and spare(arguments.vararg):
        arguments.vararg = None
    if arguments.kwarg is not None and spare(arguments.kwarg):
        arguments.kwarg = None
    while len(arguments.args) + len(arguments.posonlyargs) > given and arguments.defaults:
        last = arguments.args[-1] if arguments.args else None
        if last is None or not spare(last) or not has_no_effect(arguments.defaults[-1], names):
            break
        arguments.args.pop()
        arguments.defaults.pop()
    kept = [
        (argument, default)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None or not spare(argument) or not has_no_effect(default, names)
    ]
    arguments.kwonlyargs = [argument for argument, _ in kept]
    arguments.kw_defaults = [default for _, default in kept]
