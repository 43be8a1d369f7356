"""Operator pages: overview, unknown objects, hostile texts and sizes."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import cast
from urllib.parse import quote

import pytest
from attrs import evolve
from twisted.logger import Logger

from directory_server import __version__
from directory_server.config import Config, describe
from directory_server.domain.accounts import Account
from directory_server.domain.work import BACKUP
from directory_server.feature.server import SERVICES
from directory_server.features.operators.web import BACKUP_AGE, DAY, RecentErrors, _expiry, _open_settings
from directory_server.runtime.run_sync import run_sync

from ...process._certificates import certificate
from ...web.browsers import OPERATOR, Browser, rename
from ...web.conftest import POSTGRES, Server
from ._pages import HOSTILE, MAX_BYTES


def test_overview_shows_the_server(server: Server, operator: Browser) -> None:
    operator.get("/admin")
    assert f"Version {__version__}" in operator.text
    assert "Entries 2" in operator.text
    assert "Open streams of keys 0" in operator.text
    stream = server.open("GET", "/api/open/v1/changes", headers={"Accept": "text/event-stream"})
    operator.get("/admin")
    assert "Open streams of keys 1" in operator.text
    stream.close()


def test_each_page_of_a_tab_marks_it(server: Server, operator: Browser) -> None:
    operator.get("/admin")
    tabs = set(re.findall(r'<a href="(/admin/[a-z-]+)">', operator.page))
    assert len(tabs) > 8
    for tab in tabs:
        operator.get(tab)
        assert f'<a href="{tab}" aria-current="page">' in operator.page
        # The link that skips the header skips the tabs, too.
        assert 'href="#page"' in operator.page
        assert 'id="page"' in operator.page
    for path, tab in ((f"entry?name={POSTGRES.name}", "entries"), (f"keys/{server.key_id}", "keys")):
        operator.get(f"/admin/{path}")
        assert f'<a href="/admin/{tab}" aria-current="true">' in operator.page


@pytest.mark.parametrize("path", ["/admin/accounts/nosuchid", "/admin/keys/nosuchid", "/admin/entry?name=nothing"])
def test_unknown_objects_are_not_found(operator: Browser, path: str) -> None:
    assert operator.get(path).status == 404


def test_hostile_texts_of_accounts_and_keys_are_escaped(server: Server, operator: Browser) -> None:
    mallory = run_sync(server.accounts.register("mallory@example.org", "hash", most=5))
    rename(server, mallory.email, "<img/src=x>@example.org")
    key, _ = run_sync(server.keys.create(HOSTILE[:90], limit=20, expires_at=None, owner=mallory.id))
    paths = [
        "/admin/accounts",
        f"/admin/accounts/{mallory.id}",
        f"/admin/accounts/{mallory.id}/disable",
        "/admin/keys",
        f"/admin/keys/{key.id}",
        f"/admin/keys/{key.id}/revoke",
        f"/admin/accounts?q={quote(HOSTILE)}",
        f"/admin/keys?q={quote(HOSTILE)}&after={quote(HOSTILE)}",
        f"/admin/entry?name={quote(HOSTILE)}",
        f"/admin/entries?after={quote(HOSTILE)}",
        "/admin/accounts?after=%00&q=%FF%00",
        "/admin/keys?" + "a=1&" * 50,
    ]
    for path in paths:
        assert operator.get(path).status in (200, 404)
        assert "<script>alert" not in operator.page
        assert "<img/src" not in operator.page
        assert "<img src=x" not in operator.page


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pages_are_small(server: Server, ann: Account, operator: Browser, language: str) -> None:
    for number in range(30):
        account = run_sync(server.accounts.add(f"{'x' * 230}{number}@example.org"))
        run_sync(server.keys.create("W" * 100, limit=None, expires_at=None, owner=account.id))
    for path in ("/admin", "/admin/accounts", "/admin/keys", "/admin/upstreams", "/admin/entries"):
        response = operator.get(f"{path}?lang={language}")
        assert response.status == 200
        assert len(response.body) < MAX_BYTES, path


def test_a_form_of_an_unknown_entry_shows_the_error_in_the_list(operator: Browser) -> None:
    operator.get("/account/keys")
    assert operator.submit("/admin/entry/disown", {"name": "x" * 201}) == "bad_request"


def test_next_steps_disappear_when_they_are_done(server: Server, operator: Browser) -> None:
    run_sync(server.keys.revoke(server.key_id))
    operator.get("/admin")
    for text in ("Invite a second person.", "Create a key", "Make a backup", "Set the public URL"):
        assert text in operator.text
    assert "Follow a registry" not in operator.text
    run_sync(server.accounts.register("ann@example.org", "hash", most=5))
    run_sync(server.application.server.storage.work.put(BACKUP, seconds=1, done=0, total=0, has_ended=True))
    server.new_key()
    operator.get("/admin")
    for text in ("Invite a second person.", "Create a key", "Make a backup"):
        assert text not in operator.text
    server.clock.advance(BACKUP_AGE + 1)
    operator.sign_in(OPERATOR)
    operator.get("/admin")
    assert "Make a backup" in operator.text


def test_a_setting_that_is_set_is_no_next_step(server: Server, operator: Browser) -> None:
    operator.get("/admin")
    config = server.application.server.config
    assert "/admin/settings#verify.remotes" in operator.page
    is_open = {step.href.partition("#")[2] for step in _open_settings(config)}
    is_open_later = {
        step.href.partition("#")[2] for step in _open_settings(evolve(config, sources={"verify.remotes": "--set"}))
    }
    assert is_open - is_open_later == {"verify.remotes"}
    assert "icons.fetch" in is_open_later


def test_all_settings_are_listed_without_secrets(server: Server, operator: Browser) -> None:
    config = server.application.server.config
    cast(dict[str, str], config.sources).update({"quota.limit": "/etc/directory.toml", "database": "environment"})
    operator.get("/admin/settings")
    for setting in describe(config):
        assert f'id="{setting.name}"' in operator.page
    assert "<code>quota.limit = 20</code>" in operator.page.partition("section-1")[0]
    assert "/etc/directory.toml" in operator.page
    assert len(operator.page) < 80_000


def test_errors_of_the_last_day_are_counted(server: Server, operator: Browser) -> None:
    (errors,) = (service for service in server.application.server.all(SERVICES) if isinstance(service, RecentErrors))
    log = Logger()
    errors.startService()
    log.error("Cannot write {path}", path="<b>quota.db</b>\nTraceback")
    log.warn("Only a warning")
    errors.stopService()
    log.error("After the end")
    operator.get("/admin")
    assert "Errors of the last 24 hours, of this process 1" in " ".join(operator.text.split())
    assert "Cannot write &lt;b&gt;quota.db&lt;/b&gt;</bdi>" in operator.page
    assert "Only a warning" not in operator.page
    assert "After the end" not in operator.page
    server.clock.advance(DAY + 1)
    assert errors.of_last_day() == []


def test_the_overview_has_charts_of_thirty_days(server: Server, operator: Browser) -> None:
    server.get("/api/open/v1/search?keywords=mail")
    server.statistics.flush()
    operator.get("/admin")
    assert operator.page.count('<figure class="chart">') == 2
    assert "Searches: 1" in operator.text


@pytest.mark.parametrize("server", [{"statistics.days": 0}], indirect=True)
def test_the_overview_has_no_charts_without_numbers(operator: Browser) -> None:
    operator.get("/admin")
    assert "<figure" not in operator.page


def test_the_overview_knows_the_certificate_of_the_server(tmp_path: Path) -> None:
    pem = certificate(tmp_path)
    listen = (f"ssl:0:privateKey={pem}:certKey={pem}",)
    expiry = _expiry(Config(listen=listen))
    assert expiry is not None
    # It is of the tests, and valid for a day.
    assert 0 < expiry - time.time() <= DAY
    assert _expiry(Config(listen=(f"ssl:0:privateKey={pem}",))) == expiry
    assert _expiry(Config()) is None
    pem.write_text("no certificate")
    assert _expiry(Config(listen=listen)) is None
