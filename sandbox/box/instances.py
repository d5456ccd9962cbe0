"""Runs a compiled program in a namespace of its own and constructs its policy."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Sequence
from typing import Any

from .world import World

FILE_NAME = "<policy>"
"""What tracebacks call the policy's file."""
_VARIADIC = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class PolicyDefect(Exception):
    """The source loads but is not a policy; the text says what is missing."""


def new_namespace(world: World) -> dict[str, Any]:
    """The globals of a policy's module, before its source runs."""
    module = types.ModuleType("policy")
    sys.modules["policy"] = module  # dataclasses and typing look a class's module up by name
    namespace = vars(module)
    namespace["__builtins__"] = world.builtins
    return namespace


def construct(
    code: types.CodeType, world: World, class_name: str, methods: Sequence[tuple[str, int]]
) -> Any:
    """Runs a compiled source in a new namespace and constructs its policy.

    Args:
      code: the compiled source.
      world: where its randomness and its time come from.
      class_name: the class that the source must define; constructed without arguments.
      methods: what it must have, with the number of arguments after self.

    Raises:
      PolicyDefect: the class or a method is missing, or takes other arguments.
      BaseException: whatever the source raises.
    """
    namespace = new_namespace(world)
    exec(code, namespace)
    policy_class = namespace.get(class_name)
    if not isinstance(policy_class, type):
        raise PolicyDefect(f"the source defines no class {class_name!r}")
    policy = policy_class()
    for name, count in methods:
        method = getattr(policy, name, None)
        if not callable(method):
            raise PolicyDefect(f"class {class_name!r} has no method {name!r}")
        if not _plainly_takes(method, count):
            _check_arguments(f"{class_name}.{name}", method, count)
    return policy


def _plainly_takes(method: Any, count: int) -> bool:
    """Whether it is an ordinary method with that many arguments, which costs nothing to see."""
    function = getattr(method, "__func__", None)
    if type(method) is not types.MethodType or type(function) is not types.FunctionType:
        return False
    code = function.__code__
    if code.co_flags & _VARIADIC or code.co_kwonlyargcount:
        return False
    most = code.co_argcount - 1
    return most - len(function.__defaults__ or ()) <= count <= most


def _check_arguments(name: str, method: Any, count: int) -> None:
    try:
        inspect.signature(method).bind(*(None,) * count)
    except TypeError as error:
        raise PolicyDefect(f"{name} must take {count} argument(s) after self: {error}") from None
    except ValueError:
        pass  # something callable without a signature; the first call will tell
