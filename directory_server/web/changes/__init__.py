"""The change feed: the log of changes as pages, and as streams that go on with what happens."""

from ._door import PATH, Changes
from ._live import Live
from ._pages import Pages

__all__ = ["PATH", "Changes", "Live", "Pages"]
