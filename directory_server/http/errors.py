"""Error responses of the HTTP layer."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen


@frozen
class ErrorResponse:
    """An error response: the status, a code for programs, and a message for people.

    `details` has the path and the message of each invalid member of the body.
    """

    status: int
    code: str
    message: str
    headers: dict[str, str] = field(factory=dict)
    details: Sequence[tuple[str, str]] = ()


class HttpError(Exception):
    """An error that is sent to the client as `response`."""

    def __init__(self, status: int, code: str, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.response = ErrorResponse(status, code, message, headers or {})
