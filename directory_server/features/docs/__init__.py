"""Documentation pages: the project's documents, rendered when the package was built, and the REST API."""

from ...feature import Feature

FEATURE = Feature("docs", __name__, web="web:PART")
