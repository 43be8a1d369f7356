"""Checks of a deployment: what the command `doctor` runs, and what features add to it."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Literal
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener

from attrs import frozen

from ..texts.sanitize import clean_line

TIMEOUT = 5.0
"""Seconds to wait for a peer, at each step."""

DEADLINE = 20.0
"""Seconds after which the checks that have not ended are given up."""

MAX_BODY = 65_536

MAX_REASON = 200
"""Characters of what a peer has sent, in a message."""

MAX_SKEW = 60.0
"""Seconds by which the clock may differ from that of a peer."""


@frozen
class Finding:
    """What a check has found: its name, a text, and unless all is well what to do."""

    check: str
    text: str
    cure: str = ""
    is_error: bool = True

    @property
    def state(self) -> Literal["ok", "warning", "error"]:
        """All is well, or a warning, or an error."""
        return "ok" if not self.cure else "error" if self.is_error else "warning"


Check = Callable[[], Iterable[Finding]]
"""A check, which may block. It runs in a thread."""


class Unreachable(Exception):
    """A peer cannot be reached, or its answer is invalid. The message says why, after the name of the peer."""


@frozen
class Answer:
    """An answer of an HTTP server; `skew` is how far its clock is ahead, in seconds, None if it sends no date."""

    status: int
    fields: Mapping[str, Sequence[str]]
    body: bytes
    skew: float | None


def fetch(url: str) -> Answer:
    """Return the answer of GET to an operator's URL, without proxies of the environment. Raises Unreachable."""
    opener = build_opener(ProxyHandler({}), HTTPSHandler(context=ssl.create_default_context()))
    try:
        try:
            response = opener.open(Request(url, headers={"User-Agent": "directory-server doctor"}), timeout=TIMEOUT)
        except HTTPError as error:
            response = error
        with response:
            fields = {name.lower(): response.headers.get_all(name, []) for name in response.headers}
            skew = _skew(next(iter(fields.get("date", [])), ""))
            return Answer(int(response.status or 0), fields, response.read(MAX_BODY), skew)
    except (OSError, HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, ssl.SSLCertVerificationError):
            raise Unreachable(f"has a certificate that is not valid: {reason.verify_message}") from None
        # It may quote the peer.
        said = clean_line(str(getattr(reason, "strerror", None) or reason), MAX_REASON)
        raise Unreachable(f"cannot be reached: {said}") from None


def _skew(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None


def certificate_expiry(url: str) -> float:
    """Return when the certificate at an https URL ends, in seconds since the epoch. Raises Unreachable."""
    parts = urlsplit(url)
    try:
        with (
            socket.create_connection((parts.hostname or "", parts.port or 443), TIMEOUT) as plain,
            ssl.create_default_context().wrap_socket(plain, server_hostname=parts.hostname) as connection,
        ):
            return ssl.cert_time_to_seconds(str((connection.getpeercert() or {}).get("notAfter")))
    except (OSError, ValueError) as error:
        raise Unreachable(f"cannot be reached: {error}") from None


def clock_findings(name: str, skew: float | None) -> Iterator[Finding]:
    """Yield a finding about the clock of this machine, compared with that of the peer `name`."""
    if skew is not None and abs(skew) > MAX_SKEW:
        text = f"The clock of this machine is {abs(skew):,.0f} seconds {'behind' if skew > 0 else 'ahead of'} {name}."
        yield Finding("time", text, "Synchronize it: timedatectl set-ntp true")
    elif skew is not None:
        yield Finding("time", f"The clock agrees with that of {name}.")


def findings_of(checks: Mapping[str, Check], deadline: float = DEADLINE) -> Iterator[Finding]:
    """Yield the findings of `checks`, which run at the same time, as they end; all within `deadline` seconds.

    `checks` are by name. One that has not ended yields an error, as does one that raises.
    """
    results: SimpleQueue[tuple[str, Sequence[Finding]]] = SimpleQueue()

    def run(name: str, check: Check) -> None:
        try:
            results.put((name, list(check())))
        except Exception as error:  # A check must not end the others.
            results.put((name, [Finding(name, f"The check failed: {error!r}.", "Report this defect.")]))

    for name, check in checks.items():
        Thread(target=run, args=(name, check), daemon=True).start()
    missing, end = list(checks), time.monotonic() + deadline
    while missing:
        try:
            name, findings = results.get(timeout=max(0, end - time.monotonic()))
        except Empty:
            break
        missing.remove(name)
        yield from findings
    for name in missing:
        text = f"It took more than {deadline:g} seconds."
        yield Finding(name, text, "Check the network and the name server of this machine.")
