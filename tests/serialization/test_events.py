"""Events of the change feed as SSE and JSON."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server import serialization
from directory_server.domain.changes import Change, ChangeKind
from directory_server.domain.entries import Entry, mcp_id_of

LOG = "0c9f1e22ab34"

HOSTILE = [
    "\r",
    "\n",
    "\r\n",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x85",
    "\u2028",
    "\u2029",
    "\n\nevent: entry.removed\ndata: {}\n\n",
    "\0",
]
TEXTS = st.lists(st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)).map("".join)


def read(event: bytes) -> dict[str, str]:
    """Return the fields of an event for a reader that accepts every line end of Unicode."""
    *lines, blank, end = re.split("\r\n|[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", event.decode())
    assert (blank, end) == ("", "")
    assert "" not in lines
    fields = dict(line.split(": ", 1) for line in lines)
    assert len(fields) == len(lines)
    return fields


def change(kind: ChangeKind, name: str = "x/y", **server: Any) -> Change:
    entry = None if kind == "removed" else Entry({"name": name, "version": "1", "description": "It rains.", **server})
    return Change(7, kind, mcp_id_of(name), None if entry is None else serialization.encode_entry(entry), None)


@given(TEXTS, TEXTS, TEXTS)
def test_text_cannot_break_an_event(title: str, brief: str, website: str) -> None:
    fields = read(
        serialization.change_event(change("added", title=title or "x", description=brief, websiteUrl=website), LOG)
    )
    assert set(fields) == {"id", "event", "data"}
    # Control characters in the title or the description are marked.
    assert json.loads(fields["data"]).keys() - {"flags"} == {"mcp_id", "name", "brief", "website_url"}


@pytest.mark.parametrize("end", HOSTILE)
def test_each_line_end_is_escaped(end: str) -> None:
    event = serialization.event({"id": end}, name="message")
    assert json.loads(read(event)["data"]) == {"id": end}
