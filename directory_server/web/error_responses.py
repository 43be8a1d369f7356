"""Exceptions to responses: the one table of HTTP statuses and their headers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twisted.internet.defer import CancelledError
from twisted.logger import Logger
from twisted.python.failure import Failure
from werkzeug import exceptions as routing

from ..domain import errors
from ..http import Request
from ..http.errors import ErrorResponse, HttpError
from .responses import empty_response, json_response

REALM = 'Bearer realm="MCP directory"'


_log = Logger()


_STATUS: dict[type[errors.DirectoryError], int] = {
    errors.BadInput: 400,
    errors.Unauthorized: 401,
    # The REST contract says 401 for a spent quota, too; the code tells it from a bad key.
    errors.QuotaExceeded: 401,
    errors.Forbidden: 403,
    errors.SignInRefused: 403,
    errors.TooManyAccounts: 403,
    errors.TooManyKeys: 403,
    errors.NotFound: 404,
    errors.Gone: 410,
    errors.Throttled: 429,
    errors.TooManyStreams: 429,
    errors.Unavailable: 503,
}


def error_response(failure: Failure) -> ErrorResponse:
    """Return the refusal that a failed handler amounts to; what nobody foresaw is logged and stays opaque."""
    error = failure.value
    match error:
        case errors.DirectoryError():
            return ErrorResponse(_STATUS[type(error)], error.code, error.message, _headers(error))
        case HttpError():
            return error.refusal
        case routing.MethodNotAllowed():
            allowed = ", ".join(sorted({*(error.valid_methods or ()), "OPTIONS"}))
            return ErrorResponse(
                405, "method_not_allowed", f"This path answers {allowed} and nothing else.", {"Allow": allowed}
            )
        case routing.NotFound():
            return ErrorResponse(
                404, "not_found", "There is nothing at this path; docs/protocol.md lists those that exist."
            )
        case routing.HTTPException():
            return ErrorResponse(error.code or 400, "bad_request", "The request cannot be understood.")
        case CancelledError():
            return ErrorResponse(503, "unavailable", "The request was given up.")
        case _:
            _log.failure("A request failed in a way that nobody foresaw", failure=failure)
            return ErrorResponse(500, "internal_error", "The server failed; its log says how.")


def note_error(request: Request, code: str) -> None:
    """Note the code of an error that the answer to `request` has, for the access log and the metrics.

    A status does not say it: JSON-RPC has errors in answers with 200, and a batch several of them.
    """
    request.errors = (*request.errors, code)


def respond_with_error(request: Request, failure: Failure, body: Callable[[ErrorResponse], Any]) -> bytes:
    """Set the head of the answer to a request whose handler failed, and return its body in the form `body` gives."""
    refused = error_response(failure)
    note_error(request, refused.code)
    if refused.status == 405 and request.method == b"OPTIONS":
        return empty_response(request, 204, **refused.headers)
    return json_response(request, body(refused), refused.status, **refused.headers)


def rest_error_body(refused: ErrorResponse) -> dict[str, str]:
    """Return the body of a refusal on the REST doors."""
    return {"error": refused.code, "message": refused.message}


def _headers(error: errors.DirectoryError) -> dict[str, str]:
    match error:
        case errors.Unauthorized() | errors.QuotaExceeded():
            return {"WWW-Authenticate": REALM}
        case errors.Throttled():
            return {"Retry-After": str(error.retry_after)}
        case errors.Unavailable():
            return {"Retry-After": "1"}
        case _:
            return {}
