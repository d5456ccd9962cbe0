# ruff: noqa: I001
# ==== opens-a-file: held
class Probe:
    def act(self, seen):
        try:
            return "REACHED" if open("<<file>>").read() else "ROCK"
        except OSError:
            return "ROCK"


# ==== opens-a-file-with-os: held
from random import _os as os


class Probe:
    def act(self, seen):
        for path in ("<<file>>", "/etc/passwd", "/", "/dev/null", "/usr/bin/env"):
            try:
                os.open(path, os.O_RDONLY)
                return "REACHED"
            except OSError:
                pass
        return "ROCK"


# ==== opens-a-file-by-loader: held
import random


class Probe:
    def act(self, seen):
        for path in ("<<file>>", random.__file__, "/etc/hostname"):
            try:
                random.__spec__.loader.get_data(path)
                return "REACHED"
            except OSError:
                pass
        return "ROCK"


# ==== opens-a-file-with-raw-io: held
from random import _os as os


class Probe:
    def act(self, seen):
        io = os.sys.modules["io"]
        for opener in (io.FileIO, io.open_code, io.open):
            try:
                opener("<<file>>")
                return "REACHED"
            except OSError:
                pass
        return "ROCK"


# ==== reads-process-files: held
from random import _os as os


class Probe:
    def act(self, seen):
        names = ("environ", "maps", "mem", "cmdline", "fd", "status", "root/etc/passwd", "cwd")
        for process in ("self", "1", str(os.getppid()), str(os.getpid()), "thread-self"):
            for name in names:
                try:
                    os.open(f"/proc/{process}/{name}", os.O_RDONLY)
                    return "REACHED"
                except OSError:
                    pass
        return "ROCK"


# ==== lists-folders: held
from random import _os as os


class Probe:
    def act(self, seen):
        for look in (os.listdir, os.stat, os.lstat, os.scandir, os.statvfs, os.readlink):
            for path in ("/", ".", "..", "/proc", "/tmp", "<<folder>>"):
                try:
                    look(path)
                    return "REACHED"
                except (OSError, AttributeError):
                    pass
        return "ROCK"


# ==== creates-files: held
from random import _os as os


class Probe:
    def act(self, seen):
        tries = (
            lambda: open("<<folder>>/made", "w"),
            lambda: open("made", "w"),
            lambda: os.mkdir("<<folder>>/made"),
            lambda: os.symlink("/etc", "<<folder>>/made"),
            lambda: os.link("<<file>>", "<<folder>>/made"),
            lambda: os.mkfifo("<<folder>>/made"),
            lambda: os.rename("<<file>>", "<<folder>>/made"),
            lambda: os.unlink("<<file>>"),
            lambda: os.truncate("<<file>>", 0),
            lambda: os.chmod("<<file>>", 0),
            lambda: os.utime("<<file>>"),
            lambda: os.memfd_create("made"),
        )
        for attempt in tries:
            try:
                attempt()
                return "REACHED"
            except (OSError, AttributeError):
                pass
        return "ROCK"


# ==== fills-the-disk: held
from random import _os as os


class Probe:
    def act(self, seen):
        for number in range(64):
            try:
                with open(f"<<folder>>/fill{number}", "wb") as file:
                    file.write(bytes(1 << 20))
                return "REACHED"
            except OSError:
                pass
        return "ROCK"


# ==== breaks-out-of-its-root: held
from random import _os as os


class Probe:
    def act(self, seen):
        for attempt in (
            lambda: os.chroot("."),
            lambda: os.chdir(".."),
            lambda: os.fchdir(3),
            lambda: os.chroot("../../../../.."),
            lambda: os.chdir("/proc/1/root"),
        ):
            try:
                attempt()
                return "REACHED"
            except OSError:
                pass
        return "ROCK"


# ==== uses-every-descriptor: held
from random import _os as os


class Probe:
    def act(self, seen):
        for number in list(range(3)) + list(range(5, 100)):
            for attempt in (
                lambda: os.pread(number, 10, 0),
                lambda: os.dup(number),
                lambda: os.sendfile(number, 0, 0, 10),
            ):
                try:
                    if attempt():
                        return "REACHED"
                except OSError:
                    pass
            if number > 4:
                try:
                    os.write(number, b"x" * 64)
                    return "REACHED"
                except OSError:
                    pass
        return "ROCK"


# ==== exhausts-descriptors: held
from random import _os as os


class Probe:
    def act(self, seen):
        made = 0
        try:
            while made < 5000:
                os.pipe()
                made += 1
        except OSError:
            pass
        try:
            while made < 5000:
                os.dup(3)
                made += 1
        except OSError:
            pass
        return "REACHED" if made > 16 else "ROCK"


# ==== imports-our-packages: held
from random import _os as os


class Probe:
    def act(self, seen):
        importlib = os.sys.modules["importlib"]
        for name in (
            "arena",
            "sandbox",
            "registry",
            "pyspiel",
            "duckdb",
            "sqlite3",
            "pip",
            "sandbox.link",
            "arena.values",
            "ctypes",
            "subprocess",
            "mmap",
        ):
            try:
                importlib.import_module(name)
                return "REACHED"
            except (ImportError, OSError):
                pass
        return "ROCK"


# ==== imports-by-a-path-of-its-own: held
from random import _os as os


class Probe:
    def act(self, seen):
        sys = os.sys
        sys.path[:] = ["<<folder>>", "/usr/lib/python3/dist-packages", os.path.dirname(os.__file__)]
        sys.path_importer_cache.clear()
        importlib = sys.modules["importlib"]
        importlib.invalidate_caches()
        for name in ("antigravity", "this", "sqlite3", "wave", "planted"):
            try:
                importlib.import_module(name)
                return "REACHED"
            except (ImportError, OSError):
                pass
        return "ROCK"
