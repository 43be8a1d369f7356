"""The messages of notices are the same in the API and in docs/protocol.md. The English pages read them from there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from directory_server.client_config import REASONS, WARNINGS

PROTOCOL = Path(__file__).parents[2] / "docs" / "protocol.md"


@pytest.mark.parametrize(("header", "messages"), [("`unavailable.code`", REASONS), ("`warnings[].code`", WARNINGS)])
def test_the_documentation_has_the_messages(header: str, messages: Mapping[str, str]) -> None:
    table = PROTOCOL.read_text("utf-8").partition(f"| {header} |")[2].partition("\n\n")[0]
    documented = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.MULTILINE))
    assert documented == {code: message.replace("{subject}", "…") for code, message in messages.items()}
