# ruff: noqa: I001
# ==== answers-an-integer: malformed-action
class Probe:
    def act(self, seen):
        return 0


# ==== answers-nothing: malformed-action
class Probe:
    def act(self, seen):
        pass


# ==== answers-a-pickle: malformed-action
class Boom:
    def __reduce__(self):
        return (eval, ("__import__('os').system('touch <<folder>>/made')",))


class Probe:
    def act(self, seen):
        return Boom()


# ==== answers-something-enormous: illegal-action, out-of-memory
class Probe:
    def act(self, seen):
        return "ROCK" * (1 << 24)


# ==== answers-a-lying-string: malformed-action
class Liar(str):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return hash("ROCK")


class Probe:
    def act(self, seen):
        return Liar("anything")


# ==== answers-a-surrogate: illegal-action
class Probe:
    def act(self, seen):
        return "\udcff\ud800"


# ==== answers-a-coroutine: malformed-action
class Probe:
    async def act(self, seen):
        return "ROCK"


# ==== raises-something-odd: crashed
class Probe:
    def act(self, seen):
        raise GeneratorExit


# ==== raises-an-interrupt: crashed
class Probe:
    def act(self, seen):
        raise KeyboardInterrupt


# ==== raises-a-huge-text: crashed
class Probe:
    def act(self, seen):
        raise ValueError("\udcff" + "x" * 10_000_000)


# ==== raises-a-group: crashed
class Probe:
    def act(self, seen):
        error = ValueError(1)
        for _ in range(100):
            error = ExceptionGroup("deep", [error])
        raise error


# ==== raises-in-a-chain: crashed
class Probe:
    def act(self, seen):
        first, second = ValueError(1), ValueError(2)
        first.__cause__, second.__cause__ = second, first
        first.__context__ = first
        raise first


# ==== lies-about-its-class: crashed, load-failed, malformed-action
class Meta(type):
    def __instancecheck__(cls, thing):
        return True

    def __call__(cls):
        return 7


class Probe(metaclass=Meta):
    def act(self, seen):
        return "ROCK"


# ==== is-no-class: load-failed
Probe = lambda: None
