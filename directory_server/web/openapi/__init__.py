"""OpenAPI 3.1 document of the REST API, built once from the limits, fields and errors of the code."""

from ._document import DOCUMENT, PATH
from ._publishing import SCHEMAS_OF_PUBLISHING

__all__ = ["DOCUMENT", "PATH", "SCHEMAS_OF_PUBLISHING"]
