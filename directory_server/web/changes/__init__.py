"""The change feed: the log of changes as pages, and as streams that go on with what happens."""

from ._broadcaster import Broadcaster
from ._handler import PATH, ChangesHandler
from ._log_pages import LogPages

__all__ = ["PATH", "Broadcaster", "ChangesHandler", "LogPages"]
