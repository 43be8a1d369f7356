"""The reactor of this process. Other modules get it as an argument."""

from __future__ import annotations

from typing import Any


def main_reactor() -> Any:
    """Return the reactor of this process; install one if there is none."""
    from twisted.internet import reactor

    return reactor
