"""What an instance has of its own where all instances share the rest: randomness and time.

Several instances of one program may share a worker.  Each must play exactly as it would alone,
so nothing that an honest policy changes by accident may be shared: `random`, numpy's legacy
generator and the clocks of `time` and `datetime` are cloned for each instance.  Sources of
entropy are derived from the seed too, so that `random.seed()` and `default_rng()` without
arguments can be repeated.
"""

from __future__ import annotations

import builtins
import datetime
import random
import sys
import time
import types
from collections.abc import Callable, Sequence
from typing import Any

from .allowed import ALLOWED_MODULES
from .virtual_time import VirtualClock, datetime_classes, time_functions

OWN_MODULES = ("random", "time", "datetime", "numpy", "numpy.random")
"""The modules of which every instance gets a clone."""

_ENTROPY = 0x9E3779B97F4A7C15
"""Keeps the stream of entropy apart from the stream of `random`."""
_SEEDED_BY_NUMPY = ("SeedSequence", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


def words(seed: int) -> list[int]:
    """A seed of up to 64 bits as numpy's legacy generator takes it: two words of 32 bits."""
    return [seed & 0xFFFFFFFF, seed >> 32]


class Entropy:
    """Stands for the system's randomness: 64 bits a call, which follow from the seed."""

    def __init__(self) -> None:
        self._seed = 0
        self._stream: random.Random | None = None

    def reseed(self, seed: int) -> None:
        """Starts again, with this seed."""
        self._seed, self._stream = seed, None

    def __call__(self) -> int:
        if self._stream is None:
            self._stream = random.Random(self._seed ^ _ENTROPY)
        return self._stream.getrandbits(64)


class Clone:
    """One instance's own version of a module.

    Args:
      original: the module.
      own: what differs, by name.
      reseed: puts everything in `own` back to its beginning, with a seed.
    """

    def __init__(
        self, original: types.ModuleType, own: dict[str, Any], reseed: Callable[[int], None]
    ) -> None:
        self.reseed = reseed
        self._original = original
        self._own = own
        self._replaced = {name: vars(original)[name] for name in own}
        self.module = types.ModuleType(original.__name__, original.__doc__)
        vars(self.module).update(vars(original))
        vars(self.module).update(own)

    def take_over(self) -> None:
        """Makes the module itself, which other modules use, the same as its clone."""
        vars(self._original).update(self._own)

    def give_back(self) -> None:
        """Undoes `take_over`."""
        vars(self._original).update(self._replaced)


def _bound_to(module: types.ModuleType, generator: Any, stream: Any) -> dict[str, Any]:
    """The functions of a module that are methods of a generator, as methods of a stream."""
    return {
        name: getattr(stream, name)
        for name, value in vars(module).items()
        if getattr(value, "__self__", None) is generator
    }


def clone_random() -> Clone:
    """`random` with a stream of its own."""
    entropy = Entropy()

    class Random(random.Random):
        def seed(self, a: Any = None, version: int = 2) -> None:
            super().seed(entropy() if a is None else a, version)

    stream = Random(0)

    def reseed(seed: int) -> None:
        entropy.reseed(seed)
        stream.seed(seed)

    own = _bound_to(random, random._inst, stream)
    own.update(Random=Random, SystemRandom=Random, _inst=stream)
    return Clone(random, own, reseed)


def clone_time(clock: VirtualClock) -> Clone:
    """`time` with this clock."""
    return Clone(time, time_functions(clock), lambda seed: clock.restart())


def clone_datetime(clock: VirtualClock) -> Clone:
    """`datetime` with this clock."""
    return Clone(datetime, datetime_classes(clock), lambda seed: clock.restart())


def clone_numpy_random() -> Clone:
    """`numpy.random` with a legacy generator and a source of entropy of its own."""
    original = sys.modules["numpy.random"]
    entropy = Entropy()
    stream = original.RandomState(0)

    class RandomState(original.RandomState):  # type: ignore[name-defined, misc]
        def __init__(self, seed: Any = None) -> None:
            super().__init__(words(entropy()) if seed is None else seed)

    def seeded(make: Callable[..., Any]) -> Callable[..., Any]:
        def from_seed(seed: Any = None, *args: Any, **kwargs: Any) -> Any:
            return make(entropy() if seed is None else seed, *args, **kwargs)

        return from_seed

    def seed(seed: Any = None) -> None:
        stream.seed(words(entropy()) if seed is None else seed)

    def reseed(seed: int) -> None:
        entropy.reseed(seed)
        stream.seed(words(seed))

    own = _bound_to(original, original.mtrand._rand, stream)
    own.update({name: seeded(getattr(original, name)) for name in _SEEDED_BY_NUMPY})
    own.update(
        RandomState=RandomState,
        default_rng=seeded(original.default_rng),
        seed=seed,
        # These two are plain functions of the module, not methods of the shared generator.
        ranf=stream.random_sample,
        sample=stream.random_sample,
    )
    return Clone(original, own, reseed)


def clone_numpy(numpy_random: Clone) -> Clone:
    """`numpy` with that clone of `numpy.random`."""
    return Clone(sys.modules["numpy"], {"random": numpy_random.module}, lambda seed: None)


def load_what_numpy_loads_late() -> None:
    """Lets numpy reuse the memory of a large array that nobody needs any more.

    Before it does that for the first time, it asks the C library who called it, which loads a file
    (libgcc_s) for that.  Behind the seal no file is opened, and the policy would die of it.
    """
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        large = numpy.ones(1 << 16)  # from 256 KiB on it does so
        _ = (large + large) * large


def still_numpys_entropy() -> None:
    """Has numpy draw no entropy from the system, as it does even where it is given a seed.

    Behind the seal there is none.  What policies get instead follows from their seed.
    """
    generators = sys.modules["numpy.random.bit_generator"]
    generators.randbits = lambda count: _ENTROPY & ((1 << count) - 1)  # type: ignore[attr-defined]


class World:
    """All clones of one instance, made when they are first wanted, and its built-ins."""

    def __init__(self) -> None:
        self._clock = VirtualClock()
        self._clones: dict[str, Clone] = {}
        self._seed = 0
        self.builtins = {**vars(builtins), "__import__": self._importer()}

    def prepare(self) -> None:
        """Makes every clone now, so that the workers that are forked later need not.

        The modules themselves become the same as the clones, for modules that use them.
        """
        for name in OWN_MODULES:
            if name in sys.modules:
                self._clone(name)
        for clone in self._clones.values():
            clone.take_over()

    def share(self) -> None:
        """There are to be other worlds: undoes what `prepare` did to the modules themselves.

        What the modules' own generators say, to other modules that ask them, is then nobody's.
        """
        for clone in self._clones.values():
            clone.give_back()
        random._inst.seed(0)
        if "numpy.random" in self._clones:
            sys.modules["numpy.random"].mtrand._rand.seed(0)

    def begin(self, seed: int) -> None:
        """Puts the clones to where an instance with that seed (63 bits) finds them."""
        self._seed = seed
        for clone in self._clones.values():
            clone.reseed(seed)

    def _importer(self) -> Callable[..., types.ModuleType]:
        """The `__import__` of one instance."""
        real_import = builtins.__import__

        def policy_import(
            name: str,
            globals: Any = None,
            locals: Any = None,
            fromlist: Sequence[str] | None = (),
            level: int = 0,
        ) -> types.ModuleType:
            if level:
                raise ImportError("relative imports do not work: a policy is one file")
            if type(fromlist) is list:  # the interpreter's own C code, such as time.strptime
                return real_import(name, globals, locals, fromlist, 0)
            if name.partition(".")[0] not in ALLOWED_MODULES:
                raise ImportError(
                    f"import of {name!r} is not allowed: a policy may use numpy and those parts "
                    "of the standard library that only compute"
                )
            module = real_import(name, globals, locals, fromlist, 0)
            own = module.__name__ in OWN_MODULES
            return self._clone(module.__name__).module if own else module

        return policy_import

    def _clone(self, name: str) -> Clone:
        if name not in self._clones:
            clone = self._make(name)
            clone.reseed(self._seed)
            self._clones[name] = clone
        return self._clones[name]

    def _make(self, name: str) -> Clone:
        if name == "random":
            return clone_random()
        if name == "time":
            return clone_time(self._clock)
        if name == "datetime":
            return clone_datetime(self._clock)
        if name == "numpy.random":
            return clone_numpy_random()
        return clone_numpy(self._clone("numpy.random"))
