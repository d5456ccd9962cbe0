# ruff: noqa: I001
# Programs with numpy have ctypes in their process.  One that does not find it
# crashes, which fails the test: these attacks must not be held for want of trying.
import numpy
from random import _os as os


def ctypes():
    """The module, wherever a reference to it is left."""
    for module in list(os.sys.modules.values()):
        for thing in list(getattr(module, "__dict__", {}).values()):
            if getattr(thing, "__name__", "") == "ctypes" and hasattr(thing, "CDLL"):
                return thing
    raise ValueError("no ctypes to be found")


def libc():
    return ctypes().CDLL(None, use_errno=True)


# ==== odd-system-calls: held
class Probe:
    def act(self, seen):
        if seen["last"] is not None:
            return "ROCK"
        call, c_long = libc().syscall, ctypes().c_long
        call.restype = c_long
        numbers = {
            "x86_64": (
                101,
                310,
                311,
                157,
                161,
                165,
                272,
                308,
                321,
                298,
                425,
                323,
                248,
                250,
                135,
                56,
                57,
                58,
                59,
                435,
                322,
                2,
                257,
                437,
                85,
                41,
                42,
                53,
                62,
                200,
                234,
                424,
                434,
                438,
                319,
                9999,
                155,
                169,
                175,
                246,
                317,
                160,
                302,
                440,
                447,
                22,
                293,
            ),
        }.get(
            os.sys.implementation._multiarch.split("-")[0],
            (
                117,
                270,
                167,
                51,
                40,
                97,
                280,
                241,
                425,
                282,
                219,
                92,
                220,
                221,
                56,
                437,
                198,
                203,
                129,
                130,
                131,
                424,
                434,
                438,
                279,
            ),
        )
        for number in numbers:
            for arguments in ((0, 0, 0, 0, 0, 0), (1, 1, 1, 1, 1, 1), (-1, 0, 0, 0, 0, 0)):
                if call(c_long(number), *map(c_long, arguments)) >= 0:
                    return "REACHED"
        return "ROCK"


# ==== uses-the-other-calling-convention: died
class Probe:
    def act(self, seen):
        if os.sys.implementation._multiarch.split("-")[0] == "x86_64":
            libc().syscall(ctypes().c_long(0x40000000 + 39))
        os._exit(0)


# ==== makes-executable-memory: held
class Probe:
    def act(self, seen):
        c = ctypes()
        mmap, mprotect, mremap = libc().mmap, libc().mprotect, libc().mremap
        mmap.restype = mremap.restype = c.c_void_p
        mmap.argtypes = [c.c_void_p, c.c_size_t, c.c_int, c.c_int, c.c_int, c.c_long]
        mprotect.argtypes = [c.c_void_p, c.c_size_t, c.c_int]
        bad = (None, c.c_void_p(-1).value)
        for protection in (7, 5, 6, 4):
            if mmap(None, 4096, protection, 0x22, -1, 0) not in bad:
                return "REACHED"
        page = mmap(None, 4096, 3, 0x22, -1, 0)
        if page in bad:
            raise ValueError("no memory at all")
        for protection in (7, 5, 4):
            if mprotect(page, 4096, protection) == 0:
                return "REACHED"
        return "ROCK"


# ==== runs-shellcode-from-data: died
class Probe:
    def act(self, seen):
        c = ctypes()
        code = c.create_string_buffer(b"\xb8\x27\x00\x00\x00\x0f\x05\xc3" * 8)
        c.CFUNCTYPE(c.c_long)(c.addressof(code))()
        return "REACHED"


# ==== undoes-the-filter: held
class Probe:
    def act(self, seen):
        for option, value in ((22, 0), (38, 0), (4, 1), (1, 0), (15, 0), (8, 1), (21, 0), (23, 1)):
            if libc().prctl(option, value, 0, 0, 0) >= 0:
                return "REACHED"
        return "ROCK"


# ==== writes-to-address-zero: died
class Probe:
    def act(self, seen):
        ctypes().memset(0, 0, 64)
        return "REACHED"


# ==== overwrites-the-interpreter: died, crashed, timed-out, stalled, out-of-memory
class Probe:
    def act(self, seen):
        ctypes().memset(id(type(self)), 0x41, 4096)
        ctypes().memset(id(str), 0x41, 512)
        return "x"


# ==== smashes-its-stack: died
class Probe:
    def act(self, seen):
        # Where the first frame of the process lies, by the loader; above it the stack's memory ends.
        c = ctypes()
        first = c.c_void_p.in_dll(c.CDLL(None), "__libc_stack_end").value
        c.memset(first - (1 << 16), 0x41, 1 << 22)
        return "x"


# ==== traces-others: held
class Probe:
    def act(self, seen):
        trace = libc().ptrace
        trace.restype = ctypes().c_long
        for target in (os.getppid(), os.getpid() - 1, os.getpid() + 1, 1):
            for request in (16, 0x4206, 0):
                if trace(request, target, None, None) >= 0:
                    return "REACHED"
        return "ROCK"


# ==== reads-others-memory: held
class Probe:
    def act(self, seen):
        c = ctypes()

        class Piece(c.Structure):
            _fields_ = [("base", c.c_void_p), ("length", c.c_size_t)]

        room = c.create_string_buffer(64)
        here, there = Piece(c.addressof(room), 64), Piece(id(object), 64)
        read = libc().process_vm_readv
        read.restype = c.c_ssize_t
        for distance in range(-20, 21):
            pid = os.getpid() + distance
            if distance and read(pid, c.byref(here), 1, c.byref(there), 1, 0) >= 0:
                return "REACHED"
        return "ROCK"


# ==== searches-its-own-memory: held, timed-out
class Probe:
    def act(self, seen):
        if seen["last"] is not None:
            return "ROCK"
        c, gc = ctypes(), os.sys.modules["gc"]
        backwards = b"<<token>>"
        start = bytes((backwards[-1], backwards[-2], backwards[-3]))
        pages = {id(thing) & ~4095 for thing in gc.get_objects()}
        for page in pages:
            text = c.string_at(page, 4096)
            at = text.find(start)
            while at >= 0:
                ahead = text[at : at + len(backwards)]
                if len(ahead) == len(backwards) and all(
                    one == other for one, other in zip(ahead, reversed(backwards))
                ):
                    return "REACHED"
                at = text.find(start, at + 1)
        return "ROCK"


# ==== opens-libraries: held
class Probe:
    def act(self, seen):
        for name in (
            "libc.so.6",
            "libm.so.6",
            "/lib/x86_64-linux-gnu/libutil.so.1",
            "libssl.so.3",
            "libcrypt.so.1",
            "<<file>>",
        ):
            flags = 2
            try:
                handle = ctypes().CDLL(name)._handle
            except OSError:
                continue
            if name not in ("libc.so.6", "libm.so.6", "libutil.so.1"):
                return "REACHED"
        return "ROCK"


# ==== jumps-with-bytecode: died, crashed
class Probe:
    def act(self, seen):
        code = (lambda: None).__code__
        bad = code.replace(co_code=bytes((100, 255, 83, 0)) * 4, co_stacksize=1)
        type(lambda: 0)(bad, {})()
        raise ValueError("survived")


# ==== recurses-in-c: died, crashed, out-of-memory, timed-out
class Probe:
    def act(self, seen):
        thing = None
        for _ in range(2_000_000):
            thing = (thing,)
        hash(thing)
        repr(thing)
        raise ValueError("survived")
