"""The change feed: the change log as pages and as event streams."""

from ._broadcaster import Broadcaster
from ._handler import PATH, ChangesHandler
from ._log_pages import LogPages, Watch
