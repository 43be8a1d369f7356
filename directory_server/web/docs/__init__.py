"""Documentation pages: the project's documents, rendered when the package was built, and the REST API."""

from ._pages import DocsPages, paths

__all__ = ["DocsPages", "paths"]
