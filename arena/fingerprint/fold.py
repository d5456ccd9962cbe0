"""Takes out of a program what certainly does nothing, and computes what is constant.

Every step keeps what the program does, whatever the rest of it is.  Names must be resolved before
(`scopes.resolve`): a statement that is never reached still makes a name local, or a function a
generator.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from arena.fingerprint.inert import has_no_effect
from arena.fingerprint.scopes import Names

_NO_TREES = frozenset({"ctx", "op", "ops"})
"""Fields that hold no more than a word."""
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_IDLE_AT_THE_END: dict[type, type] = {
    ast.FunctionDef: ast.Return,
    ast.AsyncFunctionDef: ast.Return,
    ast.For: ast.Continue,
    ast.AsyncFor: ast.Continue,
    ast.While: ast.Continue,
}
"""What says at the end of a block that happens there anyway."""
_BITS = 128
"""Longer integers are left as they are written: computing them may take for ever."""
_CHARS = 65_536

_UNARY: dict[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_INTEGERS_ONLY = (ast.Pow, ast.LShift)
"""Powers of other numbers differ in their last digit from one C library to the next."""


def fold(tree: ast.Module, names: Names) -> dict[ast.AST, str]:
    """Simplifies a tree in place.  Recurses as deeply as the tree is.

    Returns:
      The docstrings that were taken out, by module, class and function.
    """
    folder = _Folder(names)
    folder.children(tree)
    return folder.docstrings


class _Folder:
    def __init__(self, names: Names) -> None:
        self._names = names
        self.docstrings: dict[ast.AST, str] = {}

    def children(self, node: ast.AST) -> None:
        """Simplifies everything below a node."""
        for name in node._fields:
            if name in _NO_TREES:
                continue
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                setattr(node, name, self._simple(value))
            elif isinstance(value, list) and value:
                if isinstance(value[0], ast.stmt):
                    if name == "body":
                        self._document(node, value[0])
                    idle = _IDLE_AT_THE_END.get(type(node)) if name == "body" else None
                    setattr(node, name, self._block(value, idle))
                else:
                    value[:] = [self._simple(i) if isinstance(i, ast.AST) else i for i in value]

    def _simple(self, node: ast.AST) -> ast.AST:
        self.children(node)
        simplify = _EXPRESSIONS.get(type(node))
        return node if simplify is None else simplify(node)

    def _document(self, node: ast.AST, first: ast.stmt) -> None:
        if isinstance(node, _DOCUMENTED) and isinstance(first, ast.Expr):
            text = _value(first.value)
            if isinstance(text, str):
                self.docstrings[node] = text

    def _block(self, statements: Sequence[ast.stmt], idle: type | None) -> list[ast.stmt]:
        """The statements of one block that do something, in the order in which they do it.

        Args:
          statements: of the block.
          idle: a kind of statement that does nothing as the last one of this block.
        """
        kept: list[ast.stmt] = []
        waiting = list(reversed(statements))
        while waiting:
            statement = waiting.pop()
            keep, then = self._step(statement)
            waiting.extend(reversed(then))
            if keep:
                kept.append(statement)
                if isinstance(statement, _LEAVES):
                    break  # what follows is never reached
        while idle is not None and kept and isinstance(kept[-1], idle):
            if isinstance(kept[-1], ast.Return) and kept[-1].value is not None:
                break
            kept.pop()
        return kept

    def _step(self, statement: ast.stmt) -> tuple[bool, Sequence[ast.stmt]]:
        """Simplifies a statement; says whether it does anything, and what comes next instead."""
        if isinstance(statement, ast.If):
            return self._condition(statement)
        self.children(statement)
        if isinstance(statement, ast.While) and isinstance(statement.test, ast.Constant):
            if not statement.test.value:
                return False, statement.orelse
            statement.test = ast.Constant(True)
        elif isinstance(statement, ast.Try) and not (statement.handlers or statement.finalbody):
            return False, statement.body  # "finally: pass" was all
        elif isinstance(statement, ast.Return) and _is_none(statement.value):
            statement.value = None
        return not self._does_nothing(statement), ()

    def _condition(self, statement: ast.If) -> tuple[bool, Sequence[ast.stmt]]:
        test = self._simple(statement.test)
        if isinstance(test, ast.Constant):
            return False, statement.body if test.value else statement.orelse
        assert isinstance(test, ast.expr)
        statement.test = test
        statement.body = self._block(statement.body, None)
        if statement.body and isinstance(statement.body[-1], _LEAVES):
            then, statement.orelse = statement.orelse, []
            return True, then  # whether it says "else" or not
        statement.orelse = self._block(statement.orelse, None)
        return True, ()

    def _does_nothing(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.Pass | ast.Global | ast.Nonlocal):
            return True  # what these declare, the resolved names tell
        if isinstance(statement, ast.Expr):
            return has_no_effect(statement.value, self._names)
        if isinstance(statement, ast.Assert):
            return isinstance(statement.test, ast.Constant) and bool(statement.test.value)
        return (
            isinstance(statement, ast.AnnAssign)
            and statement in self._names.in_function
            and statement.value is None
            and isinstance(statement.target, ast.Name)
        )


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _value(node: ast.expr) -> Any:
    """The value of a constant; the class `ast.Constant` itself where it is none."""
    return node.value if isinstance(node, ast.Constant) else ast.Constant


def _unary(node: ast.UnaryOp) -> ast.expr:
    value = _value(node.operand)
    if isinstance(node.op, ast.Not):
        known = value is not ast.Constant
    else:
        known = type(value) is int or (
            type(value) in (float, complex) and not isinstance(node.op, ast.Invert)
        )
    return ast.Constant(_UNARY[type(node.op)](value)) if known else node


def _binary(node: ast.BinOp) -> ast.expr:
    left, right = _value(node.left), _value(node.right)
    if type(left) is type(right) and isinstance(left, str | bytes):
        joins = isinstance(node.op, ast.Add) and len(left) + len(right) <= _CHARS
        return ast.Constant(left + right) if joins else node
    if not (_is_small_number(left) and _is_small_number(right)):
        return node
    if isinstance(node.op, _INTEGERS_ONLY):
        if type(left) is not int or type(right) is not int or not 0 <= right <= _BITS:
            return node
        bits = left.bit_length() * (right if isinstance(node.op, ast.Pow) else 1)
        if bits + right > 2 * _BITS:
            return node
    try:
        value = _BINARY[type(node.op)](left, right)
    except (ArithmeticError, ValueError, TypeError, KeyError):
        return node
    return ast.Constant(value) if _is_small_number(value) and value == value else node


def _is_small_number(value: object) -> bool:
    if isinstance(value, int):  # bool as well
        return value.bit_length() <= 2 * _BITS
    return isinstance(value, float | complex)


def _choice(node: ast.IfExp) -> ast.expr:
    test = _value(node.test)
    if test is ast.Constant:
        return node
    return node.body if test else node.orelse


def _joined(node: ast.JoinedStr) -> ast.expr:
    """A formatted string: literal parts next to each other are one, and may be all there is."""
    parts: list[ast.expr] = []
    for part in node.values:
        text = _literal(part)
        if text is None:
            parts.append(part)
            continue
        before = _literal(parts[-1]) if parts else None
        if before is not None:
            parts[-1] = ast.Constant(before + text)
        elif text:
            parts.append(ast.Constant(text))
    if all(isinstance(part, ast.Constant) for part in parts):
        return parts[0] if parts else ast.Constant("")
    node.values = parts
    return node


def _literal(part: ast.expr) -> str | None:
    """The text of a part that is always the same."""
    if isinstance(part, ast.FormattedValue) and part.conversion == -1 and part.format_spec is None:
        part = part.value
    text = _value(part)
    return text if isinstance(text, str) else None


_EXPRESSIONS: dict[type, Callable[[Any], ast.AST]] = {
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.IfExp: _choice,
    ast.JoinedStr: _joined,
}
