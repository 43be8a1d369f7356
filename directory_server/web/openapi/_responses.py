"""The answers of the REST door: what each status means there, with an example."""

from __future__ import annotations

from typing import Any

from twisted.python.failure import Failure

from ... import serialization
from ...domain import errors
from ...domain.quota import Allowance
from ..error_responses import error_response, rest_error_body
from ._schemas import TEXT

_EXAMPLES: list[errors.DirectoryError] = [
    errors.BadInput(f"limit: must be 1 to {serialization.MAX_LIMIT}, not {serialization.MAX_LIMIT + 1}."),
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

KEYED = (errors.BadInput, errors.Unauthorized, errors.QuotaExceeded, errors.Throttled, errors.Unavailable)
"""What every door with a key may refuse."""

ALL = (errors.Forbidden,)
"""What every door may refuse."""

_MEANINGS = {
    400: "A parameter is missing, unknown, given twice or not allowed; or a key stands in the URL.",
    401: "There is no valid key (unauthorized), or its quota is spent (rate_limited).",
    403: "The Host is not this server's, or the request comes from a web page of a foreign origin.",
    404: "There is no such entry.",
    410: "The log of changes cannot be read on from since: begin anew.",
    429: "This address tried too many keys that do not open, or the key has reached its limit of open streams.",
    503: "The server cannot answer now.",
}

_HEADERS = {
    "RateLimit-Policy": 'q requests in any w seconds, as in "hour";q=20;w=3600. Of keys that have a limit.',
    "RateLimit": 'r requests are left; one more comes back in t seconds, as in "hour";r=18;t=3599.',
    "X-RateLimit-Limit": "The q of RateLimit-Policy.",
    "X-RateLimit-Remaining": "The r of RateLimit.",
    "X-RateLimit-Reset": "The t of RateLimit: seconds from now.",
    "X-Request-Id": "Names the request in the server's log.",
    "Link": 'Where more follows, the URL of the next page, with rel="next" (RFC 8288).',
    "Retry-After": "Seconds.",
    "WWW-Authenticate": "Which scheme is asked for.",
}


def headers() -> dict[str, Any]:
    """Return the named headers of the description."""
    return {name: {"description": said, "schema": TEXT} for name, said in _HEADERS.items()}


def good(description: str, schema: str, *named: str, example: Any = None, stream: str = "") -> dict[str, Any]:
    """Return an answer with a schema and headers by their names, and as a `stream` if there is one."""
    content: dict[str, Any] = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    if example is not None:
        content["application/json"]["example"] = example
    if stream:
        content["text/event-stream"] = {"schema": TEXT, "example": stream}
    return {"description": description, "headers": _named("X-Request-Id", *named), "content": content}


def refusals(*kinds: type[errors.DirectoryError]) -> dict[str, Any]:
    """Return the answers that refuse for these reasons, by status, with examples by their codes."""
    answers: dict[str, Any] = {}
    for example in _EXAMPLES:
        if isinstance(example, (*kinds, *ALL)):
            refused = error_response(Failure(example))
            answer = answers.setdefault(str(refused.status), _refused(_MEANINGS[refused.status], *refused.headers))
            answer["content"]["application/json"]["examples"][refused.code] = {"value": rest_error_body(refused)}
    answers["default"] = _refused("Any other refusal, in the same form.")
    return answers


def _refused(description: str, *named: str) -> dict[str, Any]:
    content = {"schema": {"$ref": "#/components/schemas/Error"}, "examples": {}}
    return {
        "description": description,
        "headers": _named("X-Request-Id", *named),
        "content": {"application/json": content},
    }


def _named(*names: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
