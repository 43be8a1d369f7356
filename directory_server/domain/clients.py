"""Clients of requests, as members see them: the network of the address and the name of the program."""

from __future__ import annotations

from attrs import frozen

MAX_NAME = 60
"""Characters of the name of a client program."""


@frozen
class Client:
    """The client of a request; `network` is such as 192.0.2.0/24, `name` such as curl. Either is "" if unknown."""

    network: str = ""
    name: str = ""


UNKNOWN = Client()
