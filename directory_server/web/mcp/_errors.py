"""Errors of the MCP endpoint: JSON-RPC codes and HTTP statuses, and its API for the tree of routes."""

from __future__ import annotations

from typing import Any

from ...domain.errors import without_keys
from ...http.errors import ErrorResponse
from ...serialization import Id
from ..routes import Api

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022


class RpcError(Exception):
    """JSON-RPC error (JSON-RPC 2.0, section 5.1), sent with an HTTP status."""

    def __init__(self, code: int, message: str, *, status: int = 200, data: Any = None) -> None:
        self.message = without_keys(message)
        super().__init__(self.message)
        self.code = code
        self.status = status
        self.data = data

    @property
    def name(self) -> str:
        """The error code for the access log: the REST API's code if the data has one."""
        code = self.data.get("error") if isinstance(self.data, dict) else None
        return code if isinstance(code, str) else _NAMES[self.code]

    def response(self, identity: Id | None) -> dict[str, Any]:
        return error_object(self.code, self.message, identity, self.data)


_NAMES = {
    PARSE_ERROR: "parse_error",
    INVALID_REQUEST: "invalid_request",
    METHOD_NOT_FOUND: "method_not_found",
    INVALID_PARAMS: "invalid_params",
    INTERNAL_ERROR: "internal_error",
    RESOURCE_NOT_FOUND: "not_found",
    HEADER_MISMATCH: "header_mismatch",
    UNSUPPORTED_VERSION: "unsupported_version",
}
"""Names of the codes in the access log and the metrics."""


def error_object(code: int, message: str, identity: Id | None, data: Any = None) -> dict[str, Any]:
    """Return a JSON-RPC error response.

    An unknown id is sent as null: without the field, some clients do not show the message.
    """
    error = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": identity, "error": error}


def rpc_code(error: ErrorResponse) -> int:
    """Return the JSON-RPC code of an HTTP error response."""
    match error:
        case ErrorResponse(code="parse_error"):
            return PARSE_ERROR
        case ErrorResponse(status=500 | 503):
            return INTERNAL_ERROR
        case _:
            return INVALID_REQUEST


def rpc_body(error: ErrorResponse, identity: Id | None = None) -> dict[str, Any]:
    """Return the JSON-RPC body of an error response; `error` in its data is the error code of the REST API."""
    return error_object(rpc_code(error), error.message, identity, {"error": error.code})


MCP = Api("MCP", rpc_body)
