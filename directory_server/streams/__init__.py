"""Streams of server-sent events: ten thousand connections that cost little while nothing happens."""

from ._channel import Channel
from ._hub import Hub
from ._stream import RETRY, Stream

__all__ = ["RETRY", "Channel", "Hub", "Stream"]
