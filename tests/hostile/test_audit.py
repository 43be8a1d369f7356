"""Hostile texts in forms, paths and names: audit records are bounded, readable, and without secrets."""

from __future__ import annotations

import json
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.defer import ensureDeferred

from directory_server.domain.audit import MAX_VALUES
from directory_server.feature.server import WRITES
from directory_server.features.audit.chain import verify
from directory_server.features.audit.tables import AuditLog
from directory_server.runtime.run_sync import run_sync
from directory_server.serialization import recorded_values
from directory_server.texts.sanitize import clean_line

from ..web.browsers import Browser
from ..web.browsers import operator as operator
from ..web.browsers import operator_account as operator_account
from ..web.conftest import Server

KEY = "mcpd_" + "A" * 38

NASTY = ("\0", "\x1b[31m", "\u202e", "\r\nSet-Cookie: a=b", "\udc80", '"', "\\", "é", "\U0001f600", KEY, "x" * 5_000)

TEXT = st.lists(st.sampled_from(NASTY) | st.text(max_size=5), max_size=6).map("".join)


@given(st.dictionaries(TEXT | st.sampled_from(["password", "csrf", "client_secret", "api_key"]), TEXT, max_size=40))
def test_values_are_bounded_clean_and_without_secrets(values: dict[str, str]) -> None:
    recorded = recorded_values(values)
    assert len(recorded) <= MAX_VALUES
    assert KEY not in recorded
    found = json.loads(recorded) if recorded else {}
    assert not found.keys() & {"password", "csrf", "client_secret", "api_key"}
    for text in (*found, *found.values()):
        assert clean_line(str(text), 5_000) == text


@pytest.mark.parametrize("server", [{"audit.enabled": True, "audit.reads": "/"}], indirect=True)
def test_hostile_forms_leave_a_whole_chain(server: Server, operator: Browser) -> None:
    operator.get("/admin/keys")
    for nasty in NASTY:
        text = nasty.encode("utf-8", "replace").decode()
        segment = quote(text[:500], safe="")
        operator.post(f"/admin/accounts/{segment}/limit", {"limit": text, "old": "hidden", text: "hidden too"})
        operator.get(f"/admin/keys/{segment}")
        operator.get(f"/admin/audit?{urlencode({'q': text, 'outcome': text, 'day': text, 'after': text})}")
        operator.get(f"/admin/audit/export?{urlencode({'after': text})}")
        server.get(f"/servers/{segment}", headers={"X-Forwarded-For": "x" * 300})
    for write in server.application.server.all(WRITES):
        ensureDeferred(write())
    records = run_sync(AuditLog(server.application.storage.tables).read(0))
    assert len(records) > 3 * len(NASTY)
    assert verify(records, (), b"").problems == []
    for record in records:
        event = record.event
        for value in (event.action, event.target, event.actor.name, event.outcome):
            assert len(value) <= 300
            assert clean_line(value, 300) == value
        assert KEY not in json.dumps(record.values())
        assert '"hidden"' not in event.after
