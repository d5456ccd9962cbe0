# ruff: noqa: I001
# Clocks and channels by native code: ctypes is in every process that has numpy.
import numpy
from random import _os as os


def ctypes():
    for module in list(os.sys.modules.values()):
        for thing in list(getattr(module, "__dict__", {}).values()):
            if getattr(thing, "__name__", "") == "ctypes" and hasattr(thing, "CDLL"):
                return thing
    raise ValueError("no ctypes to be found")


def libc():
    return ctypes().CDLL(None, use_errno=True)


def machine():
    return os.sys.implementation._multiarch.split("-")[0]


def work():
    return sum(range(5_000))


def moves_on(look):
    """Whether what a call returns depends on whether somebody computes meanwhile."""
    first, second = look(), look()
    for _ in range(4):
        work()
        if first == second != look():
            return True
    return False


# ==== makes-every-other-system-call: held
ALLOWED = {
    # The kernel lets 335 and 336 (uretprobe, uprobe) past every filter, and kills who makes them.
    "x86_64": {0, 1, 9, 11, 12, 25, 231, 335, 336},
    "aarch64": {63, 64, 94, 214, 215, 216, 222},
}


class Probe:
    def act(self, seen):
        if seen["last"] is not None:
            return "ROCK"
        c = ctypes()
        call = libc().syscall
        call.restype = c.c_long
        call.argtypes = [c.c_long] * 7
        for number in range(620):
            if number in ALLOWED[machine()]:
                continue
            c.set_errno(0)
            if call(number, 0, 0, 0, 0, 0, 0) != -1 or c.get_errno() != 1:
                return "REACHED"
        return "ROCK"


# ==== asks-the-c-library-for-the-time: held
class Probe:
    def act(self, seen):
        c, library = ctypes(), libc()
        room = c.create_string_buffer(4096)
        clocks = [*range(16), *((~pid << 3) | kind for pid in (0, 1, 2, 3, 7) for kind in (2, 6))]
        for clock in clocks:
            for name in ("clock_gettime", "clock_getres"):
                getattr(library, name)(clock, room)
                if moves_on(lambda: (getattr(library, name)(clock, room), room.raw)):
                    return "REACHED"
        for name in ("gettimeofday", "time", "times", "clock", "ftime", "timespec_get"):
            look = getattr(library, name, None)
            if look is None:
                continue
            if name == "timespec_get":
                arguments = (room, 1)
            else:
                arguments = () if name == "clock" else (room, None)
            if moves_on(lambda: (look(*arguments), room.raw)):
                return "REACHED"
        for who in (0, -1, 1):
            if moves_on(lambda: (library.getrusage(who, room), room.raw)):
                return "REACHED"
        return "ROCK"


# ==== asks-numpy-for-the-time: held
class Probe:
    def act(self, seen):
        for unit in ("ns", "us", "s"):
            if moves_on(lambda: str(numpy.datetime64("now", unit))):
                return "REACHED"
        return "ROCK"


# ==== jumps-into-the-vdso: held
class Probe:
    """Finds the kernel's own code for reading clocks, by the ELF header that it comes with."""

    def act(self, seen):
        c, library = ctypes(), libc()
        library.getauxval.restype = c.c_ulong
        base = library.getauxval(33)
        if not base:
            return "ROCK"
        image = c.string_at(base, 4096)
        offset = int.from_bytes(image[32:40], "little")
        headers = int.from_bytes(image[56:58], "little")
        dynamic = 0
        for number in range(headers):
            at = offset + 56 * number
            if image[at : at + 4] == (2).to_bytes(4, "little"):
                dynamic = int.from_bytes(image[at + 16 : at + 24], "little") & 0xFFFF
        tags = {}
        for number in range(40):
            entry = c.string_at(base + dynamic + 16 * number, 16)
            tag, value = int.from_bytes(entry[:8], "little"), int.from_bytes(entry[8:], "little")
            if not tag:
                break
            tags[tag] = value & 0xFFFF
        symbols, strings = base + tags[6], base + tags[5]
        room = c.create_string_buffer(64)
        found = 0
        for at in range(symbols + 24, strings, 24):
            entry = c.string_at(at, 24)
            if entry[4] & 15 != 2:  # no function
                continue
            name = c.string_at(strings + int.from_bytes(entry[:4], "little"))
            value = int.from_bytes(entry[8:16], "little") & 0xFFFF
            if b"time" not in name:
                continue
            found += 1
            call = c.CFUNCTYPE(c.c_long, c.c_void_p, c.c_void_p)(base + value)
            address = c.addressof(room)
            if b"clock" in name:
                for clock in range(12):
                    if moves_on(lambda: (call(clock, address), room.raw)):
                        return "REACHED"
            elif moves_on(lambda: (call(address, None), room.raw)):
                return "REACHED"
        if not found:
            raise ValueError("there is no vDSO to be found")
        return "ROCK"


# ==== calls-the-old-clock-page: held, died, timed-out
class Probe:
    def act(self, seen):
        if machine() != "x86_64":
            return "ROCK"
        c = ctypes()
        room = c.create_string_buffer(64)
        for address in (0xFFFFFFFFFF600000, 0xFFFFFFFFFF600400):
            look = c.CFUNCTYPE(c.c_long, c.c_void_p, c.c_void_p)(address)
            if moves_on(lambda: (look(c.addressof(room), None), room.raw)):
                return "REACHED"
        return "ROCK"


# ==== shares-memory: held
class Probe:
    def act(self, seen):
        c, library = ctypes(), libc()
        library.mmap.restype = library.mremap.restype = c.c_void_p
        library.mmap.argtypes = [c.c_void_p, c.c_size_t, c.c_int, c.c_int, c.c_int, c.c_long]
        library.mremap.argtypes = [c.c_void_p, c.c_size_t, c.c_size_t, c.c_int, c.c_void_p]
        failed = c.c_void_p(-1).value
        for flags in (0x01, 0x21, 0x31, 0x02, 0x03, 0x32, 0x122, 0x2022, 0x8022, 0x40022, 0x100022):
            for descriptor in (-1, 0, 3, 4):
                if library.mmap(None, 4096, 3, flags, descriptor, 0) != failed:
                    return "REACHED"
        page = library.mmap(None, 8192, 3, 0x22, -1, 0)
        if page == failed:
            raise ValueError("no memory at all")
        for flags in (0, 2, 3, 4, 5, 7):
            if library.mremap(page, 4096, 8192, flags, page) != failed:
                return "REACHED"
        for advice in range(26):
            if library.madvise(c.c_void_p(page), 4096, advice) == 0:
                return "REACHED"
        return "ROCK"


# ==== meets-at-a-futex: held
class Probe:
    """On a page of a library, which all processes have from the same file."""

    def act(self, seen):
        c = ctypes()
        call = libc().syscall
        call.restype = c.c_long
        number = 202 if machine() == "x86_64" else 98
        word = c.cast(libc().getenv, c.c_void_p)
        for operation in (0, 1, 128, 129, 9, 137, 3, 6):
            if call(number, word, operation, 0, None, None, 0) >= 0:
                return "REACHED"
        return "ROCK"


# ==== learns-its-numbers: held
class Probe:
    def act(self, seen):
        library = libc()
        for name in ("getpid", "getppid", "gettid", "getuid", "geteuid", "getgid", "getsid"):
            if getattr(library, name)(0) != -1:
                return "REACHED"
        return "ROCK"
