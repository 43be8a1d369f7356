"""Publishing with publisher tokens: permissions, immutable versions, status changes, and the audit log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from attrs import evolve, frozen
from twisted.internet.defer import Deferred

from ...domain.changes import Outcome
from ...domain.endings import Ending, unknown_entry
from ...domain.entries import Entry, mcp_id_of
from ...domain.errors import BadInput, DirectoryError, Forbidden, NotFound, Unavailable, UnknownPublisher
from ...domain.ports.access import Attempts, Scopes
from ...domain.ports.additions import ADDITIONS
from ...domain.ports.storage import Store
from ...domain.publishing import MAX_VERSIONS, SubjectPublisher
from ...domain.throttling import AttemptLimit
from ...domain.versions import PUBLISHED
from ...feature.server import SERVICES, Server
from ...runtime.timers import Timer
from ...services.directory import Directory
from ...services.moves import Moves
from ...storage import Storage
from ...tables import StoredCuration, StoredEndings
from .proofs import NamespaceProofs, ProvenNamespaces
from .settings import PublishConfig
from .tables import PublicationLog, PublisherTokens
from .tokens import DONE, STARTED, Publication, PublisherToken, logged, token_of_subject

FORGET_INTERVAL = 3_600.0
"""Seconds between two deletions of old records of the audit log."""


@frozen
class PublishedVersion:
    """A published version; `latest` is whether it represents its name."""

    entry: Entry
    latest: bool


@frozen
class Publisher:
    """A request of a publisher: its token, and the network of its address."""

    token: PublisherToken
    network: str


@frozen
class PublishingService:
    """Publishes entries of the source PUBLISHED. `now` returns seconds since the epoch; `limit` is of each token."""

    _tokens: PublisherTokens
    _log: PublicationLog
    _directory: Directory
    _store: Store
    _curation: StoredCuration
    _attempts: Attempts
    _now: Callable[[], float]
    _limit: AttemptLimit
    _endings: StoredEndings
    _announce: Callable[[], None]
    _scopes: Scopes | None
    _proven: ProvenNamespaces | None = None

    async def authenticate(self, secret: str | SubjectPublisher, network: str) -> Publisher:
        """Return the publisher with this secret or access token, and count its request.

        Raises UnknownPublisher and Throttled.
        """
        token = await self._tokens.find(secret) if isinstance(secret, str) else token_of_subject(secret)
        if token is None:
            raise UnknownPublisher
        await self._attempts.charge(self._limit, token.id)
        return Publisher(token, network)

    @property
    def _moves(self) -> Moves:
        return Moves(self._endings, self._store, self._curation, self._now, self._publish_new)

    def check_permission(self, publisher: Publisher, name: str) -> None:
        """Raise Forbidden if the token may not publish `name`."""
        if not publisher.token.permits(name):
            allowed = ", ".join(publisher.token.namespaces) or "nothing"
            spelling = publisher.token.spelling(name)
            case = f" Letter case counts: write {logged(spelling)!r}." if spelling else ""
            raise Forbidden(
                f"This token may not publish {logged(name)!r}. It may publish: {allowed}.{case}",
                code="forbidden_namespace",
            )

    async def publish(self, publisher: Publisher, entry: Entry) -> PublishedVersion:
        """Publish a new version. Raises Forbidden, and BadInput if it exists or if a limit is reached."""
        name, version = entry.name, entry.version
        (published,) = await self._logged(publisher, "publish", name, version, lambda: self._publish(publisher, entry))
        return published

    async def change(
        self,
        publisher: Publisher,
        name: str,
        version: str | None,
        status: str,
        change: Callable[[Entry], Entry | None],
    ) -> Sequence[PublishedVersion]:
        """Change a version of `name`, or all if `version` is None; return the changed ones.

        `change` returns the changed entry, None if it is so already. `status` is for the audit log. Raises Forbidden,
        NotFound, and BadInput if nothing changes.
        """
        return await self._logged(
            publisher,
            f"status: {status}",
            name,
            "*" if version is None else version,
            lambda: self._change(publisher, name, version, change),
        )

    async def end(self, publisher: Publisher, name: str, ending: Ending | None) -> None:
        """Set the end of life of `name`, or remove it. Raises Forbidden, NotFound, and BadInput."""

        async def run() -> Sequence[Entry]:
            self.check_permission(publisher, name)
            if ending is not None:
                await self._check_replacement(publisher, ending.replaced_by)
            await (self._moves.take_back(name, "publisher") if ending is None else self._endings.put(ending))
            self._announce()
            return ()

        await self._logged(publisher, "end of life", name, "*", run)

    async def move(self, publisher: Publisher, old: str, new: str, message: str) -> Mapping[str, str]:
        """Move a name or a namespace; return the new names by the old ones. Raises Forbidden and BadInput."""
        moves, moved = self._moves, dict[str, str]()

        async def run() -> Sequence[Entry]:
            # Before the plan, which has the names of the namespace, and depends on whether there are any.
            for pattern in (old, new):
                self.check_permission(publisher, _any_name(pattern))
            moved.update(await moves.plan(old, new))
            for name in (*moved, *moved.values()):
                self.check_permission(publisher, name)
            await moves.move(moved, message, "publisher")
            self._announce()
            return ()

        await self._logged(publisher, "move", old, "*", run)
        return moved

    async def _check_replacement(self, publisher: Publisher, name: str) -> None:
        """Raise BadInput, as for an unknown name, for an entry that the publisher may not see."""
        if not name or self._scopes is None or publisher.token.permits(name):
            return
        if not self._directory.within(await self._scopes.of(None)).sees(mcp_id_of(name)):
            raise unknown_entry("replaced_by", name)

    async def reject(self, publisher: Publisher, action: str, name: str, version: str, error: DirectoryError) -> None:
        """Record a request that was rejected before it named a valid entry."""
        await self._add(publisher, action, name, version, error.code)

    async def _publish(self, publisher: Publisher, entry: Entry) -> Sequence[Entry]:
        self.check_permission(publisher, entry.name)
        (outcome,) = await self._publish_new([entry])
        if outcome == "exists":
            raise BadInput(
                f"version: {entry.name} {entry.version} is published already. Versions cannot be changed; publish a "
                "new one.",
                code="version_exists",
            )
        if outcome != "added":
            raise BadInput(
                f"The limit of published entries is reached: {MAX_VERSIONS} versions of a name, or the settings "
                "publish.max_entries and publish.max_bytes.",
                code="publish_limit",
            )
        return [entry]

    async def _publish_new(self, entries: Sequence[Entry]) -> Sequence[Outcome]:
        """Publish new versions of one name, with the proof of its namespace."""
        if self._proven is not None:
            has_proof = bool(await self._proven.facts(entries[0].name))
            entries = [evolve(entry, has_proof=has_proof) for entry in entries]
        return await self._directory.publish(PUBLISHED, entries, new=True)

    async def _change(
        self, publisher: Publisher, name: str, version: str | None, change: Callable[[Entry], Entry | None]
    ) -> Sequence[Entry]:
        self.check_permission(publisher, name)
        stored = await self._store.published(name)
        chosen = [entry for entry in stored if version in (None, entry.version)]
        if not chosen:
            wanted = "version" if version is None else f"version {logged(version)!r}"
            raise NotFound(f"{name} has no published {wanted}.")
        changed = [entry for entry in map(change, chosen) if entry is not None]
        if not changed:
            raise BadInput("status: nothing changes, the status and the message are so already.", code="unchanged")
        await self._directory.publish(PUBLISHED, changed)
        return changed

    async def _logged(
        self,
        publisher: Publisher,
        action: str,
        name: str,
        version: str,
        run: Callable[[], Awaitable[Sequence[Entry]]],
    ) -> Sequence[PublishedVersion]:
        """Return the versions of `name` that `run` wrote, with the one marked that represents the name, if any.

        The action is recorded before, and its outcome after, so that no change is without record.
        """
        number = await self._add(publisher, action, name, version, STARTED)
        outcome = "error"
        try:
            entries = await run()
            outcome = DONE
        except DirectoryError as error:
            outcome = error.code
            raise
        finally:
            finished = Deferred.fromCoroutine(self._finish(number, outcome))
            if outcome != DONE:
                await finished
        # At the same time, in one round trip.
        preferred = Deferred.fromCoroutine(self._store.preferred([name]))
        await finished
        latest = (await preferred).get(name)
        return [PublishedVersion(entry, (PUBLISHED, entry.version) == latest) for entry in entries]

    async def _finish(self, number: int, outcome: str) -> None:
        # The change stands. Its record keeps the outcome "started".
        with suppress(Unavailable):
            await self._log.finish(number, outcome)

    async def _add(self, publisher: Publisher, action: str, name: str, version: str, outcome: str) -> int:
        token = publisher.token
        texts = logged(name), logged(version)
        return await self._log.add(
            Publication(self._now(), token.id, token.label, action, *texts, publisher.network, outcome)
        )


def _any_name(pattern: str) -> str:
    """Return a name, or one of a namespace such as com.acme/*."""
    return f"{pattern.removesuffix('*')}x" if pattern.endswith("/*") else pattern


def proven_namespaces(settings: PublishConfig, storage: Storage) -> ProvenNamespaces | None:
    """Return the proofs of namespaces, None if no login of the settings proves one."""
    return ProvenNamespaces(NamespaceProofs(storage.tables), storage.store) if settings.has_logins else None


def run(server: Server) -> None:
    """Add the deletion of old records of the audit log, and the proofs to the views of entries."""
    settings, storage = server.config.of(PublishConfig), server.storage
    log, proven = PublicationLog(storage.tables), proven_namespaces(settings, storage)

    async def forget_publications() -> None:
        await log.forget(server.now() - settings.log)

    server.add(SERVICES, Timer(FORGET_INTERVAL, forget_publications, server.reactor))
    if proven is not None:
        server.add(ADDITIONS, proven)
