"""Error responses that HTTP itself needs."""

from __future__ import annotations

from attrs import field, frozen


@frozen
class ErrorResponse:
    """An answer that is not what was asked for: its status, a code for machines, a sentence for people."""

    status: int
    code: str
    message: str
    headers: dict[str, str] = field(factory=dict)


class HttpError(Exception):
    """Refuse what only HTTP knows of; it is answered by `refusal`."""

    def __init__(self, status: int, code: str, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.refusal = ErrorResponse(status, code, message, headers or {})
