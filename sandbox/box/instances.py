"""Gives each policy instance a world of its own: namespace, imports and random streams.

Several instances of one program may share a worker.  Each must play exactly as it would alone,
so nothing that an honest policy changes by accident may be shared: its module's globals,
`random`, and numpy's legacy generator are cloned and seeded for each instance.  Sources of
entropy are derived from the seed too, so that `random.seed()` and `default_rng()` without
arguments can be repeated.
"""

from __future__ import annotations

import builtins
import inspect
import random
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from .allowed import ALLOWED_MODULES

FILE_NAME = "<policy>"
"""What tracebacks call the policy's file."""

_ENTROPY = 0x9E3779B97F4A7C15
"""Keeps the stream of entropy apart from the stream of `random`."""

_SEEDED_BY_NUMPY = ("SeedSequence", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


class PolicyDefect(Exception):
    """The source loads but is not a policy; the text says what is missing."""


def _entropy(seed: int) -> Callable[[], int]:
    stream = random.Random(seed ^ _ENTROPY)
    return lambda: stream.getrandbits(64)


def random_module(seed: int) -> types.ModuleType:
    """A clone of the module `random` with a stream of its own."""
    entropy = _entropy(seed)

    class Random(random.Random):
        def seed(self, a: Any = None, version: int = 2) -> None:
            super().seed(entropy() if a is None else a, version)

    stream = Random(seed)
    clone = types.ModuleType("random", random.__doc__)
    names = vars(clone)
    names.update(vars(random))
    for name, value in vars(random).items():
        if getattr(value, "__self__", None) is random._inst:
            names[name] = getattr(stream, name)
    names.update(Random=Random, SystemRandom=Random, _inst=stream)
    return clone


def numpy_modules(seed: int) -> dict[str, types.ModuleType]:
    """Clones of `numpy` and `numpy.random` with a legacy generator of their own."""
    numpy = sys.modules["numpy"]
    original = sys.modules["numpy.random"]
    shared = original.mtrand._rand
    entropy = _entropy(seed)
    stream = original.RandomState(seed & 0xFFFFFFFF)

    class RandomState(original.RandomState):  # type: ignore[name-defined, misc]
        def __init__(self, seed: Any = None) -> None:
            super().__init__(entropy() & 0xFFFFFFFF if seed is None else seed)

    def seeded(make: Callable[..., Any]) -> Callable[..., Any]:
        def from_seed(seed: Any = None, *args: Any, **kwargs: Any) -> Any:
            return make(entropy() if seed is None else seed, *args, **kwargs)

        return from_seed

    def reseed(seed: Any = None) -> None:
        stream.seed(entropy() & 0xFFFFFFFF if seed is None else seed)

    clone = types.ModuleType("numpy.random", original.__doc__)
    names = vars(clone)
    names.update(vars(original))
    for name, value in vars(original).items():
        if getattr(value, "__self__", None) is shared:
            names[name] = getattr(stream, name)
    for name in _SEEDED_BY_NUMPY:
        names[name] = seeded(getattr(original, name))
    names.update(
        RandomState=RandomState,
        default_rng=seeded(original.default_rng),
        seed=reseed,
        # These two are plain functions of the module, not methods of the shared generator.
        ranf=stream.random_sample,
        sample=stream.random_sample,
    )
    top = types.ModuleType("numpy", numpy.__doc__)
    vars(top).update(vars(numpy))
    top.random = clone  # type: ignore[attr-defined]
    return {"numpy": top, "numpy.random": clone}


def importer(seed: int) -> Callable[..., types.ModuleType]:
    """The `__import__` of one instance."""
    real_import = builtins.__import__
    clones: dict[str, types.ModuleType] = {"random": random_module(seed)}

    def policy_import(
        name: str,
        globals: Any = None,
        locals: Any = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> types.ModuleType:
        if level:
            raise ImportError("relative imports do not work: a policy is one file")
        root = name.partition(".")[0]
        if type(fromlist) is list:  # the interpreter's own C code, such as time.strptime
            return real_import(name, globals, locals, fromlist, 0)
        if root not in ALLOWED_MODULES:
            raise ImportError(
                f"import of {name!r} is not allowed: a policy may use numpy and those parts "
                "of the standard library that only compute"
            )
        if root == "numpy" and "numpy" not in clones and "numpy" in sys.modules:
            clones.update(numpy_modules(seed))
        module = real_import(name, globals, locals, fromlist, 0)
        return clones.get(module.__name__, module)

    return policy_import


def new_namespace(seed: int) -> dict[str, Any]:
    """The globals of a policy's module, before its source runs."""
    module = types.ModuleType("policy")
    sys.modules["policy"] = module  # dataclasses and typing look a class's module up by name
    namespace = vars(module)
    namespace["__builtins__"] = {**vars(builtins), "__import__": importer(seed)}
    return namespace


def construct(
    code: types.CodeType, seed: int, class_name: str, methods: Sequence[tuple[str, int]]
) -> Any:
    """Runs a compiled source in a new namespace and constructs its policy.

    Args:
      code: the compiled source.
      seed: of everything random, 63 bits.
      class_name: the class that the source must define; constructed without arguments.
      methods: what it must have, with the number of arguments after self.

    Raises:
      PolicyDefect: the class or a method is missing, or takes other arguments.
      BaseException: whatever the source raises.
    """
    namespace = new_namespace(seed)
    exec(code, namespace)
    policy_class = namespace.get(class_name)
    if not isinstance(policy_class, type):
        raise PolicyDefect(f"the source defines no class {class_name!r}")
    policy = policy_class()
    for name, count in methods:
        method = getattr(policy, name, None)
        if not callable(method):
            raise PolicyDefect(f"class {class_name!r} has no method {name!r}")
        try:
            inspect.signature(method).bind(*(None,) * count)
        except TypeError as error:
            raise PolicyDefect(
                f"{class_name}.{name} must take {count} argument(s) after self: {error}"
            ) from None
        except ValueError:
            pass  # something callable without a signature; the first call will tell
    return policy
