"""Operations of publishers in the OpenAPI document."""

from __future__ import annotations

import re
from typing import Any

from twisted.python.failure import Failure

from ...domain import errors
from ...domain.endings import MAX_MESSAGE
from ...domain.entries import MAX_NAME, MAX_VERSION
from ...domain.kinds import TYPES
from ...domain.shapes import Issue
from ...serialization import Schema
from ...web.error_responses import error_response, problem
from ...web.openapi import OpenApiPart
from .documents import STATUSES
from .server_json import SCHEMAS


def _text(description: str, **more: Any) -> Schema:
    return {"type": "string", "description": description, **more}


def _object(*required: str, is_closed: bool = False, **members: Schema) -> Schema:
    """Return the schema of an object; if `is_closed`, it has no other members."""
    closed = {"additionalProperties": False} if is_closed else {}
    return {"type": "object", "properties": members, "required": [*required], **closed}


def _reference(schema: str) -> Schema:
    return {"$ref": f"#/components/schemas/{schema}"}


_SECURITY = {
    "publisher": {
        "type": "http",
        "scheme": "bearer",
        "description": "Publisher token (`mcpp_…`), issued by the operator for namespaces.",
    }
}
"""The security scheme of these operations."""

_EXAMPLES = {
    "Publication": {"name": "io.acme/weather", "description": "Forecasts.", "version": "1.0.0"},
    "StatusChange": {"status": "deprecated"},
    "Ending": {"date": "2027-01-31", "message": "Use io.acme/forecast."},
    "Move": {"new_name": "io.acme/forecast"},
    "Login": {"github_token": "mcpp_" + "x" * 38},
    "OidcLogin": {"oidc_token": "eyJ….eyJ….…"},
    "DomainLogin": {"domain": "acme.io", "timestamp": "2026-01-31T12:00:00Z", "signed_timestamp": "0a" * 64},
}
"""A body of each schema of requests."""

_SCHEMAS: dict[str, Schema] = {
    "Server": {
        **_object(
            *("name", "description", "version"),
            name=_text("Namespace and name.", minLength=3, maxLength=MAX_NAME),
            description=_text("What the server does.", minLength=1, maxLength=100),
            version=_text("One version, not a range.", minLength=1, maxLength=MAX_VERSION),
        ),
        "description": f"A server.json of the schema {SCHEMAS[0]}.",
    },
    "CatalogEntry": {
        **_object(
            *("identifier", "type"),
            identifier=_text("`urn:air:`, the domain of the publisher, and a name.", pattern="^urn:air:.+:.+$"),
            type=_text("The media type of the card.", enum=list(TYPES)),
            displayName=_text("The title; required without data."),
            url=_text("The URL of the card."),
            data={"description": "The card in place of a URL: an object, or the text of a SKILL.md."},
        ),
        "description": "An agent, a skill or a plugin, as a catalog entry of ARD with `url` or `data`.",
    },
    "Publication": {"anyOf": [_reference("Server"), _reference("CatalogEntry")]},
    "ServerVersion": _object(
        *("server", "_meta"),
        server=_reference("Server"),
        _meta={"type": "object", "description": "Status, dates and whether it is the latest version."},
    ),
    "StatusChange": _object(
        "status",
        is_closed=True,
        status=_text("The new status.", enum=list(STATUSES)),
        statusMessage=_text("The reason; absent for `active`.", maxLength=MAX_MESSAGE),
    ),
    "Ending": _object(
        "date",
        is_closed=True,
        date=_text("The last day; empty to remove the end of life.", maxLength=10),
        replaced_by=_text("Name of the entry that replaces it.", maxLength=MAX_NAME),
        message=_text("Reason and advice.", maxLength=MAX_MESSAGE),
    ),
    "Move": _object(
        "new_name",
        is_closed=True,
        new_name=_text("The new name, or the new namespace with `/*`.", maxLength=MAX_NAME),
        message=_text("Reason and advice.", maxLength=MAX_MESSAGE),
    ),
    "LifeOfName": _object(
        ends={"anyOf": [_reference("EndOfLife"), {"type": "null"}], "description": "The end of life."},
        moved={"type": "object", "description": "New names.", "additionalProperties": {"type": "string"}},
    ),
    "StatusChanges": _object(
        *("updatedCount", "servers"),
        updatedCount={"type": "integer", "description": "Number of versions that changed."},
        servers={
            "type": "array",
            "items": _reference("ServerVersion"),
            "description": "These versions, the first 1 MB of them.",
        },
    ),
    "Validation": _object(
        *("valid", "issues"),
        valid={"type": "boolean", "description": "Whether the document can be published."},
        issues={"type": "array", "items": _reference("Issue"), "description": "The errors."},
    ),
    "Issue": _object(
        *("path", "message"),
        type=_text("Always `schema`."),
        path=_text("The member, such as `packages[0].version`."),
        message=_text("What is allowed."),
        severity=_text("Always `error`."),
        reference=_text("Empty."),
    ),
    "Login": _object("github_token", is_closed=True, github_token=_text("A publisher token, not one of GitHub.")),
    "OidcLogin": _object("oidc_token", is_closed=True, oidc_token=_text("A signed token (JWT).", minLength=1)),
    "DomainLogin": _object(
        *("domain", "timestamp", "signed_timestamp"),
        is_closed=True,
        domain=_text("The domain, such as `acme.io`.", maxLength=190),
        timestamp=_text("The time (RFC 3339), within 15 seconds of that of the server."),
        signed_timestamp=_text("The signature of this text in hexadecimal, by Ed25519 or ECDSA P-384 with SHA-384."),
    ),
    "RegistryToken": _object(
        *("registry_token", "expires_at"),
        registry_token=_text("A publisher token; of `github-at` the same one."),
        expires_at={"type": "integer", "description": "When it ends, in seconds since the epoch; 0 for never."},
    ),
    "Problem": _object(
        *("title", "status", "detail"),
        title=_text("The error code."),
        status={"type": "integer", "description": "The HTTP status."},
        detail=_text("A sentence for people."),
        errors={
            "type": "array",
            "items": {"type": "object", "required": ["location", "message"]},
            "description": "Each invalid member of the body.",
        },
    ),
}
"""Schemas of these operations, by name."""

_ERRORS: list[tuple[str, errors.DirectoryError]] = [
    ("The body is not JSON, the version exists, or a limit is reached.", errors.BadInput("version: …")),
    ("The token is missing, unknown, revoked or expired.", errors.UnknownPublisher()),
    (
        "The token may not publish this name, or lacks the scope.",
        errors.Forbidden("…", code="forbidden_namespace"),
    ),
    ("Publishing is off, or no such version was published.", errors.NotFound("…")),
    ("The document is invalid.", errors.InvalidServer([Issue("version", "must be one version.")])),
    ("Too many requests of the token or the address.", errors.Throttled(12)),
]


def _path(path: str, name: str, summary: str, description: str, bodies: str, method: str = "post") -> dict[str, Any]:
    """Return an operation by path and method. `bodies` are the schemas of the request and the response."""
    body, response = bodies.split()
    errors = {}
    for meaning, error in _ERRORS:
        example = error_response(Failure(error))
        content = {"schema": _reference("Problem"), "example": problem(example)}
        errors[str(example.status)] = {"description": meaning, "content": {"application/problem+json": content}}
    parameters = [
        {
            "name": parameter,
            "in": "path",
            "required": True,
            "description": f"{parameter.capitalize()}, percent-encoded.",
            "schema": {"type": "string", "minLength": 1},
        }
        for parameter in re.findall(r"{(\w+)}", path)
    ]
    operation: dict[str, Any] = {
        "operationId": name,
        "summary": summary,
        "description": f"{description} Exists with `publish.enabled`.",
        "security": [{"publisher": []}] if path.startswith(("/publish", "/servers/")) else [],
        **({"parameters": parameters} if parameters else {}),
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": _reference(body), "example": _EXAMPLES[body]}},
        },
        "responses": {
            "200": {"description": "Done.", "content": {"application/json": {"schema": _reference(response)}}},
            **errors,
            "default": {
                "description": "Any other error, in the same format.",
                "content": {"application/problem+json": {"schema": _reference("Problem")}},
            },
        },
    }
    return {f"/v0.1{path}": {method: operation}}


def _login(method: str, body: str, proof: str) -> dict[str, Any]:
    about = f"Returns a publisher token for 5 minutes for {proof}. 404 unless the operator has allowed it."
    name = f"login{method.partition('-')[0].capitalize()}"
    return _path(f"/auth/{method}", name, f"Log in by `{method}`", about, f"{body} RegistryToken")


_NAME = "/servers/{name}"

_STATUS = "Deprecates, deletes or restores"

_PATHS: dict[str, Any] = {
    **_path(
        *("/publish", "publish", "Publish a version", "Stores a new version. Versions are immutable."),
        "Publication ServerVersion",
    ),
    **_path(
        *(f"{_NAME}/end-of-life", "setEndOfLife", "Set the end of life"),
        *("Sets or removes the last day of a name, and what replaces it.", "Ending LifeOfName", "put"),
    ),
    **_path(
        *(f"{_NAME}/move", "move", "Move a name"),
        "Moves a name, or a namespace with `/*`. The token must permit the old and the new names.",
        "Move LifeOfName",
    ),
    **_path(
        *(f"{_NAME}/versions/{{version}}/status", "changeStatus", "Change the status of a version"),
        *(f"{_STATUS} a published version.", "StatusChange ServerVersion", "patch"),
    ),
    **_path(
        *(f"{_NAME}/status", "changeAllStatus", "Change the status of all versions"),
        *(f"{_STATUS} all published versions of a name.", "StatusChange StatusChanges", "patch"),
    ),
    **_path(
        *("/validate", "validate", "Validate a document", "Checks a document. Needs no token."),
        "Publication Validation",
    ),
    **_path(
        *("/auth/github-at", "login", "Log in with `mcp-publisher`"),
        "Returns the publisher token that is sent, for `mcp-publisher login github --token`.",
        "Login RegistryToken",
    ),
    **_login("github-oidc", "OidcLogin", "a token of GitHub Actions (`id-token: write`)"),
    **_login("oidc", "OidcLogin", "a token of the issuer that the operator has chosen"),
    **_login("dns", "DomainLogin", "a signature by a key in a TXT record of the domain"),
    **_login("http", "DomainLogin", "a signature by a key in `/.well-known/mcp-registry-auth` of the domain"),
}


PART = OpenApiPart(
    paths=_PATHS,
    schemas=_SCHEMAS,
    security=_SECURITY,
    without_key="the operations of publishers, which need a publisher token",
)
"""Publishing in the OpenAPI document."""
