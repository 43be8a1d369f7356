"""Requests to the APIs of package registries: allowed hosts, bounds, and what is common to their documents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from attrs import field, frozen

from ....domain.checks import PackageStatus, PackageTexts
from ....domain.errors import BadInput
from ....domain.ports.runtime import Offload
from ....http_client import BadResponse
from ....serialization import decode
from ._client import Client, body_of, decoded
from ._ending import Ended
from ._package_texts import package_texts

MAX_DOCUMENT = 2_000_000
"""Bytes of a document."""

MAX_ELEMENTS = 250_000
"""Commas and opening brackets of a document, a bound of its JSON values."""

_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_!-]{0,127}")

MAX_REPOSITORY = 300
"""Characters of the URL of a repository."""

_REPOSITORY = re.compile(
    r"(?:git\+)?(?:https|git|ssh)://(?:git@)?(?P<host>github\.com|gitlab\.com)/(?P<path>\w[\w.-]*(?:/\w[\w.-]*){1,9})/?",
    re.ASCII,
)

_NAME_CHARACTER = re.compile(r"[0-9A-Za-z._/-]")


@frozen
class Found:
    """Answer of a package registry. The fields are those of PackageCheck, not yet cleaned."""

    status: PackageStatus
    latest_version: str = ""
    published_at: float | None = None
    deprecation: str = ""
    names_server: bool | None = None
    detail: str = ""
    texts: PackageTexts | None = None
    released_at: float | None = None
    provenance: str = ""


DENIED = frozenset({401, 403, 404})
"""Statuses with which registries of images hide what does not exist."""


class Failed(Exception):
    """The registry did not answer as documented; the message is a sentence."""


class TooLarge(Exception):
    """A document exceeds a bound."""


@frozen(eq=False)
class Api:
    """The API of one package registry at `origin`, for one check. Only `origin` and `others` are requested.

    `absent` are the statuses for what does not exist or is not public.
    """

    origin: str
    _client: Client
    _offload: Offload
    _others: frozenset[str] = field(default=frozenset())
    _absent: frozenset[int] = field(default=frozenset({404}))

    async def document(self, path: str, headers: Mapping[str, str] = {}) -> tuple[int, dict[str, Any]]:
        """Return the status of a GET, 200 or one for what is absent, and the JSON object of a response 200.

        `path` may be a URL of an allowed host. Raises Failed, TooLarge, Ended, and the errors of the network.
        """
        code, body = await self._get(path, {"Accept": "application/json", **headers})
        if code != 200:
            return code, {}
        return code, await decoded(self._offload, _object, body)

    async def text(self, path: str) -> tuple[int, str]:
        """Return the status of a GET, and the text of a response 200. Raises as `document` does."""
        code, body = await self._get(path, {"Accept": "text/plain, text/markdown;q=0.9, */*;q=0.5"})
        return code, body.decode("utf-8", "replace") if code == 200 else ""

    async def texts(self, summary: Any, keywords: Any, readme: Any) -> PackageTexts:
        """Return the texts of a document, cleaned in a thread: a README takes some milliseconds."""
        return await self._offload(package_texts, summary, keywords, readme)

    async def _get(self, path: str, headers: Mapping[str, str]) -> tuple[int, bytes]:
        url = f"{self.origin}{path}" if path.startswith("/") else path
        if not self._allows(url):
            raise Failed("It refers to a host that is not requested.")
        try:
            response = await self._client.request("GET", url, headers, max_bytes=MAX_DOCUMENT)
        except Ended as error:
            if not error.target or not self._allows(error.target):
                raise
            # Blobs are stored elsewhere; the token is only for the registry.
            without_token = {name: value for name, value in headers.items() if name != "Authorization"}
            response = await self._client.request("GET", error.target, without_token, max_bytes=MAX_DOCUMENT)
        try:
            body = await body_of(response)
        except BadResponse as error:
            raise TooLarge(error.message) from None
        if response.code != 200 and response.code not in self._absent:
            raise Failed(f"Its registry answered {response.code}.")
        return response.code, body

    def _allows(self, url: str) -> bool:
        return url.startswith(f"{self.origin}/") or _origin(url) in self._others


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}"


def _object(body: bytes) -> dict[str, Any]:
    if sum(map(body.count, (b",", b"[", b"{"))) > MAX_ELEMENTS:
        raise TooLarge(f"It sent a document of more than {MAX_ELEMENTS:,} JSON values.")
    try:
        value = decode(body)
    except BadInput:
        raise Failed("Its registry sent invalid JSON.") from None
    if not isinstance(value, dict):
        raise Failed("Its registry sent a document that is not an object.")
    return value


def is_version(text: str) -> bool:
    """Return whether `text` may be a version or tag in a path."""
    return _VERSION.fullmatch(text) is not None


def moment(text: Any) -> float | None:
    """Return an RFC 3339 or ISO 8601 time in seconds since the epoch, None if it is none or before 1990."""
    if not isinstance(text, str) or len(text) > 40:
        return None
    # Python 3.11 reads at most six digits of a fraction's nine.
    short = re.sub(r"(\.\d{6})\d+", r"\1", text)
    try:
        time = datetime.fromisoformat(short)
        seconds = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    # NuGet writes the year 1900 for versions that are not listed, builders of reproducible images write 1970.
    return seconds if seconds >= 631_152_000 else None


def text_of(value: Any) -> str:
    """Return `value` if it is a text, else an empty text."""
    return value if isinstance(value, str) else ""


def member(value: Any, *names: str) -> Any:
    """Return the member of nested objects at the path `names`; None if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def objects_of(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; none if `value` is no list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def repository_of(value: Any) -> str:
    """Return the https URL of a repository, such as `git+https://github.com/a/b.git`; empty if it is invalid."""
    match = _REPOSITORY.fullmatch(value) if isinstance(value, str) and len(value) <= MAX_REPOSITORY else None
    return f"https://{match['host']}/{match['path'].removesuffix('.git')}" if match else ""


def declares(readme: str, server_name: str) -> bool:
    """Return whether a README has the line "mcp-name: NAME", in full, as the official registry reads it."""
    marker, start = f"mcp-name: {server_name}", 0
    while (start := readme.find(marker, start)) >= 0:
        start += len(marker)
        if not _NAME_CHARACTER.match(readme, start):
            return True
    return False
