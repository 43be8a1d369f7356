"""The response that the clients of tests return."""

from __future__ import annotations

import json
from http.client import HTTPMessage
from typing import Any

from attrs import frozen


@frozen
class Response:
    """A complete response."""

    status: int
    headers: HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)
