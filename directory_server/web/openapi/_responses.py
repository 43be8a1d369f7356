"""Responses of the REST API: the meaning of each status, with examples."""

from __future__ import annotations

from typing import Any

from twisted.python.failure import Failure

from ... import serialization
from ...client_config import Configuration, Input, Installation, Notice
from ...domain import errors
from ...domain.check_views import FoundToolView, PackageView, RemoteView, ToolChangeView, VerificationView
from ...domain.ending_views import EndingView
from ...domain.kinds import Use
from ...domain.marks import MarkView
from ...domain.notes import FlagView
from ...domain.quota import Allowance
from ...domain.views import Detail, Hit, IdentityView, Tool
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
from ..error_responses import error_response, rest_error_body
from ..health import HealthResponse, IssuerHealth, NotReady, Ready, UpstreamHealth

_EXAMPLES: list[errors.DirectoryError] = [
    errors.BadInput(
        f"limit: must be a whole number from 1 to {serialization.MAX_LIMIT}, not {serialization.MAX_LIMIT + 1}."
    ),
    errors.BadInput(
        "The URL must not contain an API key. Send the key in the header: Authorization: Bearer <key>.",
        code="key_in_url",
    ),
    errors.Unauthorized(),
    errors.QuotaExceeded(Allowance(20, 0, 3445)),
    errors.Forbidden("The Host 'evil.example' is not allowed.", code="forbidden_host"),
    errors.NotFound("No entry has the mcp_id 123e4567-e89b-52d3-a456-426614174000."),
    errors.Gone(99, 1, 51),
    errors.Throttled(12),
    errors.TooManyStreams("This key has reached its limit of open streams."),
    errors.Unavailable("quota.db cannot be used now: the disk is full."),
]

KEY_ERRORS = (errors.BadInput, errors.Unauthorized, errors.QuotaExceeded, errors.Throttled, errors.Unavailable)
"""Errors of every operation that needs a key."""

COMMON_ERRORS = (errors.Forbidden,)
"""Errors of every operation."""

_MEANINGS = {
    400: "A parameter is missing, unknown, repeated or invalid, or the URL contains a key.",
    401: "The key is missing or invalid (unauthorized), or its quota is used up (rate_limited).",
    403: "The Host or the Origin header is not allowed.",
    404: "The entry does not exist.",
    410: "The change log does not contain the position since: start again with since=0.",
    429: "Too many invalid keys from this address, or too many open streams of this key.",
    503: "The server is temporarily unavailable.",
}

_HEADERS = {
    "RateLimit-Policy": 'q requests in w seconds, as in "hour";q=20;w=3600. Only for keys with a limit.',
    "RateLimit": 'r requests remain; the next one is restored in t seconds, as in "hour";r=18;t=3599.',
    "X-RateLimit-Limit": "The q of RateLimit-Policy.",
    "X-RateLimit-Remaining": "The r of RateLimit.",
    "X-RateLimit-Reset": "The t of RateLimit: seconds from now.",
    "X-Request-Id": "Id of the request in the server log.",
    "Link": 'URL of the next page, with rel="next" (RFC 8288). Absent on the last page.',
    "Retry-After": "Seconds to wait before the next attempt.",
    "WWW-Authenticate": "Authentication scheme.",
}


def headers() -> dict[str, Any]:
    """Return the header objects of the document, by name."""
    return {name: {"description": text, "schema": TEXT} for name, text in _HEADERS.items()}


def success(description: str, schema: str, *named: str, example: Any = None, stream: str = "") -> dict[str, Any]:
    """Return a response object with a schema and the named headers, and with a `stream` example if given."""
    content: dict[str, Any] = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    if example is not None:
        content["application/json"]["example"] = example
    if stream:
        content["text/event-stream"] = {"schema": TEXT, "example": stream}
    return {"description": description, "headers": _named("X-Request-Id", *named), "content": content}


def error_responses(*kinds: type[errors.DirectoryError]) -> dict[str, Any]:
    """Return the error response objects of these errors by status, with examples by error code."""
    responses: dict[str, Any] = {}
    for example in _EXAMPLES:
        if isinstance(example, (*kinds, *COMMON_ERRORS)):
            error = error_response(Failure(example))
            response = responses.setdefault(str(error.status), _error_object(_MEANINGS[error.status], *error.headers))
            response["content"]["application/json"]["examples"][error.code] = {"value": rest_error_body(error)}
    responses["default"] = _error_object("Any other error, in the same format.")
    return responses


def _error_object(description: str, *named: str) -> dict[str, Any]:
    content = {"schema": {"$ref": "#/components/schemas/Error"}, "examples": {}}
    return {
        "description": description,
        "headers": _named("X-Request-Id", *named),
        "content": {"application/json": content},
    }


def _named(*names: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


TEXT: Schema = {"type": "string"}

_NAMES: dict[type, str] = {
    Hit: "Hit",
    SearchPage: "SearchPage",
    Detail: "Detail",
    Tool: "Tool",
    EndingView: "EndOfLife",
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
    Use: "Use",
    ChangeItem: "Change",
    ChangesPage: "ChangesPage",
    HealthResponse: "Health",
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
            **object_schema(HealthResponse, reference=reference),
            "required": required_fields(HealthResponse),
        },
        "Description": {"type": "object", "required": ["openapi", "info", "paths"]},
    }


def reference(of: type) -> Schema:
    return {"$ref": f"#/components/schemas/{_NAMES[of]}"}


def parameters(of: type, location: str = "query") -> list[dict[str, Any]]:
    """Return the parameter objects of the fields of `of`."""
    required = required_fields(of)
    objects = []
    for name, schema in argument_schemas(of).items():
        parameter = {"name": name, "in": location, "description": schema.pop("description"), "schema": schema}
        # A list is one parameter, separated by commas.
        style = {"style": "form", "explode": False} if schema["type"] == "array" else {}
        objects.append({**parameter, **style, **({"required": True} if name in required else {})})
    return objects
