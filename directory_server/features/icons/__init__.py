"""Icons of entries: fetched from their URLs, checked, and served by this server, so that pages load nothing else."""

from ...feature import Feature

FEATURE = Feature("icons", __name__, settings="settings:IconsConfig", web="web:PART", run="web:run", runs_if="fetch")
