"""The REST door described for programs, in OpenAPI 3.1: put together once, out of what the code itself goes by."""

from ._document import DOCUMENT, PATH

__all__ = ["DOCUMENT", "PATH"]
