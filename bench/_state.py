"""What a process holds: sockets by state, threads, open files, resident memory."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from attrs import frozen

STATES = {
    "01": "ESTABLISHED",
    "02": "SYN_SENT",
    "03": "SYN_RECV",
    "04": "FIN_WAIT1",
    "05": "FIN_WAIT2",
    "06": "TIME_WAIT",
    "07": "CLOSE",
    "08": "CLOSE_WAIT",
    "09": "LAST_ACK",
    "0A": "LISTEN",
    "0B": "CLOSING",
}
"""Names of the states in /proc/net/tcp (include/net/tcp_states.h of Linux)."""

GONE = {"TIME_WAIT", "LISTEN"}
"""States in which a socket is no connection of the process."""


@frozen
class State:
    """What a process holds at a moment; `memory` is in bytes."""

    sockets: Mapping[str, int]
    threads: int
    files: int
    memory: int

    @property
    def connections(self) -> int:
        return sum(count for state, count in self.sockets.items() if state not in GONE)


def state(pid: int, port: int) -> State:
    """Return what the process `pid` holds, and the sockets whose local port is `port`."""
    status = Path(f"/proc/{pid}/status").read_text()
    return State(
        sockets(port),
        int(status.partition("Threads:")[2].split()[0]),
        len(os.listdir(f"/proc/{pid}/fd")),
        int(status.partition("VmRSS:")[2].split()[0]) * 1024,
    )


def sockets(port: int) -> Mapping[str, int]:
    """Return how many sockets of the local `port` are in each state, whichever process has them (proc_net_tcp(5))."""
    found = Counter[str]()
    for table in ("tcp", "tcp6"):
        with suppress(FileNotFoundError):
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                if int(fields[1].rpartition(":")[2], 16) == port:
                    found[STATES.get(fields[3], fields[3])] += 1
    return found
