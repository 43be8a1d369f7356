"""Operations of publishers in the OpenAPI document."""

from __future__ import annotations

from typing import Any

from twisted.python.failure import Failure

from ...domain import errors
from ...domain.entries import MAX_NAME, MAX_VERSION
from ...domain.shapes import Issue
from ...serialization import Schema
from ...web.error_responses import error_response
from ...web.openapi import OpenApiPart
from ...web.registry import problem
from .documents import MAX_MESSAGE, STATUSES
from .server_json import SCHEMAS

TEXT: Schema = {"type": "string"}

_SECURITY = {
    "publisher": {
        "type": "http",
        "scheme": "bearer",
        "description": "Publisher token (`mcpp_…`), issued by the operator for namespaces.",
    }
}
"""The security scheme of these operations."""

_SERVER = {
    "type": "object",
    "description": f"A server.json of the schema {SCHEMAS[0]}.",
    "properties": {
        "name": {**TEXT, "description": "Namespace and name.", "minLength": 3, "maxLength": MAX_NAME},
        "description": {**TEXT, "description": "What the server does.", "minLength": 1, "maxLength": 100},
        "version": {**TEXT, "description": "One version, not a range.", "minLength": 1, "maxLength": MAX_VERSION},
    },
    "required": ["name", "description", "version"],
}

_EXAMPLES = {
    "Server": {"name": "io.acme/weather", "description": "Forecasts.", "version": "1.0.0"},
    "StatusChange": {"status": "deprecated"},
    "Login": {"github_token": "mcpp_" + "x" * 38},
    "OidcLogin": {"oidc_token": "eyJ….eyJ….…"},
    "DomainLogin": {"domain": "acme.io", "timestamp": "2026-01-31T12:00:00Z", "signed_timestamp": "0a" * 64},
}
"""A body of each schema of requests."""

_SCHEMAS: dict[str, Schema] = {
    "Server": _SERVER,
    "ServerVersion": {
        "type": "object",
        "properties": {
            "server": {"$ref": "#/components/schemas/Server"},
            "_meta": {"type": "object", "description": "Status, dates and whether it is the latest version."},
        },
        "required": ["server", "_meta"],
    },
    "StatusChange": {
        "type": "object",
        "properties": {
            "status": {**TEXT, "description": "The new status.", "enum": list(STATUSES)},
            "statusMessage": {**TEXT, "description": "The reason; absent for `active`.", "maxLength": MAX_MESSAGE},
        },
        "required": ["status"],
        "additionalProperties": False,
    },
    "StatusChanges": {
        "type": "object",
        "properties": {
            "updatedCount": {"type": "integer", "description": "Number of versions that changed."},
            "servers": {
                "type": "array",
                "items": {"$ref": "#/components/schemas/ServerVersion"},
                "description": "These versions, the first 1 MB of them.",
            },
        },
        "required": ["updatedCount", "servers"],
    },
    "Validation": {
        "type": "object",
        "properties": {
            "valid": {"type": "boolean", "description": "Whether the document can be published."},
            "issues": {"type": "array", "items": {"$ref": "#/components/schemas/Issue"}, "description": "The errors."},
        },
        "required": ["valid", "issues"],
    },
    "Issue": {
        "type": "object",
        "properties": {
            "type": {**TEXT, "description": "Always `schema`."},
            "path": {**TEXT, "description": "The member, such as `packages[0].version`."},
            "message": {**TEXT, "description": "What is allowed."},
            "severity": {**TEXT, "description": "Always `error`."},
            "reference": {**TEXT, "description": "Empty."},
        },
        "required": ["path", "message"],
    },
    "Login": {
        "type": "object",
        "properties": {"github_token": {**TEXT, "description": "A publisher token, not one of GitHub."}},
        "required": ["github_token"],
        "additionalProperties": False,
    },
    "OidcLogin": {
        "type": "object",
        "properties": {"oidc_token": {**TEXT, "description": "A signed token (JWT).", "minLength": 1}},
        "required": ["oidc_token"],
        "additionalProperties": False,
    },
    "DomainLogin": {
        "type": "object",
        "properties": {
            "domain": {**TEXT, "description": "The domain, such as `acme.io`.", "maxLength": 190},
            "timestamp": {**TEXT, "description": "The time (RFC 3339), within 15 seconds of that of the server."},
            "signed_timestamp": {
                **TEXT,
                "description": "The signature of this text in hexadecimal, by Ed25519 or ECDSA P-384 with SHA-384.",
            },
        },
        "required": ["domain", "timestamp", "signed_timestamp"],
        "additionalProperties": False,
    },
    "RegistryToken": {
        "type": "object",
        "properties": {
            "registry_token": {**TEXT, "description": "A publisher token; of `github-at` the same one."},
            "expires_at": {"type": "integer", "description": "When it ends, in seconds since the epoch; 0 for never."},
        },
        "required": ["registry_token", "expires_at"],
    },
    "Problem": {
        "type": "object",
        "properties": {
            "title": {**TEXT, "description": "The error code."},
            "status": {"type": "integer", "description": "The HTTP status."},
            "detail": {**TEXT, "description": "A sentence for people."},
            "errors": {
                "type": "array",
                "items": {"type": "object", "required": ["location", "message"]},
                "description": "Each invalid member of the body.",
            },
        },
        "required": ["title", "status", "detail"],
    },
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


def _paths() -> dict[str, Any]:
    """Return the path items of publishing."""
    schema = {**TEXT, "minLength": 1}
    name = {"name": "name", "in": "path", "required": True, "description": "Name, percent-encoded.", "schema": schema}
    version = {**name, "name": "version", "description": "Version, percent-encoded."}
    return {
        "/v0.1/publish": {
            "post": _operation(
                "publish",
                "Publish a version",
                "Stores a new version. Versions are immutable.",
                "Server",
                "ServerVersion",
            )
        },
        "/v0.1/servers/{name}/versions/{version}/status": {
            "patch": _operation(
                "changeStatus",
                "Change the status of a version",
                "Deprecates, deletes or restores a published version.",
                "StatusChange",
                "ServerVersion",
                parameters=[name, version],
            )
        },
        "/v0.1/servers/{name}/status": {
            "patch": _operation(
                "changeAllStatus",
                "Change the status of all versions",
                "Deprecates, deletes or restores all published versions of a name.",
                "StatusChange",
                "StatusChanges",
                parameters=[name],
            )
        },
        "/v0.1/validate": {
            "post": _operation(
                "validate",
                "Validate a document",
                "Checks a server.json. Needs no token.",
                "Server",
                "Validation",
                open_=True,
            )
        },
        "/v0.1/auth/github-at": {
            "post": _operation(
                "login",
                "Log in with `mcp-publisher`",
                "Returns the publisher token that is sent, for `mcp-publisher login github --token`.",
                "Login",
                "RegistryToken",
                open_=True,
            )
        },
        **{f"/v0.1/auth/{method}": _login(method, *login) for method, login in _LOGINS.items()},
    }


_LOGINS = {
    "github-oidc": ("Github", "OidcLogin", "a token of GitHub Actions (`id-token: write`)"),
    "oidc": ("Oidc", "OidcLogin", "a token of the issuer that the operator has chosen"),
    "dns": ("Dns", "DomainLogin", "a signature by a key in a TXT record of the domain"),
    "http": ("Http", "DomainLogin", "a signature by a key in `/.well-known/mcp-registry-auth` of the domain"),
}
"""Of each login without a publisher token: a part of the name of its operation, its body, and what proves it."""


def _login(method: str, name: str, body: str, proof: str) -> dict[str, Any]:
    """Return the path item of a login."""
    description = f"Returns a publisher token for 5 minutes for {proof}. 404 unless the operator has allowed it."
    return {"post": _operation(f"login{name}", f"Log in by `{method}`", description, body, "RegistryToken", open_=True)}


def _operation(
    name: str,
    summary: str,
    description: str,
    body: str,
    response: str,
    *,
    parameters: list[dict[str, Any]] | None = None,
    open_: bool = False,
) -> dict[str, Any]:
    content = {**_content(body), "example": _EXAMPLES[body]}
    return {
        "operationId": name,
        "summary": summary,
        "description": f"{description} Exists with `publish.enabled`.",
        "security": [] if open_ else [{"publisher": []}],
        **({"parameters": parameters} if parameters else {}),
        "requestBody": {
            "required": True,
            "content": {"application/json": content},
        },
        "responses": {
            "200": {"description": "Done.", "content": {"application/json": _content(response)}},
            **{
                str(found.status): {
                    "description": meaning,
                    "content": {"application/problem+json": {**_content("Problem"), "example": problem(found)}},
                }
                for meaning, found in ((meaning, error_response(Failure(error))) for meaning, error in _ERRORS)
            },
            "default": {
                "description": "Any other error, in the same format.",
                "content": {"application/problem+json": _content("Problem")},
            },
        },
    }


def _content(schema: str) -> dict[str, Any]:
    return {"schema": {"$ref": f"#/components/schemas/{schema}"}}


PART = OpenApiPart(
    paths=_paths(),
    schemas=_SCHEMAS,
    security=_SECURITY,
    without_key="the operations of publishers, which need a publisher token",
)
"""Publishing in the OpenAPI document."""
