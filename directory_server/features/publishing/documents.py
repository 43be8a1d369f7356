"""Documents of publishers: entries from server.json, status changes, and the responses to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import asdict, evolve
from attrs.filters import exclude

from ...domain.endings import MAX_MESSAGE, Ending, new_ending
from ...domain.entries import MAX_NAME, OFFICIAL, Entry
from ...domain.errors import BadInput, InvalidServer
from ...domain.keys import digest
from ...domain.shapes import Issue, Object, Text
from ...domain.versions import Version, epoch
from ...serialization import (
    UNKNOWN_VERSION,
    decode,
    decode_entry,
    encode,
    encode_entry,
    is_catalog_entry,
    raw,
    registry_entry,
    rfc3339,
    text,
)
from .server_json import check_server, publishable, version_issues
from .tokens import PublisherToken

STATUSES = ("active", "deprecated", "deleted")

_STATUS = Object({"status": Text(allowed=STATUSES), "statusMessage": Text(MAX_MESSAGE)}, ["status"])

_ENDING = Object({"date": Text(10), "replaced_by": Text(MAX_NAME), "message": Text(MAX_MESSAGE)}, ["date"])

_MOVE = Object({"new_name": Text(MAX_NAME), "message": Text(MAX_MESSAGE)}, ["new_name"])


def published_entry(server: Any, now: float) -> Entry:
    """Return the entry of a published document at `now`, in seconds since the epoch. Raises InvalidServer.

    A document is a server.json, or a catalog entry of another kind.
    """
    if issues := server_issues(server):
        raise InvalidServer(issues)
    date = rfc3339(now)
    document = decode_entry(server).server if is_catalog_entry(server) else publishable(server)
    return Entry(document, {OFFICIAL: {"status": "active", "publishedAt": date, "updatedAt": date}})


def server_issues(server: Any) -> Sequence[Issue]:
    """Return the issues of a document, none if it may be published."""
    if is_catalog_entry(server):
        return _card_issues(server)
    return check_server(server, lambda value: len(encode(value)))


def _card_issues(value: Mapping[str, Any]) -> Sequence[Issue]:
    """Return the issues of a catalog entry, at most one of its card."""
    try:
        entry = decode_entry(value)
    except BadInput as error:
        path, _, message = error.message.rpartition(": ")
        return [Issue(path, message)]
    if entry.version == UNKNOWN_VERSION:
        return [Issue("version", "is required, in the card or beside it.")]
    return version_issues(entry.version, "version")


def status_change(body: Any, now: float) -> tuple[str, Callable[[Entry], Entry | None]]:
    """Return the requested status, and a function that applies it to an entry; it returns None if nothing changes.

    Raises InvalidServer.
    """
    issues = _STATUS(body, "")
    if not issues and body["status"] == "active" and "statusMessage" in body:
        issues = [Issue("statusMessage", "must be absent for the status 'active'.")]
    if issues:
        raise InvalidServer(issues)
    wanted = {"status": body["status"]} | ({"statusMessage": body["statusMessage"]} if "statusMessage" in body else {})

    def change(entry: Entry) -> Entry | None:
        official = {name: value for name, value in entry.official.items() if name not in ("status", "statusMessage")}
        if {**official, **wanted} == entry.official:
            return None
        date = rfc3339(now)
        return evolve(
            entry, meta={**entry.meta, OFFICIAL: {**official, **wanted, "statusChangedAt": date, "updatedAt": date}}
        )

    return str(body["status"]), change


def ending_of_body(name: str, body: Any) -> Ending | None:
    """Return the end of life of `name` that a request sets; None if its date is empty.

    Raises InvalidServer and BadInput.
    """
    if issues := _ENDING(body, ""):
        raise InvalidServer(issues)
    if not body["date"]:
        return None
    return new_ending(name, body["date"], body.get("replaced_by", ""), body.get("message", ""), "publisher")


def move_of_body(body: Any) -> tuple[str, str]:
    """Return the new name and the message of a request that moves a name. Raises InvalidServer."""
    if issues := _MOVE(body, ""):
        raise InvalidServer(issues)
    return body["new_name"], body.get("message", "")


def login_token(body: Any, member: str, most: int) -> str:
    """Return the token of at most `most` characters in the request of a login. Raises InvalidServer."""
    if issues := Object({member: Text(most, 1)}, [member])(body, ""):
        raise InvalidServer(issues)
    return str(body[member])


def published_response(entry: Entry, latest: bool, now: float) -> bytes:
    """Return a published version as an encoded item of the registry API."""
    published_at = epoch(entry.official.get("publishedAt"))
    return registry_entry(
        Version(
            name=entry.name,
            version=entry.version,
            body=encode_entry(entry),
            published_at=now if published_at is None else published_at,
            updated_at=now,
            latest=latest,
            deleted=entry.official.get("status") == "deleted",
            curated=True,
        )
    )


def changed_response(count: int, items: Sequence[bytes]) -> bytes:
    """Return the response to a change of all versions: their number, and the first of them, encoded."""
    return encode({"updatedCount": count, "servers": [raw(item) for item in items]})


def validation_result(issues: Sequence[Issue]) -> Mapping[str, Any]:
    """Return the result of a validation in the form of the official registry."""
    return {
        "valid": not issues,
        "issues": [
            {"type": "schema", "path": issue.path, "message": issue.message, "severity": "error", "reference": ""}
            for issue in issues
        ],
    }


def publisher_token_row(token: PublisherToken, secret: str, login: str | None = None) -> dict[str, object]:
    """Return the columns of a new token as it is stored, with the digest of its secret and the kind of its login."""
    columns = asdict(token, filter=exclude("namespaces", "revoked_at"))
    return {**columns, "namespaces": text(token.namespaces), "digest": digest(secret), "login": login}


def publisher_token(row: Sequence[object]) -> PublisherToken:
    """Return the token of a stored row: id, label, namespaces, last four characters, begin, expiry and end."""
    token_id, label, namespaces, *others = row
    patterns = decode(str(namespaces).encode())
    return PublisherToken(str(token_id), str(label), tuple(patterns), *others)  # type: ignore[arg-type]
