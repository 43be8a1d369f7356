"""The OpenAPI document of the REST API."""

from ._document import PATH, document
from ._part import OpenApiPart

__all__ = ["PATH", "OpenApiPart", "document"]
