"""What a feature adds to the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
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
