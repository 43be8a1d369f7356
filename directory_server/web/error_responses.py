"""Map exceptions to HTTP error responses: status, code, message and headers."""

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
from ..serialization import ErrorBody
from .responses import empty_response, json_response

REALM = 'Bearer realm="MCP directory"'


_log = Logger()


_STATUS: dict[type[errors.DirectoryError], int] = {
    errors.BadInput: 400,
    errors.Unauthorized: 401,
    # The REST contract uses 401 for an exceeded quota too; the code `rate_limited` tells the two apart.
    errors.QuotaExceeded: 401,
    errors.UnknownPublisher: 401,
    errors.InvalidToken: 401,
    errors.InsufficientScope: 403,
    errors.Forbidden: 403,
    errors.PasswordRefused: 403,
    errors.SignInRefused: 403,
    errors.TooManyAccounts: 403,
    errors.TooManyKeys: 403,
    errors.TooManyRequests: 403,
    errors.NotFound: 404,
    errors.Gone: 410,
    errors.InvalidServer: 422,
    errors.Throttled: 429,
    errors.TooManyStreams: 429,
    errors.Unavailable: 503,
}


def error_response(failure: Failure) -> ErrorResponse:
    """Return the error response for a failed handler. Unexpected errors are logged, and their text is not sent."""
    error = failure.value
    match error:
        case errors.InvalidServer():
            details = [(errors.without_keys(issue.path), errors.without_keys(issue.message)) for issue in error.issues]
            return ErrorResponse(422, error.code, error.message, details=details)
        case errors.DirectoryError():
            return ErrorResponse(_STATUS[type(error)], error.code, error.message, _headers(error))
        case HttpError():
            return error.response
        case routing.MethodNotAllowed():
            allowed = ", ".join(sorted({*(error.valid_methods or ()), "OPTIONS"}))
            return ErrorResponse(
                405, "method_not_allowed", f"Method not allowed. This path supports {allowed}.", {"Allow": allowed}
            )
        case routing.NotFound():
            return ErrorResponse(404, "not_found", "Path not found. The page /docs/protocol/endpoints lists all paths.")
        case routing.HTTPException():
            return ErrorResponse(error.code or 400, "bad_request", "Invalid request.")
        case CancelledError():
            return ErrorResponse(503, "unavailable", "The request was cancelled.")
        case _:
            _log.failure("Unexpected error in a request handler", failure=failure)
            return ErrorResponse(500, "internal_error", "Internal server error. The server log has details.")


def note_error(request: Request, code: str) -> None:
    """Record the code of an error in the response to `request`, for the access log and the metrics.

    The status is not enough: JSON-RPC errors have status 200, and a batch may contain several.
    """
    request.errors = (*request.errors, code)


def respond_with_error(
    request: Request, failure: Failure, body: Callable[[ErrorResponse], Any], media_type: str = "application/json"
) -> bytes:
    """Set status and headers of the response to a failed request, and return its body in the format of `body`."""
    error = error_response(failure)
    note_error(request, error.code)
    if error.status == 405 and request.method == b"OPTIONS":
        return empty_response(request, 204, **error.headers)
    return json_response(request, body(error), error.status, **{"Content-Type": media_type, **error.headers})


def rest_error_body(error: ErrorResponse) -> ErrorBody:
    return ErrorBody(error.code, error.message)


def problem(error: ErrorResponse) -> dict[str, Any]:
    """Return the body of an error response as a problem (RFC 9457)."""
    errors = [{"location": f"body.{path}" if path else "body", "message": message} for path, message in error.details]
    return {"title": error.code, "status": error.status, "detail": error.message} | (
        {"errors": errors} if errors else {}
    )


def _headers(error: errors.DirectoryError) -> dict[str, str]:
    match error:
        case errors.NoAccess():
            return {"WWW-Authenticate": error.challenge or REALM}
        case errors.QuotaExceeded():
            return {"WWW-Authenticate": REALM}
        case errors.Throttled() | errors.Unavailable():
            return {"Retry-After": str(error.retry_after)}
        case _:
            return {}
