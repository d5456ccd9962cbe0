"""Functions for the limited child: what its tests ask of it."""

import ctypes
import os
import socket

_asked = 0


def echo(value):
    return value


def count(_):
    global _asked
    _asked += 1
    return _asked


def work(seconds):
    """Computes for so much processor time, as far as a sealed process can tell: by counting."""
    for _ in range(int(seconds * 20_000_000)):
        pass
    return seconds


def compiled(source):
    compile(source, "<text>", "exec")
    return "compiled"


def memory(mebibytes):
    return len(bytearray(mebibytes << 20))


def recursion(_):
    return recursion(_)


def crash(_):
    ctypes.string_at(0)


def text(length):
    return "x" * length


def fault(message):
    raise ValueError(message)


def silence(_):
    """Waits for what never comes, and takes no processor time."""
    return len(os.read(3, 1))


def attempts(secret):
    """What a sealed process can reach: the names of all attempts that worked."""
    tried = {
        "open": lambda: open("/etc/hostname").close(),
        "write": lambda: open(f"/tmp/{os.getpid()}", "w").close(),
        "socket": lambda: socket.socket().close(),
        "fork": os.fork,
        "signal": lambda: os.kill(1, 0),
        "execute": lambda: os.execv("/bin/true", ["true"]),
        "read a descriptor of the host": lambda: os.read(secret, 1),
        "read a descriptor": lambda: [os.read(number, 1) for number in range(5, 400)],
    }
    worked = []
    for name, attempt in tried.items():
        try:
            attempt()
        except OSError:
            continue
        worked.append(name)
    return {"worked": worked, "environment": dict(os.environ)}
