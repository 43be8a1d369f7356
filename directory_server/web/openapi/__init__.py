"""The OpenAPI document of the REST API."""

from ._document import OpenApiPart, document, registry_read
