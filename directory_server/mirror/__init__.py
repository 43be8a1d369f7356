"""Mirroring of upstream registries: their entries and later changes are published in the directory."""

from ._client import Client
from ._mirror import Mirror, mirror
from ._report import SyncReport
from ._service import UpstreamService
from ._upstream import Upstream, UpstreamBusy, UpstreamFailed
