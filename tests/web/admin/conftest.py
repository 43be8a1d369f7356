"""Fixtures: an operator's browser, and the adapters of the server."""

from __future__ import annotations

import pytest

from directory_server.domain.accounts import Account
from directory_server.run_sync import run_sync

from ..account.conftest import ANN, PASSWORD, Browser, account_of, ann, browser, member
from ..conftest import Server

__all__ = ["ANN", "PASSWORD", "Browser", "account_of", "ann", "browser", "member", "operator", "operator_account"]

OPERATOR = "operator@example.org"


@pytest.fixture
def operator_account(server: Server) -> Account:
    account = account_of(server, OPERATOR)
    run_sync(server.accounts.set_role(account.id, "operator"))
    return account


@pytest.fixture
def operator(server: Server, operator_account: Account) -> Browser:
    """Return a browser in which an operator is signed in."""
    browser = Browser(server)
    assert browser.sign_in(OPERATOR).status == 303
    return browser
