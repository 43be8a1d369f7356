"""What all resources have in common: access to their pages, texts, forms with errors, secrets, audit and commands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain

import pytest

from directory_server.command_line import main
from directory_server.composition import extensions
from directory_server.domain.errors import BadInput
from directory_server.domain.keys import NEW_SECRET_LIFETIME
from directory_server.features import FEATURES
from directory_server.features.audit.tables import AuditLog
from directory_server.request_resource import RequestResource
from directory_server.resource import Action, Field, Resource, field_of
from directory_server.runtime.run_sync import run_sync
from directory_server.web.pages._translations import load

from ..cli.conftest import CommandLine
from ..web.browsers import OPERATOR, Browser
from ..web.conftest import Server

RESOURCES: list[Resource] = [feature.part(name) for feature in FEATURES for name in feature.resources]
SHOWN = [resource for resource in RESOURCES if resource.is_shown]
HOSTILE = "<script>alert(1)</script>"
WEBHOOKS = "/admin/webhooks"
WEBHOOK = {"label": "Chat", "url": "https://a.example/", "added": "yes"}


def named(resource: Resource) -> str:
    return resource.name


def add(operator: Browser, **fields: str) -> str:
    """Add a webhook; return the path of its page."""
    operator.get(WEBHOOKS)
    response = operator.post(WEBHOOKS, {**WEBHOOK, **fields})
    operator.follow(response)
    return response.headers["Location"].removesuffix("/secret")


def texts_of(resource: Resource) -> Iterator[str]:
    """Yield the names of the texts that the pages of a resource always need."""
    yield from (
        ("none", "filter_open" if isinstance(resource, RequestResource) else "filter_none")
        if resource.states
        else ("none",)
    )
    yield from (f"filter_{state}" for state in resource.states)
    yield from resource.logged
    yield from ("secret", "secret_detail", "secret_shown") if resource.has_secret else ()
    if isinstance(resource, RequestResource) and resource.form:
        yield from ("own", "more", "notice_sent", *resource.columns)
        yield from (field.name for field in resource.form_fields)
    for action in filter(None, (resource.add, *resource.actions)):
        if action.place != "command":
            # An action with a secret goes to its page.
            yield from (action.name, *(() if resource.has_secret else (f"notice_{action.name}",)))
            yield from (f"{action.name}_title", f"{action.name}_detail") if action.confirms else ()
            for field in action.fields:
                if field.place != "command":
                    yield field.name
                    yield from (f"{field.name}_{choice}" for choice in field.choices)


@pytest.mark.parametrize("resource", SHOWN, ids=named)
def test_pages_have_their_texts(resource: Resource) -> None:
    for language, texts in load(extensions()).items():
        needed = {f"{resource.texts}.{name}" for name in ("tab", "one", *(["waiting"] if resource.waiting else []))}
        assert needed <= texts.keys, language
        missing = [
            name
            for name in texts_of(resource)
            if f"{resource.texts}.{name}" not in texts and f"resource.{name}" not in texts
        ]
        assert missing == [], f"texts.toml, language {language}, section {resource.texts}: these are missing"


@pytest.mark.parametrize("resource", SHOWN, ids=named)
def test_unknown_records_are_not_found(operator: Browser, resource: Resource) -> None:
    for record_id in ("none", "x" * 3_000, "%00", "a%2Fb"):
        assert operator.get(f"{resource.path}/{record_id}").status == 404
    assert operator.get(f"{resource.path}/none/none").status == 404
    for action in resource.shown_actions:
        operator.get("/account/keys")
        assert operator.submit(f"{resource.path}/none/{action.name}") == "not_found"


def test_every_resource_has_a_command_that_lists_json(directory: CommandLine) -> None:
    directory.succeed("key", "create", "--label", "a")
    for resource in RESOURCES:
        words = resource.command.split()
        assert json.loads(directory.succeed(*words, "list", "--json")) is not None, resource.command
        assert directory.succeed(*words, "list").startswith(("ID", resource.columns[0].upper()))
        for action in resource.actions:
            if action.place != "page":
                assert "--help" in directory.succeed(*words, action.name, "--help")
    assert main.commands


def test_a_form_with_an_error_keeps_what_was_sent(operator: Browser) -> None:
    operator.get(WEBHOOKS)
    long = "x/* " * 400
    response = operator.post(
        WEBHOOKS, {"label": HOSTILE, "url": "ftp://a.example/", "deleted": "yes", "namespaces": long}
    )
    assert response.status == 400
    assert operator.error == "url_wrong"
    assert HOSTILE not in operator.page
    assert 'value="&lt;script&gt;' in operator.page
    assert 'value="ftp://a.example/"' in operator.page
    assert long.strip() in operator.page
    assert 'name="deleted" value="yes" checked' in operator.page
    assert 'name="added" value="yes">' in operator.page
    wrong = operator.page.partition('id="url"')[2].partition(">")[0]
    assert 'aria-invalid="true" autofocus aria-describedby="form-error"' in wrong
    assert operator.page.count("autofocus") == 1
    operator.get(f"{WEBHOOKS}?lang=zh")
    operator.post(WEBHOOKS, {**WEBHOOK, "url": "x"})
    assert "URL 须以 https:// 开头" in operator.text


def test_an_error_that_names_no_field_gets_the_focus_itself(operator: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.features.webhooks.tables.MAX_WEBHOOKS", 0)
    operator.get(WEBHOOKS)
    assert operator.submit(WEBHOOKS, WEBHOOK) == "webhooks_full"
    assert 'data-code="webhooks_full" tabindex="-1" autofocus' in operator.page
    fields = (Field("url"),)
    assert [field_of(error, fields) for error in (BadInput("url: x"), BadInput("urls: x"), KeyError("url:"))] == [
        *("url", "", "")
    ]


def test_a_secret_is_shown_once_and_only_to_the_session_that_made_it(
    server: Server, operator: Browser, auditor: Browser
) -> None:
    one = add(operator)
    assert "whsec_" in operator.page
    second = Browser(server)
    second.sign_in(OPERATOR)
    operator.get(one)
    page = operator.post(f"{one}/rotate").headers["Location"]
    assert page == f"{one}/secret"
    for browser in (auditor, second):
        assert browser.get(page).status == 410
        assert "whsec_" not in browser.page
    assert Browser(server).get(page).status == 303
    assert operator.request("HEAD", page).status == 200
    assert operator.get(page).status == 200
    assert "whsec_" in operator.page
    assert operator.get(page).status == 410
    operator.get(one)
    assert "whsec_" not in operator.page
    other = add(operator)
    operator.get(one)
    secrets = [operator.post(f"{path}/rotate").headers["Location"] for path in (one, other)]
    assert [operator.get(path).status for path in secrets] == [200, 200]
    operator.get(one)
    operator.post(f"{one}/rotate")
    server.clock.advance(NEW_SECRET_LIFETIME)
    assert operator.get(page).status == 410


def test_what_cannot_be_undone_asks_first(operator: Browser) -> None:
    one = add(operator, label=HOSTILE)
    assert operator.get(f"{one}/remove").status == 200
    assert HOSTILE not in operator.page
    assert f'action="{one}/remove"' in operator.page
    # What needs no confirmation has no page.
    assert operator.get(f"{one}/rotate").headers["Location"] == one
    operator.get(f"{one}/remove")
    response = operator.post(f"{one}/remove")
    assert (response.status, response.headers["Location"]) == (303, WEBHOOKS)
    operator.follow(response)
    assert "Removed." in operator.text
    assert operator.get(one).status == 404
    operator.get(WEBHOOKS)
    assert operator.submit(f"{one}/remove") == "not_found"


@pytest.mark.parametrize("server", [{"audit.enabled": "true"}], indirect=True)
def test_the_audit_log_has_the_values_before_and_after(server: Server, operator: Browser) -> None:
    one = add(operator)
    operator.get(f"{one}/remove")
    operator.post(f"{one}/remove")
    log = AuditLog(server.application.storage.tables)
    removed, added = (
        next(each.event for each in run_sync(log.newest(20)) if each.event.action == f"POST {path}")
        for path in (f"{WEBHOOKS}/{{record_id}}/remove", WEBHOOKS)
    )
    assert json.loads(added.after)["url"] == json.loads(removed.before)["url"] == "https://a.example/"
    assert (added.before, removed.after) == ("", "")
    assert removed.target == f"record_id={one.rpartition('/')[2]}"


def test_actions_and_fields_are_where_they_are_declared() -> None:
    async def run() -> None:
        """Do nothing."""

    fields = (Field("a", place="command", default="x"), Field("b", kind="words"), Field("c", kind="flag"))
    action = Action("x", "", run, fields)
    assert action.read({"a": "sent", "b": " y  z ", "c": "yes"}) == {"a": "x", "b": ["y", "z"], "c": True}
    assert action.read({}) == {"a": "x", "b": [], "c": False}
    names = [resource.name for resource in SHOWN]
    assert len({*names}) == len(names)
    assert all(chain(resource.columns for resource in RESOURCES))
