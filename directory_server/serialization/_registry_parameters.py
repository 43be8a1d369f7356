"""Parameters and cursors of the registry API (the official registry's OpenAPI, version 2025-10-17)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve, frozen

from ..domain.errors import BadInput
from ..domain.versions import epoch
from ._cursors import decode_array, encode_array
from ._keywords import MAX_WORDS
from ._parameters import given_parameters, limit_of

MAX_REGISTRY_LIMIT = 100
DEFAULT_REGISTRY_LIMIT = 30
"""Entries of a page: the maximum, and the default."""

_BOOLEANS = dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "false", "FALSE", "False"), False
)
"""The texts that Go's strconv.ParseBool accepts, with which the official registry reads booleans."""


@frozen
class RegistryQuery:
    """A request for a page of the registry API.

    `version` is "all", "latest" or an exact version. `updated_since` is in seconds since the epoch. `after` is the end
    of the previous page: a name and version, or for a search a score and name; None for the first page.
    """

    search: str = ""
    version: str = "all"
    updated_since: float | None = None
    include_deleted: bool = False
    limit: int = DEFAULT_REGISTRY_LIMIT
    after: tuple[Any, str] | None = None


def registry_version_parameters(query: bytes, name: str) -> tuple[RegistryQuery, str]:
    """Return the request for versions of `name` in a query string, and the last version of the previous page.

    Raises BadInput, also for a cursor of another list.
    """
    given = _parameters(query)
    limit = _limit(given, MAX_REGISTRY_LIMIT)
    if not given.get("cursor"):
        return RegistryQuery(include_deleted=_include_deleted(given) or False, limit=limit), ""
    request = evolve(_decode_cursor(given["cursor"]), limit=limit)
    assert request.after is not None, "a cursor has the end of its page"
    if request.search or request.after[0] != name:
        raise BadInput("cursor: belongs to another list; use metadata.nextCursor of the previous page.")
    return request, request.after[1]


def registry_look_up_parameters(query: bytes) -> bool:
    """Return whether the query string of a look-up includes deleted versions. Raises BadInput."""
    return _include_deleted(_parameters(query)) or False


def registry_parameters(query: bytes) -> RegistryQuery:
    """Return the request in a query string. Unknown parameters are ignored.

    A cursor includes the search and filters of its first page, which VS Code omits from the second page on. Raises
    BadInput.
    """
    given = _parameters(query)
    limit = _limit(given, DEFAULT_REGISTRY_LIMIT)
    if "\0" in given.get("version", ""):
        raise BadInput("version: must not contain NUL.")
    if given.get("cursor"):
        return evolve(_decode_cursor(given["cursor"]), limit=limit)
    search = given.get("search", "").strip()
    if len(search) > MAX_WORDS:
        raise BadInput(f"search: must have at most {MAX_WORDS} characters, not {len(search):,}.")
    since, include_deleted = _updated_since(given), _include_deleted(given)
    if since is not None and include_deleted is False:
        raise BadInput("include_deleted: must not be false beside updated_since, which includes deleted versions.")
    return RegistryQuery(search, given.get("version") or "all", since, include_deleted or since is not None, limit)


def _parameters(query: bytes) -> dict[str, str]:
    # Clients send the cursor without percent-encoding, which base64url does not need. VS Code escapes nothing.
    return dict(given_parameters(query))


def encode_registry_cursor(query: RegistryQuery, after: tuple[Any, str]) -> str:
    """Return the cursor of the page of `query` after the name and version, or score and name, `after`."""
    fields = [query.search, query.version, query.updated_since, query.include_deleted, *after]
    return encode_array(fields)


def _decode_cursor(cursor: str) -> RegistryQuery:
    try:
        match decode_array(cursor):
            case [str(search), str(version), None | int() | float() as since, bool(deleted), str(after), str(name)]:
                if search:
                    raise ValueError
            case [
                str(search),
                str(version),
                None | int() | float() as since,
                bool(deleted),
                int() | float() as after,
                str(name),
            ]:
                if not search or len(search) > MAX_WORDS:
                    raise ValueError
            case _:
                raise ValueError
        if any(isinstance(text, str) and "\0" in text for text in (version, after, name)):
            raise ValueError
    except ValueError:
        raise BadInput("cursor: is invalid; use metadata.nextCursor of the previous page.") from None
    return RegistryQuery(search, version, since, deleted, after=(after, name))


def _limit(given: Mapping[str, str], default_limit: int) -> int:
    return limit_of(given["limit"], MAX_REGISTRY_LIMIT) if given.get("limit") else default_limit


def _include_deleted(given: Mapping[str, str]) -> bool | None:
    """Return the parameter include_deleted, None if it is absent."""
    text = given.get("include_deleted")
    if not text:
        return None
    if text not in _BOOLEANS:
        raise BadInput("include_deleted: must be true or false.")
    return _BOOLEANS[text]


def _updated_since(given: Mapping[str, str]) -> float | None:
    text = given.get("updated_since")
    if text is None:
        return None
    # An unescaped plus sign was decoded as a space.
    moment = epoch(text.replace(" ", "+"))
    if moment is None:
        raise BadInput("updated_since: must be an RFC 3339 date and time such as 2026-01-31T00:00:00Z.")
    return moment
