"""The OpenAPI document of the REST API."""

from ._document import document
from ._part import OpenApiPart, registry_read
