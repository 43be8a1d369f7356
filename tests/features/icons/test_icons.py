"""Icons of entries: which URL is used, what is kept, and what pages and the route serve."""

from __future__ import annotations

from typing import Any

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from directory_server.domain.errors import NotFound
from directory_server.features.icons import web
from directory_server.features.icons.web import FAILED, FRESH, MAX_ICONS, MAX_WAITING, Icons, icon_url
from directory_server.http_client import BadResponse
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.runtime.threads import OwnThreads

from ...web.conftest import Server, entry
from .test_images import png

URL = "https://example.org/icon.png"
ON = {"icons.fetch": True}


def with_icons(*icons: Any) -> Any:
    return entry("org.example/tool", title="Tool", icons=list(icons))


class Site:
    """A site that serves `body`, at once or when the test answers. It counts the requests."""

    def __init__(self, body: bytes = b"", *, wait: bool = False) -> None:
        self.body, self.wait = body, wait
        self.requests: list[str] = []
        self.waiting: list[Deferred[bytes]] = []

    async def fetch(self, url: str) -> bytes:
        self.requests.append(url)
        if self.wait:
            answer: Deferred[bytes] = Deferred()
            self.waiting.append(answer)
            return bytes(await answer)
        if not self.body:
            raise BadResponse("It answered 404.")
        return self.body


@pytest.mark.parametrize(
    ("icons", "url"),
    [
        ([{"src": URL}], URL),
        ([{"src": "https://example.org/a.svg"}, {"src": "https://example.org/favicon.ico?x=1"}, {"src": URL}], URL),
        ([{"src": "https://example.org/a", "mimeType": "image/svg+xml"}], ""),
        ([{"src": URL + "?dark", "theme": "dark"}, {"src": URL}], URL),
        ([{"src": "https://m\u00fcnchen.example/a.png#b"}], "https://xn--mnchen-3ya.example/a.png"),
        ([{"src": "https://example.org/\u00fc.png"}, {"src": URL}], URL),
        ([{"src": "http://example.org/icon.png"}], ""),
        ([{"src": "data:image/png;base64,AA"}], ""),
        ([{"src": "https://user:word@example.org/icon.png"}], ""),
        ([{"src": "https://example.org:22/icon.png"}], ""),
        ([{"src": "https://example.org/" + "a" * 3_000}], ""),
        ([{}] * MAX_ICONS + [{"src": URL}], ""),
        ([None, 7, {"src": 7}, {"src": None}], ""),
    ],
)
def test_the_first_icon_that_may_be_a_picture_is_used(icons: list[Any], url: str) -> None:
    assert icon_url(with_icons(*icons)) == url


@pytest.mark.parametrize("icons", [None, "text", {"src": URL}, 7])
def test_icons_of_another_type_are_skipped(icons: Any) -> None:
    assert icon_url(entry("org.example/tool", icons=icons)) == ""


def test_an_icon_is_fetched_once_a_day() -> None:
    site, clock = Site(png(32, 32)), Clock()
    icons = Icons(site.fetch, clock.seconds)
    assert run_sync(icons.get(URL)).media_type == "image/png"
    clock.advance(FRESH - 1)
    run_sync(icons.get(URL))
    assert len(site.requests) == 1
    clock.advance(2)
    run_sync(icons.get(URL))
    assert len(site.requests) == 2


@pytest.mark.parametrize("body", [b"", b"<html>", png(5_000, 32)])
def test_a_failed_fetch_is_not_repeated_for_an_hour(body: bytes) -> None:
    site, clock = Site(body), Clock()
    icons = Icons(site.fetch, clock.seconds)
    for _ in range(2):
        with pytest.raises(NotFound):
            run_sync(icons.get(URL))
    assert len(site.requests) == 1
    clock.advance(FAILED + 1)
    site.body = png(32, 32)
    assert run_sync(icons.get(URL)).body == site.body


def test_kept_icons_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(png(32, 32))
    monkeypatch.setattr(web, "MAX_KEPT_BYTES", 3 * len(site.body))
    icons = Icons(site.fetch, Clock().seconds)
    for number in range(5):
        run_sync(icons.get(f"{URL}?{number}"))
    run_sync(icons.get(f"{URL}?4"))
    assert len(site.requests) == 5
    run_sync(icons.get(f"{URL}?1"))
    assert len(site.requests) == 6


def test_few_are_fetched_at_a_time_and_few_wait() -> None:
    site = Site(wait=True)
    icons = Icons(site.fetch, Clock().seconds)
    getting = [Deferred.fromCoroutine(icons.get(f"{URL}?{number}")) for number in range(4 + MAX_WAITING)]
    assert len(site.requests) == 4
    with pytest.raises(NotFound):
        run_sync(icons.get(URL))
    # Two requests for one URL wait for one fetch.
    assert len(getting) == 4 + MAX_WAITING
    while site.waiting:
        site.waiting.pop(0).callback(png(32, 32))
    assert all(each.called for each in getting)
    assert len(set(site.requests)) == len(site.requests) == 4 + MAX_WAITING


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Site:
    """A site in place of all others."""
    site = Site(png(32, 32))

    def icons_of(reactor: Any, lookup: Any, now: Any) -> Icons:
        # Slow look-ups of names must not take the threads of the reactor.
        assert isinstance(lookup, OwnThreads)
        return Icons(site.fetch, now)

    monkeypatch.setattr(web, "icons_of", icons_of)
    return site


@pytest.mark.parametrize("server", [ON], indirect=True)
def test_pages_show_icons_that_this_server_serves(site: Site, server: Server) -> None:
    tool = with_icons({"src": URL})
    server.publish(tool)
    path = f"/icons/{tool.mcp_id}"
    for page in ("/", "/?q=tool", f"/servers/{tool.mcp_id}"):
        body = server.get(page, key=None, headers={"Accept": "text/html"}).body.decode()
        assert f'src="{path}"' in body
        assert URL not in body
    response = server.get(path, key=None)
    assert (response.status, response.body) == (200, site.body)
    assert response.headers["Content-Type"] == "image/png"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in (response.headers["Content-Security-Policy"] or "")
    again = server.get(path, key=None, headers={"If-None-Match": str(response.headers["ETag"])})
    assert again.status == 304
    assert site.requests == [URL]


@pytest.mark.parametrize("server", [ON], indirect=True)
def test_entries_without_an_icon_have_none(site: Site, server: Server) -> None:
    tool = with_icons({"src": "https://example.org/a.svg"})
    server.publish(tool)
    assert "/icons/" not in server.get("/?q=tool", key=None, headers={"Accept": "text/html"}).body.decode()
    assert server.get(f"/icons/{tool.mcp_id}", key=None).status == 404
    assert server.get("/icons/nothing", key=None).status == 404
    assert site.requests == []


def test_nothing_is_fetched_by_default(site: Site, server: Server) -> None:
    tool = with_icons({"src": URL})
    server.publish(tool)
    assert "/icons/" not in server.get("/?q=tool", key=None, headers={"Accept": "text/html"}).body.decode()
    assert server.get(f"/icons/{tool.mcp_id}", key=None).status == 404
    assert site.requests == []


@pytest.mark.parametrize("server", [{**ON, "web.search": "accounts"}], indirect=True)
def test_icons_are_for_those_who_may_see_the_pages(site: Site, server: Server) -> None:
    tool = with_icons({"src": URL})
    server.publish(tool)
    assert server.get(f"/icons/{tool.mcp_id}", key=None).status == 303
    assert site.requests == []


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "169.254.169.254"])
def test_only_public_addresses_are_requested(host: str) -> None:
    # A Clock cannot connect: a request to an address that is refused does not come so far.
    icons = web.icons_of(Clock(), inline, Clock().seconds)
    with pytest.raises(NotFound):
        run_sync(icons.get(f"https://{host}/icon.png"))
