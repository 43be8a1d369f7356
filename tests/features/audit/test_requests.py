"""Actions of requests in the audit log: who, what, before and after, and never a secret."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from attrs import astuple
from twisted.logger import capturedLogs, formatEvent

from directory_server.domain.audit import Actor, AuditEvent
from directory_server.domain.errors import Unavailable
from directory_server.feature import server as registering
from directory_server.features.audit.chain import AuditRecord, verify
from directory_server.features.audit.head_file import read_head
from directory_server.features.audit.service import FLUSH, run
from directory_server.features.audit.settings import UPKEEP, AuditConfig
from directory_server.features.audit.tables import DELETED, AuditLog
from directory_server.features.audit.web import sentence
from directory_server.runtime.run_sync import inline, run_sync

from ...web.browsers import Browser
from ...web.conftest import POSTGRES, POSTGRES_ID, Server, configured, open_server

SETTINGS = {"audit.enabled": True}

enabled = pytest.mark.parametrize("server", [SETTINGS], indirect=True)


def log_of(server: Server) -> AuditLog:
    return AuditLog(server.application.storage.tables)


def records_of(server: Server) -> Sequence[AuditRecord]:
    return run_sync(log_of(server).read(0))


def last(server: Server) -> AuditRecord:
    return records_of(server)[-1]


@enabled
def test_an_operator_changes_the_limit_of_a_key(server: Server, operator: Browser) -> None:
    operator.get(f"/admin/keys/{server.key_id}")
    response = operator.post(f"/admin/keys/{server.key_id}/limit", {"limit": "77"})
    event = last(server).event
    assert (event.actor.kind, event.actor.name) == ("account", "operator@example.org")
    assert event.actor.network == "127.0.0.0/24"
    assert (event.action, event.target) == ("POST /admin/keys/{record_id}/limit", f"record_id={server.key_id}")
    before, after = json.loads(event.before), json.loads(event.after)
    assert (before.pop("limit"), after.pop("limit")) == (20, 77)
    assert before == after
    assert event.request_id == response.headers["X-Request-Id"]
    assert event.outcome == "done"


@enabled
def test_a_rejected_form_has_the_error_as_outcome(server: Server, operator: Browser) -> None:
    operator.get(f"/admin/keys/{server.key_id}")
    operator.post(f"/admin/keys/{server.key_id}/limit", {"limit": "none"})
    event = last(server).event
    assert event.outcome == "limit_wrong"
    assert json.loads(event.after) == {"limit": "none"}


@enabled
def test_curation_has_the_flags_before_and_after(server: Server, operator: Browser) -> None:
    operator.get(f"/servers/{POSTGRES_ID}")
    operator.post("/admin/entry/mark", {"name": POSTGRES.name, "mark": "hidden", "on": "yes"})
    event = last(server).event
    assert (json.loads(event.before)["hidden"], json.loads(event.after)["hidden"]) == (False, True)


@enabled
def test_a_member_creates_a_key_and_no_secret_is_recorded(server: Server, member: Browser) -> None:
    member.get("/account/keys")
    member.follow(member.post("/account/keys", {"label": "laptop", "expires": "30"}))
    secret = next(word for word in member.page.replace('"', " ").replace("<", " ").split() if word.startswith("mcpd_"))
    event = last(server).event
    assert event.action == "POST /account/keys"
    assert json.loads(event.after)["label"] == "laptop"
    member.get("/account/password")
    member.post("/account/password", {"old": "a wrong old password", "password": "a new password of words"})
    assert last(server).event.outcome == "password_wrong" or last(server).event.outcome == "password_refused"
    everything = json.dumps([record.values() for record in records_of(server)])
    for hidden in (secret, "a wrong old password", "a new password of words", "csrf"):
        assert hidden not in everything


@enabled
def test_sign_ins_are_recorded_with_the_address(server: Server, browser: Browser) -> None:
    browser.get("/account/sign-in")
    browser.post("/account/sign-in", {"email": "ann@example.org", "password": "not the password"})
    event = last(server).event
    assert (event.actor.kind, event.action) == ("anonymous", "POST /account/sign-in")
    assert json.loads(event.after)["email"] == "ann@example.org"
    assert event.outcome not in ("", "done")


@enabled
def test_requests_without_session_or_token_are_not_recorded(server: Server, browser: Browser) -> None:
    body, form = b"csrf=x&limit=5", {"Content-Type": "application/x-www-form-urlencoded"}
    server.request("POST", f"/admin/keys/{server.key_id}/limit", body=body, headers=form)
    server.request("POST", "/account/sign-in", body=body, headers=form)
    browser.get("/account/keys")
    server.get("/api/open/v1/search?keywords=postgres")
    assert records_of(server) == []


@pytest.mark.parametrize("server", [{"audit.enabled": True, "publish.enabled": True}], indirect=True)
def test_a_publisher_is_recorded_with_the_token(server: Server) -> None:
    token, secret = run_sync(server.publishers.create("ci", ["io.acme/*"], expires_at=None))
    document = {"name": "io.acme/weather", "description": "Forecasts.", "version": "1.0.0"}
    document["$schema"] = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {secret}"}
    for outcome in ("done", "version_exists"):
        server.request("POST", "/v0.1/publish", key=None, body=json.dumps(document).encode(), headers=headers)
        event = last(server).event
        assert (event.actor.kind, event.actor.id, event.actor.name) == ("publisher", token.id, "ci")
        assert (event.target, json.loads(event.after)) == ("name=io.acme/weather", {"version": "1.0.0"})
        assert event.outcome == outcome
    assert secret not in json.dumps([record.values() for record in records_of(server)])


@enabled
def test_nothing_is_done_if_the_log_cannot_be_written(
    server: Server, operator: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> str:
        raise Unavailable("no disk")

    operator.get(f"/admin/keys/{server.key_id}")
    monkeypatch.setattr(AuditLog, "begin", fail)
    assert operator.post(f"/admin/keys/{server.key_id}/limit", {"limit": "77"}).status == 503
    assert [key.limit for key in run_sync(server.keys.list()) if key.id == server.key_id] == [20]


@pytest.mark.parametrize(
    "server", [{"audit.enabled": True, "audit.reads": ["/admin", "/api/open/v1/entries"]}], indirect=True
)
def test_reads_are_recorded_where_the_operator_asks_for_it(server: Server, operator: Browser) -> None:
    operator.get("/admin/keys")
    server.get(f"/api/open/v1/entries/{POSTGRES_ID}")
    server.get("/api/open/v1/search?keywords=postgres")
    assert [each for each in records_of(server) if each.event.action.startswith("GET")] == []
    run_sync(server.application.write_counts())
    reads = [each.event for each in records_of(server) if each.event.action.startswith("GET")]
    assert [(event.action, event.actor.kind, event.actor.key_id) for event in reads[-2:]] == [
        ("GET /admin/keys", "account", ""),
        ("GET /api/open/v1/entries/{mcp_id}", "key", server.key_id),
    ]
    assert reads[-1].target == f"mcp_id={POSTGRES_ID}"
    assert verify(records_of(server), (), b"").problems == []
    assert FLUSH > 0


@enabled
def test_operators_filter_and_download_the_log(server: Server, operator: Browser) -> None:
    operator.get(f"/admin/keys/{server.key_id}")
    operator.post(f"/admin/keys/{server.key_id}/limit", {"limit": "77"})
    operator.post(f"/admin/keys/{server.key_id}/limit", {"limit": "<script>alert(1)</script>"})
    operator.get("/admin/audit?q=limit")
    assert operator.text.count("operator@example.org set the limit of the API key") == 2
    assert operator.text.count("POST /admin/keys/{record_id}/limit") == 2
    assert "<script>alert" not in operator.page
    operator.get("/admin/audit?q=limit&outcome=failed")
    assert operator.text.count("POST /admin/keys/{record_id}/limit") == 1
    operator.get("/admin/audit?day=1970-01-01&q=%00&after=x")
    assert "No record matches." in operator.text
    lines = operator.get("/admin/audit/export").body.splitlines()
    exported: list[dict[str, Any]] = [json.loads(line) for line in lines]
    assert [line["number"] for line in exported] == [*range(1, len(lines) + 1)]
    assert exported[-1]["subject"]["name"] == "operator@example.org"
    assert exported[-1]["hash"] == last(server).hash


@pytest.mark.parametrize(
    ("action", "target", "values", "expected"),
    [
        ("POST /admin/lists", "", '{"name":"data"}', ("create", "lists", "data", "")),
        ("POST /admin/lists/{record_id}/pick", "record_id=data", "", ("pick", "lists", "data", "")),
        (
            "POST /account/requests/{request_id}/{action}",
            "request_id=7hnk action=approve",
            '{"list":"data","entry":"ai.exa/exa","state":"approved"}',
            ("approve", "requests", "ai.exa/exa", "data"),
        ),
        (
            "POST /admin/webhooks/{record_id}/test",
            "record_id=1",
            '{"label":"Chat","list":7',
            ("test", "webhooks", "1", ""),
        ),
        ("POST /admin/webhooks", "", '{"label":"Chat","list":["x"]}', ("create", "webhooks", "Chat", "")),
        ("POST /admin/webhooks", "", "[]", ("create", "webhooks", "", "")),
        ("POST /account/register", "", '{"email":"a@b.c"}', ("create", "register", "a@b.c", "")),
        ("POST /account/invitation/{token}", "", '{"email":"a@b.c"}', ("create", "invitation", "a@b.c", "")),
        ("POST /v0.1/publish", "name=a/b", "", ("publish", "entry", "a/b", "")),
        ("PATCH /v0.1/servers/*/versions/{version}/status", "name=a/b", "", ("status", "entry", "a/b", "")),
        *((action, "", "", None) for action in ("reads not recorded", "GET /admin/keys", "POST /admin", "")),
    ],
)
def test_an_action_is_a_sentence(action: str, target: str, values: str, expected: tuple[str, ...] | None) -> None:
    found = sentence(AuditEvent(0.0, Actor("account"), action, target=target, after=values))
    assert (astuple(found)[:4] if found else None) == expected


def test_a_sentence_has_what_was_changed() -> None:
    before, after = (
        '{"hidden":false,"limit":20,"groups":["a"],"name":"x"}',
        '{"hidden":true,"limit":500,"groups":[],"b":1}',
    )
    found = sentence(AuditEvent(0.0, Actor("account"), "POST /admin/entry/mark", before=before, after=after))
    assert found is not None
    assert found.changes == [("hidden", "no", "yes"), ("limit", "20", "500")]


def test_a_command_is_a_sentence(server: Server, operator: Browser) -> None:
    event = AuditEvent(0.0, Actor("command", name="root"), "account add", after='{"email":"ann@example.org"}')
    run_sync(log_of(server).add(event))
    operator.get("/admin/audit?q=root")
    assert "root ran the command account add ann@example.org" in " ".join(operator.text.split())


def test_somebody_without_a_session_has_a_sentence(server: Server, operator: Browser) -> None:
    event = AuditEvent(0.0, Actor("anonymous"), "POST /account/register", after='{"email":"ann@example.org"}')
    run_sync(log_of(server).add(event))
    operator.get("/admin/audit?q=register")
    assert "Somebody registered the account ann@example.org" in " ".join(operator.text.split())


def test_a_server_writes_the_head_to_a_file_and_to_its_log(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"k" * 32)
    settings = {**SETTINGS, "audit.key_file": str(tmp_path / "key"), "audit.keep": 30 * 86_400.0}
    with open_server(tmp_path, settings) as server, capturedLogs() as events:
        log, clock = log_of(server), server.clock
        storage, config = server.application.storage, configured(tmp_path, settings)
        registered = registering.Server(config, storage, clock, clock.seconds, inline, Mock(), None, {})
        run(registered)
        services, path = registered.all(registering.SERVICES), config.of(AuditConfig).head_path(config.data_dir)
        for service in services:
            service.startService()
        for number in (1, 2):
            run_sync(log.add(AuditEvent(clock.seconds(), Actor("command"), "key create", outcome="done")))
            clock.advance(FLUSH)
            head = read_head(path)
            assert head == run_sync(log.head(clock.seconds(), b"k" * 32))
            assert head is not None
            assert head.number == number
        clock.advance(UPKEEP)
        head, checkpoints = read_head(path), run_sync(log.checkpoints())
        assert head is not None
        assert checkpoints[-1].is_signed(b"k" * 32)
        assert (checkpoints[-1].number, checkpoints[-1].at) == (2, round(clock.seconds() * 1_000))
        lines = [formatEvent(event) for event in events]
        assert f"Head of the audit log: 2:{head.hash}:{checkpoints[-1].at}:{checkpoints[-1].signature}" in lines
        # Every few minutes there is something to delete; that is a record, too.
        clock.advance(40 * 86_400.0)
        assert records_of(server)[-1].event.action == DELETED
        for service in services:
            service.stopService()


def test_without_the_setting_nothing_is_recorded(server: Server, operator: Browser) -> None:
    operator.get(f"/admin/keys/{server.key_id}")
    operator.post(f"/admin/keys/{server.key_id}/limit", {"limit": "77"})
    assert records_of(server) == []
    operator.get("/admin/audit")
    assert "audit.enabled" in operator.text
