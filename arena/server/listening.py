"""The socket that a server listens on."""

from __future__ import annotations

import socket

from arena.errors import UsageFault

BACKLOG = 2048
"""Connections that may wait to be accepted; the kernel has a limit of its own."""


def listener(address: str, port: int) -> socket.socket:
    """A socket that listens.

    Servers open one themselves, without naming the protocol; asyncio then leaves Nagle's algorithm
    on, and every small answer waits 40 ms for the visitor's delayed acknowledgement
    (https://github.com/Kludex/uvicorn/issues/3149).

    Raises:
      UsageFault: there is no such address, or the port is taken.
    """
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            address, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )[0]
        opened = socket.socket(family, kind, protocol)
        try:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            opened.bind(where)
            opened.listen(BACKLOG)
        except OSError:
            opened.close()
            raise
    except (socket.gaierror, UnicodeError) as error:
        raise UsageFault(
            f"there is no address {address!r} to listen on; name one of this machine with --address"
        ) from error
    except OSError as error:
        raise UsageFault(
            f"port {port} of {address} cannot be used ({error.strerror}); name another --port, "
            "or another --address"
        ) from error
    return opened
