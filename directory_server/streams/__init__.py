"""Server-sent event streams: open connections, broadcasts to groups of them, heartbeats and limits."""

from ._channel import Channel
from ._hub import Hub
from ._stream import Stream
