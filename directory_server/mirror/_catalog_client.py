"""Requests of a crawl: the place of the manifest, robots.txt, and bounds of everything that a catalog names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar
from urllib.parse import urljoin, urlsplit

from attrs import define, field, frozen

from ..domain.patterns import NamePatterns
from ..domain.ports.runtime import Offload
from ..http_client import MAX_ROBOTS, InvalidTarget, NotAllowed, RobotsRules, Target, robots_rules, target_of
from ._catalog_documents import FORMER_RELATION, RELATION, agent_maps, catalog_links, is_within, markup_manifest
from ._fetcher import Response, Validators
from ._upstream import Upstream, UpstreamFailed

WELL_KNOWN, FORMER_WELL_KNOWN = "/.well-known/ard.json", "/.well-known/ai-catalog.json"
"""The path of manifests, and that of ARD v0.9."""

MAX_CARDS, MAX_FOREIGN = 2_000, 100
"""Cards that are requested in a crawl, and those of them on hosts of other domains than the manifest."""

MAX_BYTES = 64_000_000
"""Bytes of all responses of a crawl."""

MAX_FAILED = 3
"""Failed requests to a host after which no more cards are requested from it."""

TIMEOUT = 15.0
"""Timeout of a request in seconds."""

Found = TypeVar("Found")

Get = Callable[[str, Validators, float], Awaitable[tuple[Response, bytes]]]
"""Returns the response to a GET and its body, within so many seconds. Raises UpstreamFailed."""


@frozen
class Manifest:
    """The manifest of a catalog: its URL and its body, which is empty if it has not changed."""

    url: str
    body: bytes


@define(eq=False)
class CatalogClient:
    """The requests of a crawl of the catalog of `upstream`. `renew_lease` is called before each of them.

    `requested` is the number of cards and nested catalogs.
    """

    _upstream: Upstream
    _get: Get
    _offload: Offload
    _renew_lease: Callable[[], Awaitable[None]]
    requested: int = field(default=0, init=False)
    _owner: str = field(default="", init=False)
    _foreign: int = field(default=0, init=False)
    _bytes: int = field(default=0, init=False)
    _robots: dict[str, RobotsRules] = field(factory=dict, init=False)
    _failed: Counter[str] = field(factory=Counter, init=False)

    async def open(self, validators: Validators) -> tuple[Response, Manifest]:
        """Find and request the manifest (ARD v0.91, section 5.1). Raises UpstreamFailed.

        What v0.9 named comes last: a domain that has both may leave it out of date.
        """
        # The manifest may be at another place than before, so its date says nothing.
        validators = Validators(validators.etag)
        target = _target(self._upstream.url)
        self._owner = host_of(target.url)
        if urlsplit(target.url).path != "/":
            return await self._open(target.url, validators)
        robots = await self._robots_of(target.origin)
        for url in (target.origin + WELL_KNOWN, *(joined_url(target.url, link) for link in robots)):
            if found := await self._if_present(self._open(url, validators)):
                return found
        page = await self._if_present(self._request(target.url, Validators()))
        html = page[1] if page else b""
        for link in await self._offload(catalog_links, html, RELATION):
            return await self._open(joined_url(target.url, link), validators)
        if page and (markup := await self._offload(markup_manifest, html)):
            return page[0], Manifest(target.url, markup)
        if found := await self._if_present(self._open(target.origin + FORMER_WELL_KNOWN, validators)):
            return found
        for link in await self._offload(catalog_links, html, FORMER_RELATION):
            return await self._open(joined_url(target.url, link), validators)
        raise UpstreamFailed(
            f"It has no manifest: neither {WELL_KNOWN} nor {FORMER_WELL_KNOWN}, nor an Agentmap in robots.txt, nor a "
            "link to one or entries in its start page."
        )

    async def _if_present(self, request: Awaitable[Found]) -> Found | None:
        """Return the result of a request, None if there is no such document. Raises UpstreamFailed."""
        try:
            return await request
        except UpstreamFailed as error:
            if not error.is_absent:
                raise
            return None

    async def _open(self, url: str, validators: Validators) -> tuple[Response, Manifest]:
        response, body = await self._request(url, validators)
        # Many servers answer every path with their start page, which may have entries if it is the upstream's own URL.
        if not response.unchanged and body.lstrip()[:1] != b"{":
            markup = await self._offload(markup_manifest, body) if url == self._upstream.url else b""
            if not markup:
                raise UpstreamFailed(f"It sent no JSON object at {url[:200]}.", is_absent=True)
            body = markup
        return response, Manifest(url, body)

    def is_own(self, url: str) -> bool:
        """Return whether `url` is at the domain of the manifest."""
        return is_within(host_of(url), self._owner)

    def speaks_for(self, domain: str) -> bool:
        """Return whether the manifest may have entries of `domain`: its own, or one of `publishers`."""
        patterns = tuple(map(str.lower, self._upstream.publishers))
        is_listed = bool(patterns) and NamePatterns(patterns).selects(domain)
        return is_listed or is_within(domain, self._owner)

    async def request(self, url: str, validators: Validators) -> tuple[Response, bytes]:
        """Return the response at the URL of a card or nested catalog. Raises UpstreamFailed, also for one too many."""
        host = host_of(url)
        self.requested += 1
        self._foreign += not is_within(host, self._owner)
        if self.requested > MAX_CARDS or self._foreign > MAX_FOREIGN:
            raise UpstreamFailed(f"A crawl requests {MAX_CARDS:,} documents, {MAX_FOREIGN} of them from other domains.")
        if self._failed[host] >= MAX_FAILED:
            raise UpstreamFailed(f"Its host {host[:100]} failed {MAX_FAILED} times.")
        return await self._request(url, validators)

    async def _request(self, url: str, validators: Validators) -> tuple[Response, bytes]:
        target = _target(url)
        if self._upstream.url.startswith("https:") and not url.startswith("https:"):
            raise UpstreamFailed("Its URL has no TLS, and that of the manifest has.")
        await self._robots_of(target.origin)
        if not await self._offload(self._robots[target.origin].allow, target.url):
            raise UpstreamFailed("Its robots.txt does not allow the request.")
        try:
            return await self._counted(target.url, validators)
        except UpstreamFailed as error:
            self._failed[host_of(url)] += error.resumable
            raise

    async def _counted(self, url: str, validators: Validators) -> tuple[Response, bytes]:
        if self._bytes > MAX_BYTES:
            raise UpstreamFailed(f"Its documents have more than {MAX_BYTES:,} bytes.")
        await self._renew_lease()
        response, body = await self._get(url, validators, TIMEOUT)
        self._bytes += len(body)
        return response, body

    async def _robots_of(self, origin: str) -> Sequence[str]:
        """Read the robots.txt of `origin`, once; return the manifests that it names.

        Without a status of 2xx, or above the bound, all is allowed (RFC 9309, section 2.3.1).
        """
        if origin in self._robots:
            return ()
        self._robots[origin] = RobotsRules()
        try:
            _, body = await self._counted(f"{origin}/robots.txt", Validators())
        except UpstreamFailed:
            return ()
        if len(body) > MAX_ROBOTS:
            return ()
        self._robots[origin] = await self._offload(robots_rules, body)
        return await self._offload(agent_maps, body)


def _target(url: str) -> Target:
    try:
        return target_of(url)
    except (InvalidTarget, NotAllowed) as error:
        raise UpstreamFailed(error.message) from None


def joined_url(base: str, url: str) -> str:
    """Return `url` relative to `base`; empty if it is no URL."""
    try:
        return urljoin(base, url)
    except ValueError:
        return ""


def host_of(url: str) -> str:
    """Return the host of a URL, without `www.`, which names the same domain; empty if it has none."""
    try:
        return (urlsplit(url).hostname or "").lower().removeprefix("www.")
    except ValueError:
        return ""
