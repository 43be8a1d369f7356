"""An operator's tour: approve, disable, limits, curation, reports; in both languages, with axe."""

from __future__ import annotations

import pytest

from directory_server.composition import extensions
from directory_server.web.pages._translations import load

from ._states import PASSWORD, invitation_path, wait_for_focus
from .conftest import Open, Site
from .test_members_tour import DESKTOP, PHONE, Tour

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.mark.parametrize(
    ("locale", "size", "scheme"), [("en-GB", PHONE, "light"), ("zh-CN", DESKTOP, "dark")], ids=["phone", "desktop"]
)
def test_tour_of_an_operator(open_page: Open, site: Site, locale: str, size: dict[str, int], scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core").Axe()
    name = f"operator-{locale[:2]}"
    email, member = f"{name}@example.org", f"member-{name}@example.org"
    options = {"locale": locale, "viewport": size, "color_scheme": scheme, "reduced_motion": "reduce"}
    visitor = open_page("/account/register", **options)
    visitor.locator("#email").fill(member)
    visitor.locator("#password").fill(PASSWORD)
    with visitor.expect_navigation():
        visitor.locator("form[action='/account/register'] button").click()
    visitor.locator("#label").fill(HOSTILE)
    with visitor.expect_navigation():
        visitor.locator("form[action='/account/keys'] button").click()
    # A member does not see the pages.
    visitor.goto("/admin")
    assert visitor.locator("h1").inner_text() == load(extensions())[locale[:2]]("error.not_found")

    path = invitation_path(site, email)
    site[0].command("account", "role", email, "operator")
    page = open_page(path, **options)
    texts = load(extensions())[locale[:2]]
    tour = Tour(page, texts, axe, name)

    def submit(action: str) -> None:
        with page.expect_navigation():
            page.locator(f"form[action$='{action}'] button").first.click()

    def sees(key: str) -> None:
        page.get_by_text(texts(key)).first.wait_for()

    page.locator("#password").fill(PASSWORD)
    submit(path)
    page.locator("header a[href='/admin']").click()
    page.wait_for_url("**/admin")
    tour.step("1-overview")
    for number, part in enumerate(("usage", "upstreams", "entries", "reports", "publications"), 2):
        page.goto(f"/admin/{part}")
        tour.step(f"{number}-{part}")

    page.goto(f"/admin/accounts?q={member}")
    tour.step("7-accounts")
    page.get_by_role("link", name=member).click()
    page.wait_for_url("**/admin/accounts/*")
    submit("/approve")
    sees("operators.notice_account_approved")
    tour.step("8-account")
    page.locator("a.danger").click()
    page.wait_for_url("**/disable")
    tour.step("9-disable")
    submit("/disable")
    sees("operators.notice_account_disabled")
    submit("/enable")
    sees("operators.notice_account_enabled")

    page.get_by_role("link", name=HOSTILE).click()
    page.wait_for_url("**/admin/keys/*")
    page.locator("#limit").fill("many")
    submit("/limit")
    wait_for_focus(page, "limit")
    tour.step("10-limit-rejected")
    page.locator("#limit").fill("500")
    submit("/limit")
    sees("operators.notice_limit_changed")
    page.locator("a.danger").click()
    page.wait_for_url("**/revoke")
    tour.step("11-revoke")
    submit("/revoke")
    sees("operators.notice_key_revoked")
    page.goto("/admin/keys")
    tour.step("12-keys")

    page.goto(f"/?q={'postgres' if size is PHONE else 'calendar'}")
    page.locator("#results h3 a").first.click()
    page.wait_for_url("**/servers/*")
    page.locator("#operator-bar").wait_for()
    tour.step("13-entry")
    with page.expect_navigation():
        page.get_by_role("button", name=texts("curation.pinned_set"), exact=True).click()
    sees("curation.notice_pinned_yes")
    page.locator("#title").fill(HOSTILE)
    submit("/edit")
    sees("curation.notice_entry_edited")
    tour.step("14-edited")
    page.locator("a.danger").click()
    page.wait_for_url("**/disown**")
    tour.step("15-disown")
    submit("/disown")
    sees("curation.notice_entry_removed")
    tour.step("16-curated")
    page.locator(".rows a").first.click()
    with page.expect_navigation():
        page.get_by_role("button", name=texts("curation.pinned_clear"), exact=True).click()
    sees("curation.notice_pinned_no")
    assert tour.violations == []
