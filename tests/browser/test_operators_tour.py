"""An operator's tour: approve, disable, limits, curation, reports; with an audit of each page."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing

from directory_server.composition import extensions
from directory_server.web.pages._translations import load

from ._audit import Audit
from ._states import PASSWORD, invitation_path, wait_for_focus
from .conftest import Open, Site

TICK = 3_000
"""Milliseconds between two loads of the progress of work."""

HOSTILE = "<img src=x onerror=alert(1)>"


def test_tour_of_an_operator(open_page: Open, site: Site) -> None:
    email, member = "operator@example.org", "member-of-operator@example.org"
    texts = load(extensions())["en"]
    visitor = open_page("/account/register")
    visitor.locator("#email").fill(member)
    visitor.locator("#password").fill(PASSWORD)
    with visitor.expect_navigation():
        visitor.locator("form[action='/account/register'] button").click()
    visitor.locator("#label").fill(HOSTILE)
    with visitor.expect_navigation():
        visitor.locator("form[action='/account/keys'] button").click()
    # A member does not see the pages.
    visitor.goto("/admin")
    assert visitor.locator("h1").inner_text() == texts("error.not_found")

    path = invitation_path(site, email)
    site[0].command("account", "role", email, "operator")
    page = open_page(path, reduced_motion="reduce")
    audit = Audit(page)

    def submit(action: str) -> None:
        with page.expect_navigation():
            page.locator(f"form[action$='{action}'] button").first.click()

    def sees(key: str) -> None:
        page.get_by_text(texts(key)).first.wait_for()

    page.locator("#password").fill(PASSWORD)
    submit(path)
    page.locator("header a[href='/admin']").click()
    page.wait_for_url("**/admin")
    audit.check("overview")
    tabs = page.locator(".tabs a").evaluate_all("links => links.map((link) => link.getAttribute('href'))")
    assert len(tabs) > 8
    for tab in tabs[1:]:
        page.goto(tab)
        audit.check(tab)

    page.goto(f"/admin/accounts?q={member}")
    audit.check("accounts")
    page.get_by_role("link", name=member).click()
    page.wait_for_url("**/admin/accounts/*")
    submit("/approve")
    sees("operators.account.notice_approve")
    audit.check("account")
    page.locator("a.danger").click()
    page.wait_for_url("**/disable")
    audit.check("disable")
    submit("/disable")
    sees("operators.account.notice_disable")
    submit("/enable")
    sees("operators.account.notice_enable")

    page.get_by_role("link", name=HOSTILE).click()
    page.wait_for_url("**/admin/keys/*")
    page.locator("#limit").fill("many")
    submit("/limit")
    wait_for_focus(page, "limit")
    audit.check("limit-rejected")
    page.locator("#limit").fill("500")
    submit("/limit")
    sees("operators.key.notice_limit")
    page.locator("a.danger").click()
    page.wait_for_url("**/revoke")
    audit.check("revoke")
    submit("/revoke")
    sees("operators.key.notice_revoke")
    page.goto("/admin/keys")
    audit.check("keys")

    page.goto("/?q=postgres")
    page.locator("#results h3 a").first.click()
    page.wait_for_url("**/servers/*")
    page.locator("#operator-bar").wait_for()
    audit.check("entry")
    with page.expect_navigation():
        page.get_by_role("button", name=texts("curation.pinned_set"), exact=True).click()
    sees("curation.notice_pinned_yes")
    page.locator("#title").fill(HOSTILE)
    submit("/edit")
    sees("curation.notice_entry_edited")
    audit.check("edited")
    page.locator("a.danger").click()
    page.wait_for_url("**/disown**")
    audit.check("disown")
    submit("/disown")
    sees("curation.notice_entry_removed")
    audit.check("curated")
    page.locator(".rows a").first.click()
    with page.expect_navigation():
        page.get_by_role("button", name=texts("curation.pinned_clear"), exact=True).click()
    sees("curation.notice_pinned_no")
    audit.finish()


def test_the_progress_of_work_is_live_until_it_ends(open_page: Open, site: Site) -> None:
    def report(done: int, has_ended: bool = False) -> None:
        now = time.time()
        row = ("import", now - 59, now, done, 1_000, has_ended)
        with closing(sqlite3.connect(site[0].data / "directory.db")) as database, database:
            database.execute("INSERT OR REPLACE INTO work VALUES (?, ?, ?, ?, ?, ?)", row)

    email = "watcher@example.org"
    path = invitation_path(site, email)
    site[0].command("account", "role", email, "operator")
    page = open_page(path, reduced_motion="reduce")
    page.locator("#password").fill(PASSWORD)
    with page.expect_navigation():
        page.locator("form[action^='/account/invitation/'] button").click()
    page.clock.install()
    report(250)
    page.goto("/admin")
    page.get_by_text("250 of 1,000 done. About 3 min left.").wait_for()
    audit = Audit(page)
    audit.check("running work")
    report(500)
    page.clock.run_for(TICK)
    page.get_by_text("500 of 1,000 done. About 1 min left.").wait_for()
    report(1_000, has_ended=True)
    page.clock.run_for(TICK)
    page.locator("#running[data-live]").wait_for(state="detached")
    loads: list[str] = []
    page.on("request", lambda request: loads.append(request.url))
    page.clock.run_for(10 * TICK)
    assert loads == []
    audit.finish()
