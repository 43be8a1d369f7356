"""Checks of remotes: one MCP handshake per check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define, evolve, field, frozen
from twisted.internet.defer import Deferred, TimeoutError
from twisted.web.client import ResponseFailed, ResponseNeverReceived

from ....domain.checks import LoginKind, RemoteStatus
from ....domain.ports.runtime import Offload
from ....http_client import MAX_URL, BadResponse, cancellable
from ....texts.sanitize import clean_line
from ..results import RemoteCheck
from ._client import Client, Network, target_of
from ._ending import NETWORK_ERRORS, Ended, OtherTransport, ended
from ._login import kind_of_login
from ._messages import RpcError
from ._robots import Robots
from ._session import NEEDS_LOGIN, LoginNeeded, Opened, Session
from ._transports import HttpWithEvents, NotOpened, Reply, StreamableHttp, Transport, open_event_stream

STREAMABLE = "streamable-http"
EVENTS = "sse"

DISCOVER_SHARE = 1 / 3
"""Share of the timeout after which a server that does not answer server/discover is asked with initialize."""

ENDPOINT_SHARE = 1 / 2
"""Share of the timeout after which a stream that names no endpoint is not waited for."""

MAX_DETAIL = 300
"""Characters of the sentence for an operator."""


@define(eq=False)
class _Progress:
    """Findings of a check so far, which a timeout keeps."""

    check: RemoteCheck
    is_known: bool = False
    """Whether the status is known: a later error does not change it."""

    def know(self, status: RemoteStatus, detail: str = "", **fields: Any) -> None:
        """Record the status of the remote."""
        self.is_known = True
        self.set(status, detail, **fields)

    def fail(self, error: Ended) -> None:
        """Record the error that ended the check."""
        status = self.check.status if self.is_known else error.status
        moved = clean_line(error.target, MAX_URL)
        self.set(status, error.detail, redirected_to=moved, retry_after=error.retry_after)

    def set(self, status: RemoteStatus, detail: str = "", **fields: Any) -> None:
        self.check = evolve(self.check, status=status, detail=clean_line(detail, MAX_DETAIL), **fields)


@frozen(eq=False)
class RemoteProber:
    """Checks remotes. `now` returns seconds since the epoch; `timeout` is the seconds of a whole check."""

    _network: Network
    _robots: Robots
    _offload: Offload
    _clock: Any
    _now: Callable[[], float]
    _timeout: float = field()

    async def check(self, url: str, transport: str, headers_needed: bool) -> RemoteCheck:
        """Return what the remote at `url` answers. It raises nothing for what a remote does.

        `transport` is "streamable-http" or "sse". `headers_needed` says that the entry declares required headers, which
        the check does not send. A check whose Deferred is cancelled raises CancelledError.
        """
        progress = _Progress(RemoteCheck(url, transport, self._now(), RemoteStatus.UNREACHABLE))
        client = Client(self._network)
        checking = Deferred.fromCoroutine(cancellable(self._run(client, progress, headers_needed)))
        try:
            await checking.addTimeout(self._timeout, self._clock)
        except TimeoutError:
            progress.fail(Ended(RemoteStatus.UNREACHABLE, f"It did not answer within {self._timeout:g} seconds."))
        except Ended as error:
            progress.fail(error)
        except NETWORK_ERRORS as error:
            progress.fail(ended(error))
        finally:
            await client.close()
        check = progress.check
        if check.status is RemoteStatus.WORKS and check.other_transport:
            detail = f"It is declared as {transport} and works with {check.other_transport}. {check.detail}"
            progress.set(check.status, detail)
        return progress.check

    async def _run(self, client: Client, progress: _Progress, headers_needed: bool) -> None:
        url, transport = progress.check.url, progress.check.transport
        if transport not in (STREAMABLE, EVENTS):
            raise Ended(RemoteStatus.NOT_CHECKABLE, "Its transport is neither streamable-http nor sse.")
        target_of(url)
        if not await self._robots.allow(client, url):
            raise Ended(RemoteStatus.REFUSES_ROBOTS, "Its robots.txt refuses checks.")
        try:
            await self._talk(client, progress, headers_needed)
        except LoginNeeded as needed:
            await self._find_login(client, progress, needed.reply, headers_needed)

    async def _talk(self, client: Client, progress: _Progress, headers_needed: bool) -> None:
        """Open a session with the declared transport, else with the other one, as clients do."""
        streamable = StreamableHttp(client, progress.check.url, self._offload)
        if progress.check.transport == STREAMABLE:
            try:
                await self._converse(streamable, progress, headers_needed, discovers=True)
            except OtherTransport as error:
                events = await self._other_events(client, progress.check.url, error)
                await self._converse(events, progress, headers_needed, other=EVENTS)
            return
        try:
            events = await self._open_events(client, progress.check.url, headers_needed)
        except OtherTransport as error:
            try:
                await self._converse(streamable, progress, headers_needed, other=STREAMABLE)
            except (Ended, *NETWORK_ERRORS) as other:
                # What one POST has shown of a remote that is declared otherwise counts only if it says more.
                if progress.is_known or (isinstance(other, Ended) and other.status is RemoteStatus.BUSY):
                    raise
                raise error from None
        else:
            await self._converse(events, progress, headers_needed)

    async def _converse(
        self,
        transport: Transport,
        progress: _Progress,
        headers_needed: bool,
        *,
        discovers: bool = False,
        other: str = "",
    ) -> None:
        """Open a session and list the tools. `other` is the transport if it is not the declared one."""
        started = self._clock.seconds()

        def answered() -> None:
            progress.know(RemoteStatus.WORKS, latency=self._clock.seconds() - started, other_transport=other)

        session = Session(transport, self._offload, headers_needed, answered)
        try:
            opened = await self._discover(session) if discovers else None
            if opened is None:
                started = self._clock.seconds()
                opened = await session.initialize()
            await self._list_tools(session, opened, progress)
            await session.end()
        finally:
            transport.close()

    async def _discover(self, session: Session) -> Opened | None:
        """Return the answer to server/discover. An older server may answer it with anything, or not at all."""
        asking = Deferred.fromCoroutine(cancellable(session.discover()))
        try:
            return await asking.addTimeout(self._timeout * DISCOVER_SHARE, self._clock)
        except TimeoutError:
            return None
        except (BadResponse, ResponseFailed, ResponseNeverReceived) as error:
            if ended(error).status is RemoteStatus.TLS_ERROR:
                raise
            return None

    async def _open_events(self, client: Client, url: str, headers_needed: bool) -> HttpWithEvents:
        """Return the declared transport with events. Raises OtherTransport if the remote may speak another one."""
        try:
            return await self._stream(client, url)
        except TimeoutError:
            seconds = self._timeout * ENDPOINT_SHARE
            detail = f"Its stream named no endpoint within {seconds:g} seconds."
            raise OtherTransport(RemoteStatus.UNREACHABLE, detail) from None
        except BadResponse as error:
            raise OtherTransport(RemoteStatus.NOT_MCP, error.message) from None
        except NotOpened as error:
            code = error.reply.code
            if code in NEEDS_LOGIN or (headers_needed and code in (400, 422)):
                raise LoginNeeded(error.reply) from None
            if code >= 500:
                raise Ended(RemoteStatus.UNREACHABLE, f"It answered {code}.") from None
            raise OtherTransport(RemoteStatus.NOT_MCP, f"It answered {code} without a stream of events.") from None

    async def _other_events(self, client: Client, url: str, refused: Ended) -> HttpWithEvents:
        """Return the transport with events of a remote that is declared otherwise. Raises `refused` without one."""
        try:
            return await self._stream(client, url)
        except NotOpened as error:
            if error.reply.code == 401:
                raise LoginNeeded(error.reply) from None
            raise refused from None
        except (TimeoutError, Ended, *NETWORK_ERRORS):
            raise refused from None

    async def _stream(self, client: Client, url: str) -> HttpWithEvents:
        opening = Deferred.fromCoroutine(cancellable(open_event_stream(client, url, self._offload)))
        return await opening.addTimeout(self._timeout * ENDPOINT_SHARE, self._clock)

    async def _list_tools(self, session: Session, opened: Opened, progress: _Progress) -> None:
        progress.set(
            RemoteStatus.WORKS,
            protocol_version=opened.protocol_version,
            server_name=opened.name,
            server_version=opened.version,
        )
        if not opened.has_tools:
            return
        try:
            tools, has_more, digest = await session.tools()
        except RpcError as error:
            progress.set(RemoteStatus.WORKS, f"It rejected tools/list: {error.message or error.code}")
        except BadResponse as error:
            progress.set(RemoteStatus.WORKS, error.message)
        else:
            progress.set(
                RemoteStatus.WORKS,
                tools=tools,
                tool_count=len(tools),
                has_more_tools=has_more,
                has_listed_tools=True,
                tools_digest=digest,
            )

    async def _find_login(self, client: Client, progress: _Progress, reply: Reply, headers_needed: bool) -> None:
        detail = f"It answered {reply.code}."
        if reply.code == 402:
            progress.know(RemoteStatus.NEEDS_LOGIN, f"{detail[:-1]}: it asks for a payment.", login=LoginKind.PAYMENT)
            return
        # Kept if the look-up of the metadata takes too long.
        progress.know(RemoteStatus.NEEDS_LOGIN, detail, login=LoginKind.KEY if headers_needed else LoginKind.UNKNOWN)
        kind, server = await kind_of_login(client, progress.check.url, reply.challenge, headers_needed)
        progress.set(RemoteStatus.NEEDS_LOGIN, detail, login=kind, authorization_server=server)
