"""Crawl of a catalog: its manifest, the catalogs in it, and the cards of their entries."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial

from attrs import define, field, frozen

from ..domain.entries import Entry
from ..domain.errors import BadInput
from ..domain.ports.runtime import Offload
from ..importer import BATCH
from ._catalog_client import CatalogClient, Manifest, host_of, joined_url
from ._catalog_documents import Catalog, Item, card_entry, catalog_of, is_within, read_card, read_catalog
from ._fetcher import Response, Validators
from ._report import SyncReport
from ._upstream import UpstreamFailed

MAX_CATALOGS, MAX_DEPTH = 50, 4
"""Catalogs of a crawl, and how deep they are nested."""

MAX_ENTRIES = 10_000
"""Entries of all catalogs of a crawl, of any kind."""


@frozen
class KnownCard:
    """A card that this process has read: a digest of its catalog entry, its validators, and the name of the server."""

    digest: bytes
    validators: Validators
    name: str


@frozen
class Batch:
    """Entries to publish, and names whose cards have not changed."""

    entries: Sequence[Entry]
    unchanged: Sequence[str]


@frozen
class _Source:
    """A catalog to read: `url` is its own, or that of the document which contains it.

    `is_own` is whether it is the manifest, contained in it, or at the same domain.
    """

    url: str
    depth: int
    is_own: bool
    data: Mapping[str, object] | None = None


@define(eq=False)
class Crawl:
    """A crawl of the catalog that `client` requests.

    `known` has the cards of the crawl before; it is replaced at the end.
    """

    _client: CatalogClient
    _offload: Offload
    _report: SyncReport
    _known: dict[str, KnownCard]
    _cards: dict[str, KnownCard] = field(factory=dict, init=False)
    _identifiers: set[str] = field(factory=set, init=False)
    _names: set[str] = field(factory=set, init=False)
    _root: Manifest = field(default=Manifest("", b""), init=False)

    async def open(self, validators: Validators) -> Response:
        """Find and request the manifest; return the response. Raises UpstreamFailed."""
        response, self._root = await self._client.open(validators)
        return response

    @property
    def is_single(self) -> bool:
        """Whether the manifest named no other documents, so that its validators are those of everything."""
        return self._client.requested == 0

    async def batches(self) -> AsyncIterator[Batch]:
        """Yield the entries of all catalogs. Raises UpstreamFailed.

        What cannot be read is rejected in the report. A document that fails, but still exists, is `nameless` there, so
        that no entry is removed because of it.
        """
        sources = deque([_Source(self._root.url, 0, True)])
        entries: list[Entry] = []
        unchanged: list[str] = []
        catalogs = total = 0
        while sources:
            source = sources.popleft()
            catalogs += 1
            catalog = await self._read(source)
            total += len(catalog.items) + len(catalog.rejected)
            if total > MAX_ENTRIES or catalogs > MAX_CATALOGS:
                raise UpstreamFailed(
                    f"It has more than {MAX_ENTRIES:,} entries, or more than {MAX_CATALOGS} catalogs in each other."
                )
            for item in catalog.items:
                if item.kind == "other":
                    self._report.skipped[item.type] += 1
                elif item.kind == "catalog":
                    if source.depth >= MAX_DEPTH:
                        self._reject(item, f"Catalogs may be nested {MAX_DEPTH} deep.", keep=False)
                    else:
                        sources.append(self._nested(source, item))
                elif item.identifier in self._identifiers:
                    self._reject(item, "Its identifier is used twice.", keep=False)
                elif not self._speaks_for(source, item.publisher):
                    self._reject(item, f"The catalog may not speak for {item.publisher}.", keep=False)
                else:
                    self._identifiers.add(item.identifier)
                    await self._add(source, item, entries, unchanged)
                if len(entries) + len(unchanged) >= BATCH:
                    yield Batch(entries, unchanged)
                    entries, unchanged = [], []
        yield Batch(entries, unchanged)
        self._known.clear()
        self._known.update(self._cards)

    async def _read(self, source: _Source) -> Catalog:
        """Return a catalog; an empty one if it is not the manifest and cannot be read."""
        try:
            if source.data is not None:
                catalog: Catalog = await self._offload(catalog_of, source.data)
            elif source.depth == 0:
                catalog = await self._offload(read_catalog, self._root.body)
            else:
                _, body = await self._client.request(source.url, Validators())
                catalog = await self._offload(read_catalog, body)
        except UpstreamFailed as error:
            if source.depth == 0:
                raise
            self._report.reject([f"{source.url[:200]}: {error.message}"])
            self._report.nameless += not error.is_absent
            return Catalog((), ())
        self._report.pages += 1
        self._report.reject(catalog.rejected)
        return catalog

    async def _add(self, source: _Source, item: Item, entries: list[Entry], unchanged: list[str]) -> None:
        """Add the entry of a card to `entries`, or its name to `unchanged`, or reject it."""
        speaks_for = partial(self._speaks_for, source)
        try:
            url = joined_url(source.url, item.url) if item.data is None else ""
            if item.data is not None or not item.is_read(url):
                entry: Entry = await self._offload(card_entry, item, item.data, speaks_for, url)
            else:
                known = self._known.get(url)
                validators = known.validators if known and known.digest == item.digest else Validators()
                response, body = await self._client.request(url, validators)
                if response.unchanged and known:
                    self._cards[url] = known
                    self._names.add(known.name)
                    unchanged.append(known.name)
                    return
                entry = await self._offload(read_card, item, body, speaks_for, url)
                if response.validators.headers():
                    self._cards[url] = KnownCard(item.digest, response.validators, entry.name)
        except UpstreamFailed as error:
            self._reject(item, error.message, keep=not error.is_absent)
        except BadInput as error:
            self._reject(item, error.message, keep=True)
        else:
            if entry.name in self._names:
                self._reject(item, f"The name {entry.name} is used twice.", keep=False)
            else:
                self._names.add(entry.name)
                entries.append(entry)

    def _reject(self, item: Item, reason: str, *, keep: bool) -> None:
        """Reject an entry. If `keep`, nothing is removed at the end, because the name of its server is unknown."""
        self._report.reject([f"{item.identifier[:200]}: {reason}"])
        self._report.nameless += keep

    def _nested(self, source: _Source, item: Item) -> _Source:
        if item.data is not None:
            return _Source(source.url, source.depth + 1, source.is_own, item.data)
        url = joined_url(source.url, item.url)
        return _Source(url, source.depth + 1, self._client.is_own(url))

    def _speaks_for(self, source: _Source, domain: str) -> bool:
        """Return whether a catalog may have entries of `domain`.

        The manifest may have those of its own domain and of `publishers`. A catalog elsewhere only has those of its own
        domain, if the manifest may have them as well.
        """
        is_allowed = self._client.speaks_for(domain)
        return is_allowed and (source.is_own or is_within(domain, host_of(source.url)))
