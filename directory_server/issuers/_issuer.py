"""An issuer: its discovery document and keys, cached, and the verification of its tokens."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import urlsplit

from attrs import frozen
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, JWKRegistry, RSAKey
from twisted.internet.defer import Deferred, succeed
from twisted.logger import Logger

from ..domain.errors import BadInput, Unavailable
from ..domain.ports.runtime import Offload
from ..domain.ports.tracing import Trace
from ..http_client import BadResponse, document_client
from ..serialization import decode
from ..texts import hosts
from ._tokens import ALGORITHMS, TokenHeader, VerifiedToken, check_claims, read_header, verified_payload

MAX_KEYS = 100
"""Keys of a set. GitHub publishes about 5, the largest public issuers about 10."""

RSA_BITS = range(2_048, 8_193)
"""Sizes of the modulus of an RSA key."""

_MEMBERS = ("kty", "n", "e", "crv", "x", "y")
"""The public members of keys that verify. Secret ones, certificates and their URLs are not read."""

_MAX_EXPONENT = 8
"""Characters of an RSA exponent: 48 bits. OpenSSL takes milliseconds for a signature with a long one."""


@frozen
class VerificationKey:
    """A public key, its id ("" without one), and the algorithm that it is for ("" for each of its type)."""

    key: RSAKey | ECKey
    kid: str
    algorithm: str

    def fits(self, header: TokenHeader) -> bool:
        """Return whether the key may have signed a token with `header`. A token without key id fits each key."""
        return (
            (not header.kid or self.kid == header.kid)
            and self.algorithm in ("", header.algorithm)
            and self.key.key_type == ALGORITHMS[header.algorithm]
        )


def keys_of(body: bytes) -> Sequence[VerificationKey]:
    """Return the keys of a set that verify signatures. Keys of unknown types are skipped. Raises BadResponse."""
    document = decode(body, what="Its key set")
    members = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(members, list) or len(members) > MAX_KEYS:
        raise BadResponse(f"Its key set has no array of at most {MAX_KEYS} keys.")
    keys = [key for member in members if isinstance(member, dict) and (key := _key(member)) is not None]
    if not keys:
        raise BadResponse("Its key set has no key that verifies signatures.")
    return keys


def _key(member: Mapping[str, Any]) -> VerificationKey | None:
    kid, algorithm = member.get("kid", ""), member.get("alg", "")
    values = {name: member[name] for name in _MEMBERS if name in member}
    if (
        member.get("use", "sig") != "sig"
        or not all(isinstance(value, str) for value in (kid, algorithm, *values.values()))
        or values.get("kty") not in set(ALGORITHMS.values())
        or len(values.get("e", "")) > _MAX_EXPONENT
    ):
        return None
    try:
        with warnings.catch_warnings():
            # A short RSA key is skipped below.
            warnings.simplefilter("ignore")
            key = JWKRegistry.import_key(values)
    except (JoseError, ValueError, TypeError):
        return None
    if isinstance(key, RSAKey) and key.public_key.key_size not in RSA_BITS:
        return None
    return VerificationKey(key, kid, algorithm) if isinstance(key, RSAKey | ECKey) else None


MAX_DOCUMENT = 262_144
"""Bytes of the discovery document and of the key set."""

DEADLINE = 5.0
"""Timeout of each of both in seconds."""

FRESH = 900.0
"""Seconds after which both are fetched again, beside the requests that use them."""

STALE = 3_600.0
"""Seconds for which they count while the issuer does not answer: a key that it has withdrawn counts no longer.

Most access tokens end earlier.
"""

PAUSE = 30.0
"""Least seconds between two fetches: unknown key ids and failures cause no more."""

MAX_WAITING = 1_000
"""Requests that wait for a fetch."""


class Documents(Protocol):
    """Gets documents, as DocumentClient does."""

    async def get(self, url: str, *, max_bytes: int, deadline: float) -> bytes:
        """Return the body of a document. Raises BadResponse."""


@frozen
class _Known:
    metadata: Mapping[str, Any]
    keys: Sequence[VerificationKey]


class Issuer:
    """An issuer that the operator trusts. All fetches are bounded, and one at a time serves all that wait.

    `clock` is an IReactorTime, `now` returns seconds since the epoch.
    """

    _log = Logger()

    def __init__(self, url: str, documents: Documents, offload: Offload, clock: Any, now: Callable[[], float]) -> None:
        self.url = issuer_url(url)
        self._documents = documents
        self._offload = offload
        self._clock = clock
        self._now = now
        self._known: _Known | None = None
        self._loaded = self._paused_until = float("-inf")
        self._waiting: list[Deferred[None]] | None = None
        self.last_success: float | None = None
        """When the keys were fetched last, in seconds since the epoch."""
        self.error = ""
        """The error since then."""

    async def metadata(self) -> Mapping[str, Any]:
        """Return the discovery document, whose `issuer` is this one. Raises Unavailable."""
        return (await self._current()).metadata

    async def verify(self, token: str, audiences: Collection[str]) -> VerifiedToken:
        """Return a token of this issuer for one of `audiences`. Raises InvalidToken and Unavailable."""
        header = read_header(token)
        keys = [key.key for key in (await self._current()).keys if key.fits(header)]
        if not keys:
            # The issuer may have a new key.
            keys = [key.key for key in (await self._current(again=True)).keys if key.fits(header)]
        claims = verified_payload(token, header, keys)
        check_claims(claims, self.url, audiences, self._now())
        return VerifiedToken(header.kind, claims)

    async def _current(self, *, again: bool = False) -> _Known:
        """Return the documents. Only a request that cannot use the known ones, or asks `again`, waits for a fetch."""
        now, age = self._clock.seconds(), self._clock.seconds() - self._loaded
        if (again or age > STALE) and now >= self._paused_until:
            await self._load_once()
        elif age > FRESH and now >= self._paused_until and self._waiting is None:
            self._load_once()
        if self._known is None or self._clock.seconds() - self._loaded > STALE:
            reason = self.error or "Too many requests wait for it."
            message = f"The keys of the issuer {self.url} cannot be fetched. {reason}"
            raise Unavailable(message, code="issuer_unavailable", retry_after=int(PAUSE))
        return self._known

    def _load_once(self) -> Deferred[None]:
        """Fetch both documents, unless a fetch runs; return what fires when it has ended. Errors become the state."""
        if self._waiting is None:
            self._waiting = []
            loading = Deferred.fromCoroutine(self._load())
            loading.addErrback(lambda failure: self._log.failure("The keys of an issuer were not read", failure))
            loading.addCallback(lambda _: self._wake())
        if self._waiting is None or len(self._waiting) >= MAX_WAITING:
            return succeed(None)
        self._waiting.append(Deferred())
        return self._waiting[-1]

    def _wake(self) -> None:
        self._paused_until = self._clock.seconds() + PAUSE
        waiting, self._waiting = self._waiting or [], None
        for deferred in waiting:
            # A request whose client has left is cancelled.
            if not deferred.called:
                deferred.callback(None)

    async def _load(self) -> None:
        try:
            self._known = await self._fetch()
        except (BadResponse, BadInput) as error:
            self.error = error.message
        else:
            self._loaded = self._clock.seconds()
            self.last_success, self.error = self._now(), ""

    async def _fetch(self) -> _Known:
        # OpenID Connect Discovery 1.0, section 4.
        body = await self._get(f"{self.url.rstrip('/')}/.well-known/openid-configuration")
        metadata = decode(body, what="Its discovery document")
        if not isinstance(metadata, dict) or metadata.get("issuer") != self.url:
            raise BadResponse("Its discovery document names another issuer.")
        try:
            keys_url = issuer_url(str(metadata.get("jwks_uri", "")))
        except ValueError:
            raise BadResponse("Its discovery document has no https URL of keys (jwks_uri).") from None
        return _Known(metadata, await self._offload(keys_of, await self._get(keys_url)))

    async def _get(self, url: str) -> bytes:
        return await self._documents.get(url, max_bytes=MAX_DOCUMENT, deadline=DEADLINE)


def issuer_of(url: str, reactor: Any, offload: Offload, now: Callable[[], float], trace: Trace) -> Issuer:
    """Return the issuer at `url`. Raises ValueError for an invalid URL."""
    return Issuer(url, document_client(reactor, "tokens", trace), offload, reactor, now)


MAX_URL = 1_000
"""Characters of a URL."""


def issuer_url(url: str) -> str:
    """Return `url`, an https URL without credentials and fragment, or an http URL of this machine.

    Raises ValueError with a message that starts with "must". OpenID Connect Discovery 1.0, section 3, demands https.
    """
    try:
        parts = urlsplit(url)
        host = hosts.read(parts.hostname or "")
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and host.scope == "local")
        is_plain = url.isascii() and url.isprintable() and not set(' "\\<>') & set(url) and len(url) <= MAX_URL
        is_valid = is_safe and is_plain and parts.username is None and not parts.fragment and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ValueError("must be an https URL without a password, or an http URL of this machine")
    return url
