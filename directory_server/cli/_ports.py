"""Check that the ports to listen on are free."""

from __future__ import annotations

import socket
from contextlib import closing
from urllib.parse import urlsplit

import click

from ..config import Config, endpoints


def check_ports(config: Config) -> None:
    """Raise ClickException if a TCP port of `config` is in use or not permitted."""
    if config.reuse_port:
        return
    for description in config.listen:
        endpoint = endpoints.read(description)
        url = urlsplit(endpoint.url or "")
        if not url.hostname or not url.port:
            continue
        family = socket.AF_INET6 if ":" in url.hostname else socket.AF_INET
        with closing(socket.socket(family, socket.SOCK_STREAM)) as probe:
            # As in the server: connections in TIME_WAIT do not block the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((endpoint.named.get("interface") or ("::" if endpoint.kind == "tcp6" else ""), url.port))
            except OSError as error:
                raise click.ClickException(
                    f"Cannot listen on {description}: {error.strerror}. Choose another port, as in "
                    "'make run PORT=8081' or --set listen=tcp:8081:interface=127.0.0.1."
                ) from None
