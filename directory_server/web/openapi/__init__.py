"""OpenAPI 3.1 document of the REST API, built once from the limits, fields and errors of the code."""

from ._document import DOCUMENT, PATH

__all__ = ["DOCUMENT", "PATH"]
