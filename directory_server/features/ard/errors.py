"""The API of ARD for the tree of routes, and its error responses."""

from __future__ import annotations

from typing import Any

from ...http.errors import ErrorResponse
from ...web.routes import Api

_CODES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RATE_LIMIT_EXCEEDED"}
"""The codes of errors by status (ARD v0.9, appendix B). Other statuses of the server have INTERNAL_ERROR."""


def error_body(error: ErrorResponse) -> dict[str, Any]:
    """Return the body of an error response of ARD."""
    code = _CODES.get(error.status, "INTERNAL_ERROR" if error.status >= 500 else "INVALID_ARGUMENT")
    return {"errorCode": code, "message": error.message}


ARD = Api("ARD", error_body, any_origin="write")
