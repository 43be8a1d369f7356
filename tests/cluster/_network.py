"""A TCP proxy between a server process and its database: it can be cut, fall silent, lose notifications and move."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress
from pathlib import Path

NOTIFICATION = b"A"
"""The type of NotificationResponse (PostgreSQL, section 55.7)."""


class Network:
    """The way of one machine to the database whose UNIX socket is in `folder`; another folder moves new connections.

    While `loses_notifications`, notifications do not arrive. A connection that sends the text `trap` falls silent for
    good; the proxy still acknowledges what it sends.
    """

    def __init__(self, folder: Path, host: str = "127.0.0.1", user: str = "postgres") -> None:
        self.folder = folder
        self._host = host
        self._user = user
        self.loses_notifications = False
        self.lost_notifications = 0
        self.trap: bytes | None = None
        self.trapped = 0
        self._is_cut = False
        self._passes = threading.Event()
        self._passes.set()
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server((host, 0))
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def conninfo(self) -> str:
        """The connection string of the database through this network."""
        port = self._listener.getsockname()[1]
        return f"host={self._host} port={port} dbname=postgres user={self._user} sslmode=disable gssencmode=disable"

    def cut(self) -> None:
        """Reset all connections and new ones."""
        self._is_cut = True
        self.end_connections()

    def fall_silent(self) -> None:
        """Deliver no byte until `heal`, as a network that loses all packets; connections stay open."""
        self._passes.clear()

    def heal(self) -> None:
        """Let everything pass, also what was sent while the network was silent."""
        self._is_cut = False
        self._passes.set()

    def close(self) -> None:
        """Stop the proxy."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        self.heal()
        self.end_connections()

    def end_connections(self) -> None:
        """Reset all connections; new ones pass."""
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._sockets.clear()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                try:
                    if self._is_cut:
                        raise ConnectionRefusedError
                    server.connect(str(self.folder / ".s.PGSQL.5432"))
                except OSError:
                    client.close()
                    server.close()
                    continue
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._sockets += client, server
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=self._forward, args=(source, target), daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        is_answer, held = source.family == socket.AF_UNIX, b""
        with suppress(OSError):
            while data := source.recv(65_536):
                self._passes.wait()
                if not is_answer and self.trap is not None and self.trap in data:
                    self.trapped += 1
                    while source.recv(65_536):
                        pass
                    break
                if is_answer:
                    data, held = self._without_notifications(held + data)
                target.sendall(data)
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        source.close()

    def _without_notifications(self, data: bytes) -> tuple[bytes, bytes]:
        """Return the complete messages of `data` that arrive, and the incomplete rest."""
        passing, place = [], 0
        while len(data) - place >= 5:
            (length,) = struct.unpack_from("!I", data, place + 1)
            end = place + 1 + length
            if end > len(data):
                break
            if self.loses_notifications and data[place : place + 1] == NOTIFICATION:
                self.lost_notifications += 1
            else:
                passing.append(data[place:end])
            place = end
        return b"".join(passing), data[place:]
