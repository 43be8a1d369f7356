"""A member's tour: register, key, rename, use, revoke, sessions, password, delete; in both languages, with axe."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field

from directory_server.composition import extensions
from directory_server.web.pages._translations import Translations, load

from ..process.conftest import until
from ._states import PASSWORD, wait_for_focus
from .conftest import Open, Site

NEW_PASSWORD = "another correct horse"
PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 900}
UTC = " UTC"

# A folder for a screenshot of each step; none are taken without it.
SCREENSHOTS = os.environ.get("SCREENSHOTS", "")


@define
class Tour:
    """A page in a language; `axe` checks each step."""

    page: Any
    texts: Translations
    axe: Any
    name: str
    violations: list[Any] = field(factory=list)

    def step(self, name: str) -> None:
        """Check the accessibility and the width of the page."""
        found = self.axe.run(self.page).response["violations"]
        self.violations += [(name, each["id"], [node["html"] for node in each["nodes"]]) for each in found]
        if not self.page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
            self.violations.append((name, "scrolls sideways"))
        if SCREENSHOTS:
            self.page.screenshot(path=Path(SCREENSHOTS, f"{self.name}-{name}.png"), full_page=True)

    def click(self, role: str, text: str) -> None:
        """Click the first link or button with a text, and wait for the next page."""
        with self.page.expect_navigation():
            self.page.get_by_role(role, name=self.texts(f"account.{text}"), exact=True).first.click()

    def sees(self, text: str, **values: object) -> None:
        """Wait for a text."""
        self.page.get_by_text(self.texts(f"account.{text}", **values)).first.wait_for()


@pytest.mark.parametrize(("locale", "size"), [("en-GB", PHONE), ("zh-CN", DESKTOP)], ids=["phone", "desktop"])
def test_tour_of_a_member(open_page: Open, site: Site, locale: str, size: dict[str, int]) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core").Axe()
    language = locale[:2]
    name = f"{language}-{size['width']}"
    scheme = "dark" if size is DESKTOP else "light"
    options = {"locale": locale, "viewport": size, "color_scheme": scheme, "reduced_motion": "reduce"}
    page = open_page("/account/register", timezone_id="Asia/Shanghai", **options)
    tour = Tour(page, load(extensions())[language], axe, name)

    page.locator("#email").fill(f"{name}@tour.example.org")
    page.locator("#password").fill(PASSWORD)
    tour.click("button", "create_account")
    tour.sees("notice_account_created")
    wait_for_focus(page, "label")
    tour.step("1-registered")

    page.locator("#label").fill("laptop")
    tour.click("button", "create_key")
    tour.sees("notice_key_created")
    secret = page.locator("#secret").inner_text().strip()
    tour.step("2-key")

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
    tour.step("3-spent")

    tour.click("link", "revoke")
    tour.step("4-revoke")
    tour.click("button", "revoke")
    tour.sees("notice_key_revoked")
    tour.step("5-revoked")
    assert site[1].search("github", secret).status == 401

    phone = open_page("/account/sign-in", **options)
    phone.locator("#email").fill(f"{name}@tour.example.org")
    phone.locator("#password").fill(PASSWORD)
    phone.keyboard.press("Enter")
    phone.wait_for_url("**/account/keys")
    tour.click("link", "sessions")
    assert page.get_by_role("heading", name="Chrome (Linux)").count() == 2
    tour.step("6-sessions")
    tour.click("button", "end_session")
    tour.sees("notice_session_ended")
    phone.reload()
    phone.wait_for_url("**/account/sign-in**")

    tour.click("link", "account")
    page.locator("#old").fill(PASSWORD)
    page.locator("#password").fill(NEW_PASSWORD)
    tour.step("7-account")
    tour.click("button", "change_password")
    tour.sees("notice_password_changed")

    tour.click("link", "account")
    tour.click("link", "delete_account")
    page.locator("#old").fill(PASSWORD)
    page.get_by_label(tour.texts("account.delete_confirm")).check()
    tour.click("button", "delete_account")
    tour.sees("error_password_refused")
    wait_for_focus(page, "old")
    tour.step("8-delete")
    page.locator("#old").fill(NEW_PASSWORD)
    page.get_by_label(tour.texts("account.delete_confirm")).check()
    tour.click("button", "delete_account")
    tour.sees("notice_account_deleted")
    tour.step("9-deleted")
    assert tour.violations == []


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
