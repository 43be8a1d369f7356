"""Ports of requests on which somebody decides: their kinds, and e-mails about them."""

from __future__ import annotations

from typing import Protocol

from ..requests import Kind
from .points import Point, Single


class Mail(Protocol):
    """Sends e-mails in the background. Errors are logged."""

    def __call__(self, address: str, subject: str, path: str) -> None:
        """Send an e-mail with a subject, and a link to a path of this server, to an address."""


MAIL = Single[Mail | None](None)
"""Sends e-mails; None without a mail server."""

KINDS = Point[Kind]()
"""The kinds of requests of all features."""
