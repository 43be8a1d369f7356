"""JSON Schemas of the REST API: those of the classes that its responses are encoded from."""

from __future__ import annotations

from typing import Any

from ...client_config import Configuration, Input, Installation, Notice
from ...domain.check_views import FoundToolView, PackageView, RemoteView, ToolChangeView, VerificationView
from ...domain.flags import FlagView
from ...domain.identity import IdentityView
from ...domain.marks import MarkView
from ...domain.views import Detail, Hit, Tool
from ...serialization import (
    IDENTIFIED,
    MATCHING_TOOLS,
    ChangeItem,
    ChangesPage,
    ErrorBody,
    Schema,
    SearchPage,
    argument_schemas,
    field_schemas,
    matching_tools_schema,
    object_schema,
    required_fields,
)
from ..health import FullDatabaseHealth, HealthResponse, IssuerHealth, NotReady, Ready, UpstreamHealth

TEXT: Schema = {"type": "string"}

_NAMES: dict[type, str] = {
    Hit: "Hit",
    SearchPage: "SearchPage",
    Detail: "Detail",
    Tool: "Tool",
    FlagView: "Flag",
    IdentityView: "Identity",
    VerificationView: "Verification",
    FoundToolView: "FoundTool",
    MarkView: "Mark",
    ToolChangeView: "ToolChange",
    RemoteView: "RemoteCheck",
    PackageView: "PackageCheck",
    Installation: "Installation",
    Input: "Input",
    Configuration: "Configuration",
    Notice: "Notice",
    ChangeItem: "Change",
    ChangesPage: "ChangesPage",
    FullDatabaseHealth: "Health",
    UpstreamHealth: "Upstream",
    IssuerHealth: "Issuer",
    Ready: "Ready",
    NotReady: "NotReady",
    ErrorBody: "Error",
}
"""Names of the schemas in the document, by class."""


def schemas() -> dict[str, Schema]:
    """Return the schemas of the document, by name."""
    return {
        **{name: object_schema(of, reference=reference) for of, name in _NAMES.items()},
        "Hit": {
            "type": "object",
            "description": "A matching entry: name, brief and website_url, or the requested fields.",
            "properties": {
                **field_schemas(Detail, reference=reference),
                MATCHING_TOOLS: matching_tools_schema(reference(Tool)),
            },
        },
        # How well the entries match is there only with fields.
        "SearchPage": {**object_schema(SearchPage, reference=reference), "required": required_fields(SearchPage)},
        "Change": {
            "type": "object",
            "description": "A change of an entry. A removed entry has only its id.",
            "properties": {**field_schemas(ChangeItem), **field_schemas(Detail, (*IDENTIFIED, "verified", "flags"))},
            "required": [*required_fields(ChangeItem), "mcp_id"],
        },
        # Version and upstreams are there only with http.health = "full".
        "Health": {
            **object_schema(FullDatabaseHealth, reference=reference),
            "required": list(field_schemas(HealthResponse)),
        },
        "Description": {"type": "object", "required": ["openapi", "info", "paths"]},
    }


def reference(of: type) -> Schema:
    """Return a reference to the schema of `of` in the document."""
    return {"$ref": f"#/components/schemas/{_NAMES[of]}"}


def parameters(of: type, location: str = "query") -> list[dict[str, Any]]:
    """Return the parameter objects of the fields of `of`."""
    required = required_fields(of)
    found = []
    for name, schema in argument_schemas(of).items():
        parameter = {"name": name, "in": location, "description": schema.pop("description"), "schema": schema}
        # A list is one parameter, separated by commas.
        style = {"style": "form", "explode": False} if schema["type"] == "array" else {}
        found.append({**parameter, **style, **({"required": True} if name in required else {})})
    return found
