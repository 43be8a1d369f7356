"""Requests for entries on lists: members ask, approvers decide, and readers of the list see what was approved."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from twisted.internet.defer import Deferred, succeed

from directory_server.domain.endings import Ending
from directory_server.domain.entries import mcp_id_of
from directory_server.domain.errors import Unavailable
from directory_server.domain.requests import STATES, Request
from directory_server.feature.server import SERVICES
from directory_server.features.lists.approvers import Approvers
from directory_server.features.lists.groups import Groups
from directory_server.features.lists.requests import KINDS, LISTING, ListRequests
from directory_server.features.lists.rules import new_list
from directory_server.features.requests.service import MEASURE, Smtp
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import Requests, StoredEndings
from directory_server.tables._roster import StoredRoster

from ...logs import captured_lines
from ...web.browsers import AUDITOR, OPERATOR, Browser, account_of, rename
from ...web.conftest import POSTGRES_ID, entry
from .conftest import SECRET, SECRET_ID, Listed, open_listed

REQUESTS = "/account/requests"
ANN, AMY, BOB, EVE = (f"{name}@example.net" for name in ("ann", "amy", "bob", "eve"))
RANDOM = re.compile(r'name="csrf" value="[^"]+"|/[0-9a-z]{8}\b|T[0-9:]{8}Z')
"""What differs from request to request."""

TEXT = "For the zebra project."


@frozen
class Office:
    """A server with the list `team` of nothing yet, seen by Ann, Amy and Bob.

    The approvers are Amy and the group `eyes`. Eve is in `eyes` and sees no list.
    """

    listed: Listed
    browsers: dict[str, Browser]

    @property
    def ann(self) -> Browser:
        return self.browsers[ANN]

    @property
    def amy(self) -> Browser:
        return self.browsers[AMY]

    def request(self, name: str = SECRET.name, *, by: str = ANN, list_name: str = "team", reason: str = TEXT) -> str:
        """Send a request; return the code of the error."""
        self.listed.server.clock.advance(1)
        self.browsers[by].get(REQUESTS)
        return self.browsers[by].submit(REQUESTS, {"entry": name, "list": list_name, "reason": reason})

    def path(self, by: str = AMY) -> str:
        """Return the path of the first request on the page of a person."""
        self.browsers[by].get(REQUESTS)
        return str(re.findall(rf"{REQUESTS}/[0-9a-z]+", self.browsers[by].page)[0])

    def decide(self, action: str, text: str = "", *, by: str = AMY) -> str:
        """Decide on the first request that waits; return the code of the error."""
        browser, path = self.browsers[by], self.path(by)
        browser.get(path)
        found = re.search(r'name="digest" value="([^"]*)"', browser.page)
        return browser.submit(f"{path}/{action}", {"text": text, "digest": found[1] if found else ""})

    def names(self) -> list[str]:
        """Return the names of the entries on the list, which the search has too."""
        server, key = self.listed.server, self.listed.ann
        listed = server.get("/r/team/v0.1/servers?version=latest", key=key).json["servers"]
        names = [each["server"]["name"] for each in listed]
        hits = server.get("/r/team/api/open/v1/search?keywords=zebra&limit=10&fields=mcp_id", key=key).json["data"]
        assert [hit["mcp_id"] for hit in hits] == [mcp_id_of(name) for name in names]
        return names


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    with open_listed(tmp_path) as listed:
        yield open_office(listed)


def open_office(listed: Listed, **options: Any) -> Office:
    server, storage = listed.server, listed.server.application.storage
    groups, approvers = Groups(storage.tables), Approvers(storage.tables, storage)
    accounts = {email: account_of(server, email) for email in (ANN, AMY, BOB, EVE, OPERATOR, AUDITOR)}
    run_sync(server.accounts.set_role(accounts[OPERATOR].id, "operator"))
    run_sync(server.accounts.set_role(accounts[AUDITOR].id, "auditor"))
    for name, emails in (("team", (ANN, AMY, BOB)), ("eyes", (EVE,))):
        run_sync(groups.add(name, 0.0))
        for email in emails:
            run_sync(groups.add_member(name, accounts[email].id))
    key = next(key.id for key in run_sync(server.keys.list()) if key.label == "ann")
    run_sync(groups.add_member("team", key))
    put(listed, **options)
    run_sync(approvers.set("team", run_sync(approvers.read([AMY, "eyes"]))))
    listed.publish(SECRET)
    browsers = {email: Browser(server) for email in accounts}
    for email, browser in browsers.items():
        assert browser.sign_in(email).status == 303
    return Office(listed, browsers)


def put(listed: Listed, *, holds_versions: bool = False, rule: str = "") -> None:
    wanted = new_list("team", "Team", is_all=False, is_open=False, rule=rule, now=0.0, holds_versions=holds_versions)
    run_sync(listed.lists.put(wanted))
    run_sync(listed.lists.set_groups("team", ["team"]))
    listed.update()


def test_an_approval_puts_an_entry_on_the_list(office: Office) -> None:
    assert office.names() == []
    assert office.request() == ""
    assert "Request sent." in office.ann.text
    assert "Waits for a decision" in office.ann.text
    office.amy.get(office.path())
    for text in (TEXT, ANN, "Opens the zebra vault", "https://zebra.example.org/mcp", "Not checked"):
        assert text in office.amy.text
    assert office.decide("approve", "Welcome.") == ""
    office.listed.update()
    assert office.names() == [SECRET.name]
    office.ann.get(office.path(ANN))
    assert "Approved" in office.ann.text
    assert "Welcome." in office.ann.text
    assert f"/servers/{SECRET_ID}" in office.ann.page
    assert AMY not in office.ann.text
    office.ann.get(f"/servers/{SECRET_ID}")
    assert "Team Listed" in office.ann.text
    assert office.request() == "listed"


def test_an_approver_asks_back_and_declines(office: Office) -> None:
    office.request()
    assert office.decide("question") == "text_missing"
    assert office.decide("question", "Which project?") == ""
    assert office.decide("question", "And why?") == "decided"
    path = office.path(ANN)
    office.ann.get(path)
    assert "Which project?" in office.ann.text
    assert office.ann.submit(f"{path}/answer", {"text": "Zoo\u202e."}) == ""
    assert office.ann.submit(f"{path}/answer", {"text": "More."}) == "decided"
    office.amy.get(path)
    assert "Zoo." in office.amy.text
    assert office.decide("decline", "Not now.", by=EVE) == ""
    office.ann.get(path)
    assert "Declined" in office.ann.text
    assert "Not now." in office.ann.text
    assert office.names() == []
    assert office.request() == ""
    assert office.ann.submit(f"{office.path(ANN)}/withdraw") == ""
    assert "Withdrawn" in office.ann.text


def test_only_approvers_decide(office: Office) -> None:
    office.request(by=AMY)
    assert office.decide("approve") == "own_request"
    path = office.path()
    for email in (BOB, ANN):
        browser = office.browsers[email]
        browser.get(REQUESTS)
        assert path not in browser.page
        missing = browser.get(f"{REQUESTS}/nosuchid")
        assert (browser.get(path).status, missing.status) == (404, 404)
        for action in ("approve", "decline", "question", "answer", "withdraw"):
            browser.get(REQUESTS)
            assert browser.submit(f"{path}/{action}") == "not_found"
    auditor = office.browsers[AUDITOR]
    assert auditor.get(path).status == 200
    assert f"{path}/approve" not in auditor.page
    assert auditor.post(f"{path}/approve").status == 403
    assert office.browsers[OPERATOR].get("/admin").status == 200
    assert "1 request for an entry waits" in office.browsers[OPERATOR].text
    assert office.decide("approve", by=OPERATOR) == ""
    office.listed.update()
    assert office.names() == [SECRET.name]
    # An approver has no right of an operator, and sees no entry but those that are asked for.
    assert office.browsers[EVE].get("/admin").status == 404
    assert office.browsers[EVE].get(f"/servers/{SECRET_ID}").status == 404


def test_a_request_does_not_tell_whether_an_entry_exists(office: Office) -> None:
    pages = []
    for name in (SECRET.name, "io.github.secret/nothin"):
        assert office.request(name, by=BOB) == ""
        browser = office.browsers[BOB]
        browser.get(office.path(BOB))
        assert "/servers/" not in browser.page
        pages.append(
            re.sub(r'name="csrf" value="[^"]+"|/[0-9a-z]{8}\b|T[0-9:]{8}Z', "", browser.page.replace(name, ""))
        )
        assert browser.submit(f"{office.path(BOB)}/withdraw") == ""
    assert pages[0] == pages[1]
    office.request("io.github.secret/nothin")
    assert office.decide("approve") == "entry_unknown"
    # A list that she does not see is unknown, whether it exists or not.
    assert [office.request(list_name=name) for name in ("red", "none")] == ["not_found", "not_found"]


def publish(listed: Listed, server: dict[str, Any]) -> None:
    listed.server.clock.advance(1)
    listed.publish(entry(**server))


def test_a_new_version_waits_again_if_the_list_says_so(tmp_path: Path) -> None:
    with open_listed(tmp_path) as listed:
        office = open_office(listed, holds_versions=True)
        office.request()
        office.decide("approve")
        listed.update()
        assert office.names() == [SECRET.name]
        changed = {**SECRET.server, "remotes": [{"type": "sse", "url": "https://zebra.example.com/"}]}
        publish(listed, {**changed, "version": "2.0.0"})
        assert office.names() == []
        office.ann.get(office.path(ANN))
        assert "The entry has another version than the approved one" in office.ann.text
        assert "/withdraw" not in office.ann.page
        office.ann.get(REQUESTS)
        assert office.ann.submit(f"{office.path(ANN)}/withdraw") == "not_found"
        office.amy.get(office.path())
        assert "Differences to the approved version 1.0.0" in office.amy.text
        assert "version 1.0.0 2.0.0" in office.amy.text
        assert "remotes[0].url https://zebra.example.org/mcp https://zebra.example.com/" in office.amy.text
        # The page shows the second version; the third one is another.
        path = office.path()
        office.amy.get(path)
        digest = re.findall(r'name="digest" value="([^"]*)"', office.amy.page)[0]
        publish(listed, {**changed, "version": "3.0.0"})
        assert office.amy.submit(f"{path}/approve", {"digest": digest}) == "entry_changed"
        assert office.names() == []
        assert office.decide("decline") == ""
        # A declined document makes no second request, whatever else changes.
        run_sync(listed.server.application.storage.curation.mark(SECRET.name, "pinned", True))
        listed.update()
        assert run_sync(ListRequests(listed.server.application.storage.tables).count()) == 0
        publish(listed, {**changed, "version": "4.0.0"})
        assert office.decide("approve") == ""
        listed.update()
        assert office.names() == [SECRET.name]
        put(listed)
        publish(listed, {**changed, "version": "5.0.0"})
        assert office.names() == [SECRET.name]


def test_requests_are_bounded_and_expire(office: Office) -> None:
    assert office.request("no\nname") == "bad_request"
    assert office.request(reason=" \u200b") == "reason_missing"
    assert office.request(reason="x" * 281) == "reason_long"
    assert office.request() == ""
    assert office.request() == "request_exists"
    requests = ListRequests(office.listed.server.application.storage.tables)
    account = run_sync(requests.find(office.path(ANN).rpartition("/")[2])).account
    for number in range(LISTING.per_account - 1):
        run_sync(requests.add(Request("list", f"x/{number}", "team", str(account)), TEXT, 0.0))
    assert office.request("x/more") == "requests_own"
    run_sync(Requests(office.listed.server.application.storage.tables, KINDS).expire(1.0, 2.0))
    assert run_sync(requests.count()) == 1
    office.ann.get(REQUESTS)
    assert "Expired" in office.ann.text


def test_the_page_of_an_entry_names_the_lists_that_the_viewer_knows(office: Office) -> None:
    put(office.listed, rule="namespace:io.github.example")
    entry_page = f"/servers/{POSTGRES_ID}"
    office.browsers[BOB].get(entry_page)
    assert "Team Listed" in office.browsers[BOB].text
    assert office.browsers[OPERATOR].get(f"/servers/{SECRET_ID}").status == 200
    assert "Team" in office.browsers[OPERATOR].text
    office.request()
    office.browsers[OPERATOR].get(f"/servers/{SECRET_ID}")
    assert "Team Requested" in office.browsers[OPERATOR].text
    assert "Team Listed" not in office.browsers[OPERATOR].text
    put(office.listed, rule="zebra")
    office.browsers[OPERATOR].get(f"/servers/{SECRET_ID}")
    assert "Team Listed" in office.browsers[OPERATOR].text
    assert "Team" not in page_of_visitor(office, entry_page)


def test_an_operator_adds_an_entry_to_a_list_on_its_page(office: Office) -> None:
    operator, page = office.browsers[OPERATOR], f"/servers/{SECRET_ID}"
    operator.get(page)
    assert "Team Add to list" in operator.text
    sent = {"entry": SECRET.name, "next": page}
    response = operator.post("/admin/lists/team/pick", sent)
    assert response.headers["Location"] == page
    operator.follow(response)
    assert "Team Listed Remove from list" in operator.text
    assert office.names() == [SECRET.name]
    office.ann.get(page)
    assert "Team Listed" in office.ann.text
    auditor = office.browsers[AUDITOR]
    auditor.get(page)
    for browser in (office.ann, auditor):
        assert "from list" not in browser.text
    operator.get(page)
    # No address leads to another site.
    response = operator.post("/admin/lists/team/unpick", {**sent, "next": "//evil.example/"})
    assert response.headers["Location"] == "/admin/lists"
    assert office.names() == []


def test_a_long_row_of_lists_is_folded_on_the_page_of_an_entry(office: Office) -> None:
    operator, page = office.browsers[OPERATOR], f"/servers/{SECRET_ID}"
    for number in range(4):
        run_sync(office.listed.lists.put(new_list(f"a-{number}", "", is_all=False, is_open=True, rule="", now=0.0)))
    operator.get(page)
    assert "2 more lists" in operator.text
    assert operator.text.index("red Listed") < operator.text.index("a-0 Add to list")
    assert operator.text.count("Add to list") == 6


def page_of_visitor(office: Office, path: str) -> str:
    browser = Browser(office.listed.server)
    browser.get(path)
    return browser.text


MAIL = {"requests.mail_host": "mail.example.org", "requests.mail_sender": "d@example.org"}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Return the e-mails that are sent: address and message."""
    messages: list[tuple[str, str]] = []

    def deliver(_: object, address: str, message: bytes) -> Deferred[None]:
        messages.append((address, message.decode()))
        return succeed(None)

    monkeypatch.setattr(Smtp, "deliver", deliver)
    return messages


def test_a_decision_is_told_by_e_mail_and_recorded(tmp_path: Path, sent: list[tuple[str, str]]) -> None:
    with open_listed(tmp_path, **MAIL, **{"audit.enabled": True}) as listed:
        office = open_office(listed)
        office.request()
        office.decide("question", "Which project?")
        office.ann.submit(f"{office.path(ANN)}/answer", {"text": "Zoo."})
        office.decide("approve")
        addresses = [address for address, _ in sent]
        # Approvers are told of the request and of the answer.
        assert [{*addresses[:2]}, addresses[2], {*addresses[3:5]}, *addresses[5:]] == [{AMY, EVE}, ANN, {AMY, EVE}, ANN]
        assert f"Subject: {SECRET.name}: waits for a decision on the list team" in sent[0][1]
        assert f"Subject: {SECRET.name}: your request was approved" in sent[-1][1]
        for _, message in sent:
            assert f"https://directory.example.org{office.path(ANN)}" in message
        exported = office.browsers[AUDITOR].get("/admin/audit/export").body.decode()
        [record] = [line for line in exported.splitlines() if "action=approve" in line]
        assert json.loads(record)["outcome"] == "done"
        for text in (AMY, r"\"state\":\"open\"", r"\"state\":\"approved\""):
            assert text in record


def test_a_registered_account_writes_to_approvers_only_after_its_approval(
    tmp_path: Path, sent: list[tuple[str, str]]
) -> None:
    with open_listed(tmp_path, **MAIL, **{"accounts.registration": "open"}) as listed:
        office, zoe, email = open_office(listed), Browser(listed.server), "zoe@example.org"
        run_sync(listed.lists.put(new_list("team", "Team", is_all=False, is_open=True, rule="", now=0.0)))
        listed.update()
        zoe.get("/account/register")
        assert zoe.submit("/account/register", {"email": email, "password": "correct horse battery"}) == ""
        office.browsers[email] = zoe
        assert office.request("example.com/pay-at-example.com", by=email) == "not_found"
        assert sent == []
        account = run_sync(listed.server.accounts.find(email))
        assert account is not None
        run_sync(listed.server.accounts.approve(account.id))
        assert office.request(by=email) == ""
        assert {address for address, _ in sent} == {AMY, EVE}


@pytest.mark.parametrize("address", ["m@[x", "ann@example.net,evil@x.example", "a:b;@x", "m@[192.0.2.1"])
def test_an_address_that_is_no_longer_accepted_ends_no_request_that_is_stored(
    tmp_path: Path, sent: list[tuple[str, str]], address: str
) -> None:
    with open_listed(tmp_path, **MAIL) as listed:
        office = open_office(listed)
        rename(listed.server, ANN, address)
        assert office.request() == ""
        assert office.decide("approve") == ""
        listed.update()
        assert office.names() == [SECRET.name]


def test_a_failure_after_an_approval_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logged_failures: list[Any]
) -> None:
    async def fail(*_: object) -> None:
        raise Unavailable("The database is away.")

    with open_listed(tmp_path, **MAIL) as listed, captured_lines() as lines:
        office = open_office(listed)
        office.request()
        path = office.path()
        office.amy.get(path)
        digest = re.findall(r'name="digest" value="([^"]*)"', office.amy.page)[0]
        with monkeypatch.context() as patched:
            patched.setattr(StoredRoster, "account", fail)
            assert office.amy.post(f"{path}/approve", {"text": "", "digest": digest}).status == 303
        listed.update()
        assert office.names() == [SECRET.name]
    assert any("E-mails about requests are not sent" in line for line in lines)
    logged_failures.clear()


def test_versions_that_wait_are_told_to_approvers_and_members(tmp_path: Path, sent: list[tuple[str, str]]) -> None:
    with open_listed(tmp_path, **MAIL) as listed:
        office = open_office(listed, holds_versions=True)
        eve: Any = run_sync(listed.server.accounts.find(EVE))
        run_sync(listed.server.accounts.disable(eve.id))
        names = [SECRET.name, "io.github.secret/other"]
        listed.publish(entry(names[1], "Another zebra."))
        # Amy's own request waits for others.
        for name, by in zip(names, (AMY, ANN), strict=True):
            office.request(name, by=by)
            office.decide("approve", by=OPERATOR)
        listed.update()
        sent.clear()
        publish(listed, {**SECRET.server, "version": "2.0.0"})
        assert [(address, message.partition("Subject: ")[2].partition("\n")[0]) for address, message in sent] == [
            (AMY, f"{SECRET.name}: a new version waits for an approver")
        ]
        office.decide("decline", by=OPERATOR)
        sent.clear()
        listed.server.publish(*(entry(name, "Zebras.", version="3.0.0") for name in names))
        listed.update()
        subjects = [(address, message.partition("Subject: ")[2].partition("\n")[0]) for address, message in sent]
        assert subjects[0] == (AMY, "2 entries: wait for a decision on the list team")
        waits = "a new version waits for an approver"
        assert sorted(subjects[1:]) == [(AMY, f"{names[0]}: {waits}"), (ANN, f"{names[1]}: {waits}")]
        assert "https://directory.example.org/account/requests\n" in sent[0][1]


def test_requests_are_counted_by_state(tmp_path: Path) -> None:
    with open_listed(tmp_path) as listed:
        office = open_office(listed)
        office.request()
        application = listed.server.application
        timers = application.server.all(SERVICES)
        [measure] = [service for service in timers if getattr(service, "_interval", 0) == MEASURE]
        measure.startService()
        registry = application.metrics.registry

        def count(state: str) -> float | None:
            value: float | None = registry.get_sample_value(
                "directory_decision_requests", {"kind": "list", "state": state}
            )
            return value

        values = {state: count(state) for state in STATES}
        assert values == {**dict.fromkeys(STATES, 0), "open": 1}
        office.decide("approve")
        listed.server.clock.advance(MEASURE)
        assert count("approved") == 1
        measure.stopService()


def test_the_new_name_of_an_approved_entry_waits_for_an_approval(tmp_path: Path) -> None:
    new = "io.github.secret/other"
    with open_listed(tmp_path) as listed:
        office = open_office(listed, holds_versions=True)
        office.request()
        assert office.decide("approve") == ""
        listed.update()
        assert office.names() == [SECRET.name]
        listed.publish(entry(new, "Opens another zebra vault."))
        moved = Ending(SECRET.name, "2030-01-31", new, state="moved")
        endings = StoredEndings(listed.server.application.storage.tables)
        run_sync(endings.put_former(moved))
        run_sync(endings.put(moved))
        listed.update()
        assert office.names() == [SECRET.name]
        office.request(new)
        assert office.decide("approve") == ""
        listed.update()
        shown = listed.server.get("/r/team/v0.1/servers?version=latest", key=listed.ann).json["servers"]
        assert [item["server"]["name"] for item in shown] == [new, SECRET.name]
