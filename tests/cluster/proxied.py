"""Two servers on one database, behind HAProxy, which sends each request to the next one.

    python -m tests.cluster.proxied FOLDER

serves the sample catalogue until its standard input ends, and prints the port of the proxy and a key without a limit.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from .. import engines
from ..ports import free_port
from ..process.conftest import TIMEOUT, Client, Server, until
from .conftest import Cluster

# No cookie, no source hash: nothing keeps a client at one server, and a connection is no session.
_CONFIGURATION = """
defaults
    mode http
    # Without it, the server learns of a closed stream with its next heartbeat.
    option abortonclose
    timeout connect 5s
    timeout client 300s
    timeout server 300s
listen directory
    bind 127.0.0.1:{port}
    balance roundrobin
{servers}
"""

HAPROXY = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin")


@contextmanager
def proxy(servers: Sequence[Server], folder: Path) -> Iterator[Client]:
    """Run HAProxy in front of `servers`; yield a client of it."""
    assert HAPROXY is not None
    port = free_port()
    file = folder / "haproxy.cfg"
    lines = [f"    server s{number} 127.0.0.1:{each.port}" for number, each in enumerate(servers)]
    file.write_text(_CONFIGURATION.format(port=port, servers="\n".join(lines)))
    with (folder / "haproxy.log").open("wb") as log:
        process = subprocess.Popen([HAPROXY, "-db", "-f", file], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def accepts_connections() -> bool:
        assert process.poll() is None, (folder / "haproxy.log").read_text()
        with suppress(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port)).close()
            return True
        return False

    try:
        until(accepts_connections, "the start of HAProxy")
        yield Client(port)
    finally:
        process.terminate()
        process.wait(TIMEOUT)


@contextmanager
def proxied(folder: Path) -> Iterator[tuple[Cluster, Sequence[Server], Client]]:
    """Run two servers with the sample catalogue behind HAProxy; yield the database, the servers and a client."""
    with ExitStack() as stack:
        engine = engines.new_engine()
        stack.callback(engine.close)
        cluster = Cluster(engine, folder)
        cluster.command("quickstart")
        servers = [stack.enter_context(cluster.serve(name)) for name in ("one", "two")]
        yield cluster, servers, stack.enter_context(proxy(servers, folder))


def main(folder: Path) -> None:
    """Serve until the end of the standard input."""
    with proxied(folder) as (cluster, _, client):
        print(client.port, cluster.new_key("--limit", "unlimited"), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
