"""Forms of operators about accounts and keys that no longer exist."""

from __future__ import annotations

import pytest

from ...web.browsers import Browser


@pytest.mark.parametrize("action", ["approve", "enable", "disable"])
def test_a_form_of_a_deleted_account_redirects_to_its_page(operator: Browser, action: str) -> None:
    operator.get("/account/keys")
    response = operator.post(f"/admin/accounts/gone/{action}")
    assert (response.status, response.headers["Location"]) == (303, "/admin/accounts/gone")
    assert operator.get("/admin/accounts/gone").status == 404


@pytest.mark.parametrize(("action", "fields"), [("limit", {"limit": "7"}), ("revoke", {})])
def test_a_form_of_an_unknown_key_shows_the_error_in_the_list(
    operator: Browser, action: str, fields: dict[str, str]
) -> None:
    operator.get("/account/keys")
    assert operator.submit(f"/admin/keys/gone/{action}", fields) == "not_found"


def test_a_form_of_an_unknown_entry_shows_the_error_in_the_list(operator: Browser) -> None:
    operator.get("/account/keys")
    assert operator.submit("/admin/entry/disown", {"name": "x" * 201}) == "bad_request"
