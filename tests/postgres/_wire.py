"""A TCP proxy in front of a server's UNIX socket, which can divide or cut what the server sends."""

from __future__ import annotations

import socket
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
        self.round_trips = 0
        """How often the server has begun to answer: the turns from sending to receiving, over all connections."""
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
                # Set between a message of the client and the begin of the answer.
                is_asked = threading.Event()
                threading.Thread(target=self._ask, args=(client, server, is_asked), daemon=True).start()
                threading.Thread(target=self._answer, args=(server, client, is_asked), daemon=True).start()

    def _ask(self, client: socket.socket, server: socket.socket, is_asked: threading.Event) -> None:
        with suppress(OSError):
            while data := client.recv(65_536):
                is_asked.set()
                server.sendall(data)
            server.shutdown(socket.SHUT_RDWR)

    def _answer(self, server: socket.socket, client: socket.socket, is_asked: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(65_536):
                self.round_trips += is_asked.is_set()
                is_asked.clear()
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
