"""Federated searches: other registries are asked beside this one, within bounds of time and trust (ARD v0.91, 5.4)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from attrs import define, field, frozen
from twisted.internet.defer import Deferred, gatherResults
from twisted.logger import Logger

from ... import serialization
from ...domain.errors import BadInput
from ...domain.ports.runtime import Offload
from ...domain.ports.storage import Store
from ...domain.throttling import Circuit
from ...http_client import BadResponse
from ...text_marks import scan
from ...texts.sanitize import clean_line
from ...web.pages import link
from .names import IDENTIFIER, names_of

MAX_TEXT, MAX_ITEMS, MAX_ITEM = 1_000, 32, 100
"""Characters of a text, items of a list, and characters of one."""

JUDGED = frozenset({"mcpId", "verified", "publisher", "flag", "installable"})
"""Members of metadata that say what this registry has found of its own entries. It has found nothing of others'."""

_TEXTS = ("displayName", "type", "description", "version", "updatedAt")
_LISTS = ("tags", "capabilities")


def foreign_entry(value: Any, source: str) -> Mapping[str, Any]:
    """Return a result of the registry at `source`, with the terms that clients need to select one; empty if invalid.

    The registry that it names itself does not count. A result whose texts command a model is not valid either.
    """
    identifier = value.get("identifier") if isinstance(value, dict) else None
    if not isinstance(identifier, str) or not IDENTIFIER.fullmatch(identifier):
        return {}
    score, url = value.get("score"), value.get("url")
    texts = {name: text for name in _TEXTS if (text := _line(value.get(name), MAX_TEXT))}
    lists = {name: items for name in _LISTS if (items := _items(value.get(name)))}
    metadata = value.get("metadata")
    facts = _facts(metadata) if isinstance(metadata, dict) else {}
    every = [*texts.values(), *(item for items in lists.values() for item in items), *map(str, facts.values())]
    if not (texts.keys() >= {"displayName", "type"}) or scan("\n".join(every)):
        return {}
    is_number = isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 100
    return {
        "identifier": identifier,
        **texts,
        **({"url": shown} if (shown := link(url)) else {}),
        **lists,
        **({"metadata": facts} if facts else {}),
        "score": round(score) if is_number else 0,
        "source": source,
    }


def _line(value: Any, length: int) -> str:
    return clean_line(value[: 4 * length], length) if isinstance(value, str) else ""


def _items(value: Any) -> list[str]:
    items = value[:MAX_ITEMS] if isinstance(value, list) else []
    return [line for item in items if (line := _line(item, MAX_ITEM))]


def _facts(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the members of metadata that the schema of catalogs allows: short texts, numbers and booleans."""
    facts: dict[str, Any] = {}
    for name, value in [*metadata.items()][:MAX_ITEMS]:
        key = _line(name, MAX_ITEM)
        if key in JUDGED:
            continue
        if isinstance(value, bool | int):
            facts[key] = value
        elif text := _line(value, MAX_TEXT):
            facts[key] = text
    return facts


MAX_BYTES, MAX_VALUES = 131_072, 10_000
"""Bytes of the response of a registry, and JSON values in it."""

MAX_RESULTS = 20
"""Results of a registry that are read."""

FAILURES = 2
"""Failures in a row, after which no search waits for a registry until it has answered again."""

MAX_RUNNING = 32
"""Requests at a time."""

FRESH, MAX_CACHED, MAX_CACHED_BYTES = 60.0, 500, 8_000_000
"""Seconds for which results are kept, the number of searches whose results are, and the bytes of their responses."""

FOREIGN = 59
"""The highest score of a result of another registry: less than that of a strong match of this one."""

Results = Sequence[Mapping[str, Any]]


class Client(Protocol):
    """Sends a request of JSON and returns the body of the response; see `http_client.DocumentClient`."""

    def get(self, url: str, *, max_bytes: int, deadline: float, json: bytes) -> Awaitable[bytes]:
        """Return the body. Raises BadResponse."""


@frozen
class Peer:
    """Another registry: its base URL, and whether it is asked."""

    url: str
    circuit: Circuit = field(factory=lambda: Circuit(FAILURES))


@define(eq=False)
class Federation:
    """The registries at `urls`. A search waits `timeout` seconds for all of them together.

    A registry that fails is asked again after a pause, and no search waits for that request.
    """

    _log = Logger()

    _client: Client
    _clock: Any
    _offload: Offload
    _urls: Sequence[str]
    _timeout: float
    _peers: Sequence[Peer] = field(init=False)
    _running: int = field(default=0, init=False)
    _cached: OrderedDict[tuple[str, bytes], tuple[float, Results, int]] = field(factory=OrderedDict, init=False)
    _cached_bytes: int = field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        self._peers = [Peer(f"{url.rstrip('/')}/") for url in self._urls]

    async def search(self, text: str, filters: Mapping[str, Sequence[str]], size: int) -> list[Results]:
        """Return the results of each registry, in its order. One that fails, or is late, has none."""
        query = {"text": text, **({"filter": filters} if filters else {})}
        # They search their own entries only, so that registries which name each other end.
        body = serialization.encode({"query": query, "federation": "none", "pageSize": min(size, MAX_RESULTS)})
        now, known, asked = self._clock.seconds(), list[Results](), list[Deferred[Results]]()
        for peer in self._peers:
            at, results, _ = self._cached.get((peer.url, body), (now - FRESH, (), 0))
            if now - at < FRESH:
                known.append(results)
            elif self._running < MAX_RUNNING and peer.circuit.allows(now):
                is_trial = peer.circuit.is_paused
                request = Deferred.fromCoroutine(self._ask(peer, body))
                if not is_trial:
                    asked.append(request)
        return [*known, *(await gatherResults(asked))]

    async def _ask(self, peer: Peer, body: bytes) -> Results:
        self._running += 1
        try:
            url = f"{peer.url}search"
            response = await self._client.get(url, max_bytes=MAX_BYTES, deadline=self._timeout, json=body)
            results: Results = await self._offload(read_results, response, peer.url)
        except BadResponse as error:
            self._fail(peer, error.message)
            return ()
        except Exception:
            self._log.failure("Unexpected error while searching {url}", url=peer.url)
            self._fail(peer, "See the error before.")
            return ()
        finally:
            self._running -= 1
        if peer.circuit.succeed():
            self._log.info("The ARD registry {url} is searched again", url=peer.url)
        self._keep((peer.url, body), results, len(response))
        return results

    def _keep(self, key: tuple[str, bytes], results: Results, size: int) -> None:
        """Keep the results of a response of `size` bytes in place of the oldest ones."""
        _, _, before = self._cached.pop(key, (0.0, (), 0))
        self._cached[key] = self._clock.seconds(), results, size
        self._cached_bytes += size - before
        while len(self._cached) > MAX_CACHED or self._cached_bytes > MAX_CACHED_BYTES:
            _, (_, _, oldest) = self._cached.popitem(last=False)
            self._cached_bytes -= oldest

    def _fail(self, peer: Peer, reason: str) -> None:
        if peer.circuit.fail(self._clock.seconds()):
            self._log.warn("Searches do not wait for the ARD registry {url}: {reason}", url=peer.url, reason=reason)


def read_results(body: bytes, url: str) -> Results:
    """Return the valid results in the response of the registry at `url`. Raises BadResponse if all are invalid."""
    if sum(map(body.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise BadResponse(f"It sent more than {MAX_VALUES:,} JSON values.")
    try:
        value = serialization.decode(body)
    except BadInput:
        raise BadResponse("It sent no valid JSON.") from None
    results = value.get("results") if isinstance(value, dict) else None
    if not isinstance(results, list):
        raise BadResponse("It sent no list of results.")
    entries = [entry for result in results[:MAX_RESULTS] if (entry := foreign_entry(result, url))]
    if results and not entries:
        raise BadResponse("It sent results, of which none is valid.")
    return entries


def merged(local: Results, foreign: Iterable[Results], size: int, own: Collection[str]) -> list[Any]:
    """Return at most `size` results, those with the highest scores, and of equal ones this registry's first.

    The identifiers in `own` are not among the others', of which the first with an identifier counts. Theirs
    have a score of at most FOREIGN, and leave at least one of `local`, so that its next page can follow.
    """
    seen = {*own}
    others: list[Mapping[str, Any]] = []
    # The first of each registry, then the second: no registry stands before the others because of its scores.
    for rank in range(MAX_RESULTS):
        for results in foreign:
            if rank < len(results) and (identifier := results[rank]["identifier"]) not in seen:
                seen.add(identifier)
                others.append({**results[rank], "score": min(results[rank]["score"], FOREIGN)})
    others = others[: size - bool(local)]
    best = sorted([*local, *others], key=lambda result: -int(result["score"]))[:size]
    return best if not local or local[0] in best else [local[0], *best[:-1]]


async def own_identifiers(store: Store, foreign: Iterable[Results], host: str) -> Collection[str]:
    """Return the identifiers in results of others that are those of entries in `store`, hidden ones too, or of `host`.

    An operator has hidden an entry for a reason.
    """
    names = {}
    for identifier in {result["identifier"] for results in foreign for result in results}:
        # Domains are equal in any letter case.
        _, _, publisher, rest = identifier.split(":", 3)
        names[identifier] = names_of(f"urn:air:{publisher.lower()}:{rest}", host)
    known = await store.preferred([name for of_identifier in names.values() for name in of_identifier])
    return {
        identifier
        for identifier, of_identifier in names.items()
        if identifier.split(":")[2].lower() == host or not known.keys().isdisjoint(of_identifier)
    }
