"""A TCP proxy in front of a server's UNIX socket, which can divide or cut what the server sends."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress


class Wire:
    """The proxy. `pieces` is the most bytes of the server in one packet, None for no limit.

    `cut_after` is the number of bytes of the server after which its connection is cut, None for never.
    """

    def __init__(self, path: str) -> None:
        self.pieces: int | None = None
        self.cut_after: int | None = None
        self.connections = 0
        self.exchanges = 0
        """How often the server was ready for the next statements, over all connections.

        Counted by its message ReadyForQuery, one for each Sync or simple query of a client: packets and time do not
        matter. Source: PostgreSQL's documentation, "Message Formats".
        """
        self._path = path
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def conninfo(self) -> str:
        """The connection string of the database behind the proxy."""
        port = self._listener.getsockname()[1]
        return f"host=127.0.0.1 port={port} dbname=postgres user=postgres sslmode=disable"

    def close(self) -> None:
        """Stop the proxy and end all connections."""
        for each in (self._listener, *self._sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._path)
                self._sockets += client, server
                self.connections += 1
                threading.Thread(target=self._ask, args=(client, server), daemon=True).start()
                threading.Thread(target=self._answer, args=(server, client), daemon=True).start()

    def _ask(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65_536):
                server.sendall(data)
            server.shutdown(socket.SHUT_RDWR)

    def _answer(self, server: socket.socket, client: socket.socket) -> None:
        unread = bytearray()
        with suppress(OSError):
            while data := server.recv(65_536):
                # Before the client has the answer: it may look at the number at once.
                self.exchanges += _take_ready(unread, data)
                while data:
                    piece = data[: self.pieces]
                    data = data[len(piece) :]
                    if self.cut_after is not None:
                        piece = piece[: self.cut_after]
                        self.cut_after -= len(piece)
                    client.sendall(piece)
                    if self.cut_after == 0:
                        self.cut_after = None
                        client.shutdown(socket.SHUT_RDWR)
                        return
            client.shutdown(socket.SHUT_RDWR)


def _take_ready(unread: bytearray, data: bytes) -> int:
    """Return how many messages ReadyForQuery end with `data`. `unread` keeps the start of an incomplete message."""
    unread += data
    start = count = 0
    while len(unread) >= start + 5:
        kind, length = struct.unpack_from("!cI", unread, start)
        if len(unread) < start + 1 + length:
            break
        count += kind == b"Z"
        start += 1 + length
    del unread[:start]
    return count
