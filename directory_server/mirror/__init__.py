"""Other registries, followed: what they have comes into the directory, and what changes there follows."""

from ._client import Client
from ._failure import UpstreamBusy, UpstreamFailed
from ._mirror import Mirror, mirror
from ._round import Report
from ._service import UpstreamService
from ._upstream import Upstream

__all__ = ["Client", "Mirror", "Report", "Upstream", "UpstreamBusy", "UpstreamFailed", "UpstreamService", "mirror"]
