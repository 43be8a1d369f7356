"""The messages of notices are the same in the API, in docs/protocol.md and on the English pages."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

import directory_server
from directory_server.client_config import REASONS, WARNINGS

PROTOCOL = Path(__file__).parents[2] / "docs" / "protocol.md"
TEXTS = Path(directory_server.__file__).parent / "web" / "pages" / "texts" / "en.toml"

_QUOTES = str.maketrans({"“": '"', "”": '"', "’": "'"})


@pytest.mark.parametrize(("header", "messages"), [("`unavailable.code`", REASONS), ("`warnings[].code`", WARNINGS)])
def test_the_documentation_has_the_messages(header: str, messages: Mapping[str, str]) -> None:
    table = PROTOCOL.read_text("utf-8").partition(f"| {header} |")[2].partition("\n\n")[0]
    documented = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.MULTILINE))
    assert documented == {code: message.replace("{subject}", "…") for code, message in messages.items()}


@pytest.mark.parametrize(("table", "messages"), [("reason", REASONS), ("warning", WARNINGS)])
def test_the_pages_have_the_messages_with_typographic_quotes(table: str, messages: Mapping[str, str]) -> None:
    texts = tomllib.loads(TEXTS.read_text("utf-8"))[table]
    assert {code: text.translate(_QUOTES) for code, text in texts.items()} == messages
