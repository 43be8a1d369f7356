"""What the tests of operator pages share."""

from __future__ import annotations

from typing import Any

from ...web.conftest import Server

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;{{7*7}}"

MAX_BYTES = 30_000


def hits(server: Server, keywords: str) -> list[Any]:
    found: list[Any] = server.get(f"/api/open/v1/search?keywords={keywords}").json["data"]
    return found
