"""What becomes of requests of all kinds in a server: e-mails to their members, and expiry."""

from __future__ import annotations

import pytest
from twisted.internet.defer import Deferred, succeed

from directory_server.domain.accounts import REGISTRATION, Account
from directory_server.feature.server import SERVICES
from directory_server.features.quota_requests.resource import QUOTA
from directory_server.features.requests.service import Smtp
from directory_server.runtime.run_sync import run_sync
from directory_server.runtime.timers import Timer
from directory_server.tables import Requests

from ...web.browsers import Browser
from ...web.conftest import Server

MAIL = {
    "requests.mail_host": "mail.example.org",
    "requests.mail_sender": "d@example.org",
    "web.url": "https://directory.example.org",
    "requests.age": 86_400.0,
}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Return the e-mails that are sent: address and message."""
    messages: list[tuple[str, str]] = []

    def deliver(_: object, address: str, message: bytes) -> Deferred[None]:
        messages.append((address, message.decode()))
        return succeed(None)

    monkeypatch.setattr(Smtp, "deliver", deliver)
    return messages


@pytest.mark.parametrize("server", [MAIL], indirect=True)
def test_a_member_gets_an_e_mail_about_questions_decisions_and_the_end(
    sent: list[tuple[str, str]], server: Server, ann: Account, member: Browser, operator: Browser
) -> None:
    requests = Requests(server.application.storage.tables, (QUOTA,))

    def ask() -> str:
        member.get("/account/quota")
        assert member.submit("/account/quota", {"limit": "500", "text": "A nightly job."}) == ""
        return f"/admin/quota-requests/{run_sync(requests.list(is_open=True, limit=1))[0].id}"

    path = ask()
    operator.get(path)
    assert operator.submit(f"{path}/ask", {"text": "Which job?"}) == ""
    assert operator.submit(f"{path}/grant", {"limit": "500"}) == ""
    path = ask()
    run_sync(server.accounts.disable(ann.id))
    operator.get(path)
    assert operator.submit(f"{path}/decline") == ""
    run_sync(server.accounts.enable(ann.id))
    assert member.try_sign_in() == ""
    eve = run_sync(server.accounts.register("eve@example.org", "hash", most=5))
    waiting = Requests(server.application.storage.tables, (REGISTRATION,))
    (registered,) = run_sync(waiting.list(is_open=True, limit=2))
    operator.get(path := f"/admin/registrations/{registered.id}")
    assert operator.submit(f"{path}/ask", {"text": "Who are you?"}) == ""
    address, message = sent.pop()
    assert address == eve.email
    assert "Subject: There is a question about your request for an account" in message
    assert "https://directory.example.org/account/keys" in message
    operator.get(f"/admin/accounts/{eve.id}")
    assert operator.submit(f"/admin/accounts/{eve.id}/approve") == ""
    address, message = sent.pop()
    assert address == eve.email
    assert "Subject: Your account was approved" in message
    last = ask().rpartition("/")[2]
    timers = [each for each in server.application.server.all(SERVICES) if isinstance(each, Timer)]
    upkeep = next(each for each in timers if each._function.__module__.endswith("requests.service"))
    server.clock.advance(86_401.0)
    upkeep.startService()
    upkeep.stopService()
    assert run_sync(requests.find(last)).state == "expired"
    assert [address for address, _ in sent] == [ann.email] * 3
    subjects = ("There is a question about your request", "Your request was approved", "Your request has expired")
    for (_, message), subject in zip(sent, subjects, strict=True):
        assert f"Subject: {subject}" in message
        assert "https://directory.example.org/account/quota" in message
