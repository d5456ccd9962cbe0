# ruff: noqa: I001
from random import _os as os


def all_objects():
    gc = os.sys.modules["gc"]
    gc.unfreeze()
    return gc.get_objects()


# ==== reads-the-environment: held
from random import _os as os


class Probe:
    def act(self, seen):
        text = repr(dict(os.environ)) + repr(os.sys.argv) + repr(os.sys.flags)
        return "REACHED" if "".join(reversed("<<secret>>")) in text else "ROCK"


# ==== walks-frames: held
from random import _os as os


class Probe:
    def act(self, seen):
        frame, texts = os.sys._getframe(0), []
        while frame is not None:
            texts.append(
                repr(frame.f_locals)
                + repr({k: v for k, v in frame.f_globals.items() if not k.startswith("__")})
            )
            frame = frame.f_back
        text = "".join(texts)
        wanted = ("".join(reversed("<<token>>")), "".join(reversed("<<secret>>")))
        found = wanted[0] in text or wanted[1] in text
        return "REACHED" if found else "ROCK"


# ==== searches-all-objects: held, timed-out
from random import _os as os


class Probe:
    def act(self, seen):
        wanted = "".join(reversed("<<token>>"))
        for thing in all_objects():
            if type(thing) in (dict, list, tuple):
                for value in thing.values() if type(thing) is dict else thing:
                    if type(value) is str and wanted in value and value != wanted:
                        return "REACHED"
                    if type(value) is bytes and wanted.encode() in value:
                        return "REACHED"
        return "ROCK"


# ==== patches-random: held
import random


class Probe:
    def act(self, seen):
        for name in list(vars(random)):
            if not name.startswith("_"):
                setattr(random, name, lambda *_: 0)
        real = random._os.sys.modules["random"]
        real.random = real.choice = real.seed = lambda *_: 0
        real.Random.random = lambda self: 0.0
        return "ROCK"


# ==== patches-builtins: held, crashed, malformed-action, illegal-action, died
from random import _os as os


class Probe:
    def act(self, seen):
        builtins = os.sys.modules["builtins"]
        builtins.type = lambda thing: str
        builtins.isinstance = lambda *_: True
        builtins.str = bytes
        builtins.len = lambda _: 0
        return "ROCK"


# ==== patches-the-seat: held, illegal-action
from random import _os as os


class Probe:
    def act(self, seen):
        for thing in all_objects():
            if isinstance(thing, type) and thing.__name__ in ("Seat", "Table"):
                for name in ("advance", "fault", "moves", "done", "reply"):
                    try:
                        setattr(thing, name, lambda *_: 3)
                    except (AttributeError, TypeError):
                        pass
        return "ROCK"


# ==== patches-the-workers-loop: held, died, broke-protocol
from random import _os as os


class Probe:
    def act(self, seen):
        real = os.write
        os.write = lambda fd, data: real(fd, data[:1] + b"\3" * 64)
        os.read = lambda fd, size: b""
        for module in list(os.sys.modules.values()):
            if "worker" in getattr(module, "__name__", ""):
                module.serve = module._answers = None
        return "ROCK"


# ==== traces-the-interpreter: held
from random import _os as os


class Probe:
    def act(self, seen):
        os.sys.settrace(lambda *_: None)
        os.sys.setprofile(lambda *_: None)
        os.sys.addaudithook(lambda *_: None)
        return "ROCK"


# ==== empties-the-modules: held, crashed, died
from random import _os as os


class Probe:
    def act(self, seen):
        os.sys.modules.clear()
        os.sys.meta_path.clear()
        return "ROCK"


# ==== switches-collection-off: held
from random import _os as os


class Probe:
    def act(self, seen):
        gc = os.sys.modules["gc"]
        gc.disable()
        gc.callbacks.append(lambda *_: 1 / 0)
        return "ROCK"


# ==== takes-back-the-real-import: held
class Probe:
    def act(self, seen):
        for cls in object.__subclasses__():
            loader = getattr(cls, "load_module", None)
            if loader is not None:
                for name in ("posix", "_socket", "_posixsubprocess", "_ctypes", "mmap"):
                    try:
                        module = cls.load_module(name)
                        if name == "posix":
                            module.open("<<file>>", 0)
                            return "REACHED"
                    except (ImportError, OSError, TypeError, AttributeError):
                        pass
        return "ROCK"


# ==== evaluates-strings: held
class Probe:
    def act(self, seen):
        for text in (
            "__import__('os').system('touch <<folder>>/made')",
            "open('<<file>>').read()",
            "().__class__.__mro__[1].__subclasses__()[0].nothing",
        ):
            try:
                eval(text)
                return "REACHED"
            except (ImportError, OSError, AttributeError):
                pass
        return "ROCK"


# ==== unpickles: held
from random import _os as os


class Probe:
    def act(self, seen):
        payload = b"cposix\nsystem\n(S'touch <<folder>>/made'\ntR."
        for name in ("_pickle", "pickle"):
            pickle = os.sys.modules.get(name)
            if pickle is not None:
                try:
                    if pickle.loads(payload) == 0:
                        return "REACHED"
                except Exception:
                    pass
        return "ROCK"


# ==== changes-what-it-sees: held
class Probe:
    def act(self, seen):
        if isinstance(seen, dict):
            seen.clear()
        return "ROCK"


# ==== loads-other-policies: held
from random import _os as os


class Probe:
    def act(self, seen):
        wanted = "".join(reversed("<<token>>"))
        linecache = os.sys.modules["linecache"]
        for _, _, lines, _ in (entry for entry in linecache.cache.values() if len(entry) == 4):
            if any(wanted in line for line in lines):
                return "REACHED"
        return "ROCK"


# ==== prints-a-lot: held
class Probe:
    def act(self, seen):
        print("x" * 100_000)
        print("\0" * 1000, flush=True)
        return "ROCK"


# ==== writes-to-the-standard-streams: held
from random import _os as os


class Probe:
    def act(self, seen):
        for number in (0, 1, 2):
            try:
                os.write(number, b"\x05\0\0\0\x12[]   ")
            except OSError:
                pass
        try:
            os.sys.__stdout__.buffer.write(b"\x05\0\0\0\x12[]   ")
            os.sys.__stdout__.flush()
        except (OSError, ValueError, AttributeError):
            pass
        return "ROCK"
