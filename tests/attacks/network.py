# ruff: noqa: I001
# ==== connects-to-the-loopback: held
from random import _os as os


class Probe:
    def act(self, seen):
        socket = os.sys.modules["socket"]
        for family, address in (
            (socket.AF_INET, ("127.0.0.1", int("<<port>>"))),
            (socket.AF_INET6, ("::1", int("<<port>>"))),
            (socket.AF_INET, ("10.0.0.1", 80)),
        ):
            try:
                line = socket.socket(family)
                line.settimeout(0.1)
                line.connect(address)
                return "REACHED"
            except OSError:
                pass
        return "ROCK"


# ==== connects-with-the-c-module: held
from random import _os as os


class Probe:
    def act(self, seen):
        _socket = os.sys.modules["_socket"]
        try:
            _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM).connect(
                ("127.0.0.1", int("<<port>>"))
            )
            return "REACHED"
        except OSError:
            return "ROCK"


# ==== sends-datagrams: held
from random import _os as os


class Probe:
    def act(self, seen):
        socket = os.sys.modules["socket"]
        for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
            try:
                socket.socket(socket.AF_INET, kind).sendto(b"x", ("127.0.0.1", int("<<port>>")))
                return "REACHED"
            except OSError:
                pass
        return "ROCK"


# ==== makes-socket-pairs: held
from random import _os as os


class Probe:
    def act(self, seen):
        socket = os.sys.modules["socket"]
        for attempt in (
            socket.socketpair,
            lambda: socket.socket(socket.AF_UNIX).bind("\0meeting"),
            lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0),
            lambda: socket.fromfd(3, socket.AF_UNIX, socket.SOCK_STREAM),
            lambda: socket.create_server(("127.0.0.1", 0)),
        ):
            try:
                attempt()
                return "REACHED"
            except (OSError, AttributeError):
                pass
        return "ROCK"


# ==== asks-for-names: held, died
from random import _os as os


class Probe:
    def act(self, seen):
        socket = os.sys.modules["socket"]
        try:
            socket.getaddrinfo("example.org", 80)
            return "REACHED"
        except OSError:
            return "ROCK"
