"""Browser tests of the search and entry pages, with and without script."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote_plus

from ..process.conftest import entry_line
from ._states import wait_for_drawing, wait_for_focus
from .conftest import Open, Site

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def names(page: Any) -> list[str]:
    return list(page.locator("#results h3 a").all_inner_texts())


def test_search_and_read_without_script(open_page: Open) -> None:
    page = open_page("/", java_script_enabled=False)
    page.fill("input[name=q]", "github")
    page.locator("form[role=search] button").click()
    page.wait_for_url("**/?q=github")
    first = page.locator("#results h3 a").first
    name = first.inner_text()
    first.click()
    page.wait_for_url("**/servers/*")
    assert page.locator("h1").inner_text() == name


def test_results_update_while_typing_and_on_back_navigation(open_page: Open) -> None:
    page = open_page("/")
    before = names(page)
    page.locator("#q").press_sequentially("github", delay=20)
    page.locator("#results-title", has_text="“github”").wait_for()
    assert page.url.endswith("/?q=github")
    assert "github" in " ".join(names(page)).lower()
    assert page.title().startswith("github")
    assert "“github”" in page.locator("#search-status").inner_text()
    page.go_back()
    page.locator("#row-new").wait_for()
    assert page.locator("#q").input_value() == ""
    assert names(page) == before


def test_keyboard_shortcuts_focus_search_and_results(open_page: Open) -> None:
    page = open_page("/?q=search")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    second = names(page)[1]
    assert page.evaluate("document.activeElement.textContent") == second
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/servers/*")


def options(page: Any) -> list[str]:
    """Return the suggestions that are shown."""
    return list(page.locator("#suggestions:visible [role=option] code").all_inner_texts())


def test_the_field_has_the_focus_on_the_start_page_and_after_an_error(open_page: Open) -> None:
    for path, focused in (("/", "q"), ("/?q=runs:nowhere", "q"), ("/?q=github", "")):
        page = open_page(path)
        wait_for_drawing(page)
        assert page.evaluate("document.activeElement.id") == focused


def test_filters_are_suggested_and_chosen_with_the_keyboard(open_page: Open) -> None:
    page = open_page("/")
    box = page.locator("#q")
    wait_for_focus(page, "q")
    page.keyboard.type("mail pa")
    assert options(page) == ["package:"]
    assert box.get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.querySelector('[aria-selected=true]').id") == box.get_attribute(
        "aria-activedescendant"
    )
    page.keyboard.press("Enter")
    assert box.input_value() == "mail package:"
    assert "package:npm" in options(page)
    page.keyboard.type("np")
    assert options(page) == ["package:npm"]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert box.input_value() == "mail package:npm "
    page.locator("#results .selected", has_text="npm").wait_for()
    assert page.url.endswith("/?q=mail+package%3Anpm")
    assert options(page) == []


def test_suggestions_show_no_counts_of_another_search(open_page: Open) -> None:
    page = open_page("/?q=github")
    box, counts = page.locator("#q"), page.locator("#suggestions .count")
    shown = page.locator("#facets [data-filter='runs:remote'] .count").inner_text()
    box.focus()
    page.keyboard.press("End")
    page.keyboard.insert_text(" runs:remo")
    assert (options(page), counts.all_inner_texts()) == (["runs:remote"], [shown])
    # Searches wait while the list of suggestions is open: the page still has the facets of the words before.
    box.fill("search runs:remo")
    assert (options(page), counts.all_inner_texts()) == (["runs:remote"], [""])
    assert page.url.endswith("/?q=github")


def test_suggestions_get_their_counts_when_the_list_arrives(open_page: Open) -> None:
    page = open_page("/?q=github")
    box, counts = page.locator("#q"), page.locator("#suggestions .count")
    requests: list[Any] = []
    page.route("**/?q=search*", lambda route: requests.append(route))
    with page.expect_request("**/?q=search*"):
        box.fill("search")
    page.keyboard.press("End")
    page.keyboard.insert_text(" runs:remo")
    assert counts.all_inner_texts() == [""]
    requests[0].continue_()
    page.locator("#results-title", has_text="“search”").wait_for()
    assert counts.all_inner_texts() == [page.locator("#facets [data-filter='runs:remote'] .count").inner_text()]


def test_suggestions_close_and_do_not_take_over_other_keys(open_page: Open) -> None:
    page = open_page("/?q=search")
    box = page.locator("#q")
    box.focus()
    page.keyboard.press("End")
    # One event: between two keys a slow browser would search for the words so far.
    page.keyboard.insert_text(" runs:")
    assert all(each.startswith("runs:") for each in options(page))
    assert options(page)
    page.keyboard.press("Escape")
    assert options(page) == []
    assert box.input_value() == "search runs:"
    # Without suggestions, the arrow keys move to the results.
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == names(page)[0]
    box.fill("search ru")
    assert options(page) == ["runs:"]
    page.locator(".site-footer p").click()
    assert options(page) == []
    box.fill("search ru")
    page.locator("#suggestions li").click()
    assert box.input_value() == "search runs:"


def test_lists_are_narrowed_down_and_sorted_with_and_without_script(open_page: Open) -> None:
    for script in (True, False):
        page = open_page("/?q=github", java_script_enabled=script)
        before = names(page)
        page.locator("#facets a[data-filter='runs:remote']").click()
        page.wait_for_url("**/?q=github+runs%3Aremote")
        assert set(names(page)) <= set(before)
        page.locator(".sorts a", has_text="Stars").click()
        page.wait_for_url("**/?q=github+runs%3Aremote&sort=stars")
        page.locator(".selected a").click()
        page.wait_for_url("**/?q=github&sort=stars")
        page.locator(".tags a").first.click()
        page.wait_for_url("**/?q=tag%3A*")
        assert names(page)


def test_typing_keeps_the_order(open_page: Open) -> None:
    page = open_page("/?q=github&sort=stars")
    page.locator("#q").fill("search")
    page.locator("#results-title", has_text="“search”").wait_for()
    assert page.url.endswith("/?q=search&sort=stars")
    assert page.locator(".sorts [aria-current]").inner_text() == "Stars"


def test_the_first_tab_stop_is_the_skip_link(open_page: Open) -> None:
    page = open_page("/?q=github")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "q"


def test_open_pages_show_new_servers(open_page: Open, site: Site) -> None:
    page = open_page("/?q=zebra")
    page.wait_for_load_state("load")
    # Only servers added from now on are notified; the stream is open once its response arrives.
    with page.expect_response("**/news"):
        page.reload()
    assert not page.locator("#new-servers").is_visible()
    site[0].command("import", "-", stdin=entry_line("io.github.example/zebra", "Counts zebras."))
    page.locator("#new-servers").wait_for(state="visible")
    assert "1 new server added" in page.locator("#new-servers").inner_text()
    page.locator("#new-servers a").click()
    page.locator("#results h3 a", has_text="Zebra").wait_for()


def test_hostile_entries_run_no_script(open_page: Open, site: Site) -> None:
    hostile = {
        "name": "io.github.example/hostile",
        "title": f"hostile {HOSTILE}",
        "description": HOSTILE,
        "version": HOSTILE,
        "websiteUrl": "javascript:alert(3)",
        "repository": {"url": "javascript:alert(4)", "source": "x"},
    }
    site[0].command("import", "-", stdin=json.dumps(hostile) + "\n")
    page = open_page("/")
    page.fill("#q", "hostile")
    page.locator("#results h3 a", has_text="hostile").first.click()
    page.wait_for_url("**/servers/*")
    assert HOSTILE in page.locator("h1").inner_text()


def test_filters_open_and_close_on_a_phone(open_page: Open) -> None:
    page = open_page("/?q=github", viewport={"width": 375, "height": 700}, has_touch=True, is_mobile=True)
    requests: list[str] = []
    # The page also polls, in the background.
    page.on("request", lambda request: requests.extend([request.url] * request.is_navigation_request()))
    filters, close = page.locator("#facets"), page.locator("#facets .close")

    def tap(link: Any, *, opens: bool) -> None:
        link.tap()
        # The answer to a later request: whatever the tap has requested before is in the list.
        page.evaluate("fetch('/healthz').then((response) => response.text())")
        assert requests == []
        assert filters.is_visible() == opens

    for _ in range(2):
        tap(page.locator(".to-facets"), opens=True)
        tap(close, opens=False)
    page.locator("#q").fill("git")
    page.locator("#results-title", has_text="“git”").wait_for()
    page.go_back()
    page.locator("#results-title", has_text="“github”").wait_for()
    requests.clear()
    tap(page.locator(".to-facets"), opens=True)
    choice = filters.locator("a[data-filter]:visible").first
    filter_name = choice.get_attribute("data-filter")
    choice.tap()
    page.wait_for_url(lambda url: filter_name in unquote_plus(url))
    # They stay open for another one.
    assert filters.is_visible()
    assert close.is_visible()
    page.go_back()
    page.wait_for_url("**/?q=github#facets")
    filters.wait_for(state="visible")
    close.tap()
    filters.wait_for(state="hidden")


def test_a_keyboard_reaches_the_filters_before_the_results(open_page: Open) -> None:
    page = open_page("/?q=github", viewport={"width": 1280, "height": 700})
    page.locator("#q").focus()
    for _ in range(2):
        page.keyboard.press("Tab")
    assert page.locator(".to-facets:focus").is_visible()
    page.keyboard.press("Enter")
    wait_for_focus(page, "facets")


def test_going_back_to_open_filters_shows_them(open_page: Open) -> None:
    page = open_page("/?q=github#facets", viewport={"width": 375, "height": 700})
    page.evaluate("document.getElementById('q').value = 'git'; document.getElementById('q').form.requestSubmit()")
    page.locator("#results-title", has_text="“git”").wait_for()
    assert not page.locator("#facets").is_visible()
    page.go_back()
    page.locator("#results-title", has_text="“github”").wait_for(state="attached")
    page.locator("#facets").wait_for(state="visible")
