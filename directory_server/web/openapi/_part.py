"""What a feature adds to the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from ...serialization import Schema


@frozen(eq=False)
class OpenApiPart:
    """Path items, schemas and security schemes by their names.

    `without_key` names the operations that need no API key, for the description of the API; empty if there are none.
    """

    paths: Mapping[str, Any] = field(factory=dict)
    schemas: Mapping[str, Schema] = field(factory=dict)
    security: Mapping[str, Any] = field(factory=dict)
    without_key: str = ""


def registry_read(
    name: str, summary: str, description: str, media_type: str, parameters: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Return the path item of a GET beside the registry API whose body has `media_type`."""
    schema = {"type": "object"} if media_type == "application/json" else {}
    return {
        "get": {
            "operationId": name,
            "summary": summary,
            "description": f"{description} Needs an API key unless `registry.access` is `public`. Costs nothing.",
            "security": [],
            **({"parameters": [*parameters]} if parameters else {}),
            "responses": {
                "200": {"description": "The document.", "content": {media_type: {"schema": schema}}},
                "304": {"description": "The client has it: `If-None-Match` has its ETag."},
                "default": {
                    "description": "An error (RFC 9457).",
                    "content": {"application/problem+json": {"schema": {"type": "object"}}},
                },
            },
        }
    }
