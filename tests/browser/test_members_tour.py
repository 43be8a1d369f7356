"""A member's tour: register, key, rename, use, revoke, sessions, password, delete."""

from __future__ import annotations

from typing import Any

from attrs import define

from directory_server.composition import extensions
from directory_server.web.pages._translations import Translations, load

from ..process.conftest import until
from ._states import PASSWORD, wait_for_focus
from .conftest import Open, Site

NEW_PASSWORD = "another correct horse"
UTC = " UTC"


@define
class Tour:
    """A page in English."""

    page: Any
    texts: Translations

    def click(self, role: str, text: str) -> None:
        """Click the first link or button with a text, and wait for the next page."""
        with self.page.expect_navigation():
            self.page.get_by_role(role, name=self.texts(f"account.{text}"), exact=True).first.click()

    def sees(self, text: str, **values: object) -> None:
        """Wait for a text."""
        self.page.get_by_text(self.texts(f"account.{text}", **values)).first.wait_for()


def test_tour_of_a_member(open_page: Open, site: Site) -> None:
    email = "member@tour.example.org"
    page = open_page("/account/register", timezone_id="Asia/Shanghai")
    tour = Tour(page, load(extensions())["en"])

    page.locator("#email").fill(email)
    page.locator("#password").fill(PASSWORD)
    tour.click("button", "create_account")
    tour.sees("notice_account_created")
    wait_for_focus(page, "label")

    page.locator("#label").fill("laptop")
    tour.click("button", "create_key")
    tour.sees("notice_key_created")
    secret = page.locator("#secret").inner_text().strip()

    tour.click("link", "view_keys")
    tour.click("link", "rename")
    page.locator("#label").fill("workstation")
    page.keyboard.press("Enter")
    tour.sees("notice_key_renamed")
    page.get_by_role("heading", name="workstation").wait_for()

    assert [site[1].search("github", secret).status for _ in range(21)] == [200] * 20 + [401]
    page.reload()
    tour.sees("used_of", minutes=60, used=20, limit=20)
    # The time of the next request is local: Shanghai is 8 hours before UTC.
    times = page.locator(".spent time")
    hour = int(times.get_attribute("datetime")[11:13])
    assert times.inner_text().startswith(f"{(hour + 8) % 24:02}:")
    assert UTC in times.get_attribute("title")

    def is_used() -> bool:
        """Return whether the page shows the last use, which is written after some seconds."""
        page.wait_for_timeout(500)
        page.reload()
        return bool(page.get_by_text("127.0.0.0/24").count())

    until(is_used, "the last use of the key")

    tour.click("link", "revoke")
    tour.click("button", "revoke")
    tour.sees("notice_key_revoked")
    assert site[1].search("github", secret).status == 401

    phone = open_page("/account/sign-in")
    phone.locator("#email").fill(email)
    phone.locator("#password").fill(PASSWORD)
    phone.keyboard.press("Enter")
    phone.wait_for_url("**/account/keys")
    tour.click("link", "sessions")
    assert page.get_by_role("heading", name="Chrome (Linux)").count() == 2
    tour.click("button", "end_session")
    tour.sees("notice_session_ended")
    phone.reload()
    phone.wait_for_url("**/account/sign-in**")

    tour.click("link", "account")
    page.locator("#old").fill(PASSWORD)
    page.locator("#password").fill(NEW_PASSWORD)
    tour.click("button", "change_password")
    tour.sees("notice_password_changed")

    tour.click("link", "account")
    tour.click("link", "delete_account")
    page.locator("#old").fill(PASSWORD)
    page.get_by_label(tour.texts("account.delete_confirm")).check()
    tour.click("button", "delete_account")
    tour.sees("error_password_refused")
    wait_for_focus(page, "old")
    page.locator("#old").fill(NEW_PASSWORD)
    page.get_by_label(tour.texts("account.delete_confirm")).check()
    tour.click("button", "delete_account")
    tour.sees("notice_account_deleted")


def test_times_are_in_utc_without_script(open_page: Open) -> None:
    page = open_page("/account/register", java_script_enabled=False, timezone_id="Asia/Shanghai")
    page.locator("#email").fill("utc@tour.example.org")
    page.locator("#password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/account/keys")
    page.locator("#label").fill("laptop")
    page.keyboard.press("Enter")
    page.wait_for_url("**/secret")
    page.goto("/account/keys")
    assert page.locator(".key time").first.inner_text().endswith(UTC)
