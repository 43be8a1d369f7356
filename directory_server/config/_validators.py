"""Validators of settings, and the declaration of a setting as an attrs field."""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import ip_network
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urlsplit

import attrs
from attrs import field, frozen

from . import endpoints
from ._types import as_text

T = TypeVar("T")
Validator: TypeAlias = Callable[[Any, "attrs.Attribute[Any]", Any], None]
"""Raises ValueError with a message that starts with "must"."""


def setting(
    default: T,
    doc: str,
    validator: Validator | None = None,
    *,
    secret: bool = False,
    daily: bool = False,
    step: str = "",
    table_of_text: Callable[[str], dict[str, object]] | None = None,
) -> T:
    """Declare a setting with its `default` and its meaning, `doc`, in one line.

    The value of a `secret` setting is never shown. The documentation lists `daily` settings first. `step` is the key of
    a text: operators are asked to decide on the setting until it is set. An array of tables can be a text if
    `table_of_text` returns the table of each item, separated by spaces; it raises ValueError.
    """
    metadata = {"doc": doc, "secret": secret, "daily": daily, "step": step, "table_of_text": table_of_text}
    return field(default=default, validator=validator, metadata=metadata)


@frozen
class AtLeast:
    """Validates a number of at least `minimum`. None (unlimited) is valid."""

    minimum: int

    def __call__(self, _: object, setting: attrs.Attribute[Any], value: float | None) -> None:
        if value is not None and value < self.minimum:
            raise ValueError(f"must be at least {as_text(self.minimum, setting.type)}")


def above_zero(_: object, __: object, value: float) -> None:
    """Validate a number above 0."""
    if value <= 0:
        raise ValueError("must be above 0")


def fraction(_: object, __: object, value: float) -> None:
    """Validate a number from 0 to 1."""
    if not 0 <= value <= 1:
        raise ValueError("must be from 0 to 1")


def each_matches(pattern: str, description: str, *, allow_empty: bool = True) -> Validator:
    """Return a validator of lists whose items all match `pattern`; `description` says what they must be."""

    def validate(_: object, __: object, items: tuple[str, ...]) -> None:
        if not (items or allow_empty) or not all(re.fullmatch(pattern, item) for item in items):
            raise ValueError(f"must be {description}")

    return validate


def line(maximum: int) -> Validator:
    """Return a validator of a printable text of at most `most` characters."""

    def validate(_: object, __: object, text: str) -> None:
        if len(text) > maximum or not text.isprintable():
            raise ValueError(f"must have at most {maximum} characters, all of them printable")

    return validate


def color(_: object, __: object, text: str) -> None:
    """Validate a colour as CSS writes it in hexadecimal, or an empty string."""
    if text and not re.fullmatch("#[0-9a-fA-F]{6}", text):
        raise ValueError("must be a colour such as #0b6670")


name_patterns = each_matches(r"\S+", "patterns of names such as com.example/*")
"""Validates patterns of names."""


def _check_port(description: str) -> None:
    port = endpoints.read(description).port
    if port is not None and not (re.fullmatch("[0-9]{1,5}", port) and int(port) <= 65_535):
        raise ValueError("must have a port from 0 to 65535, as in tcp:8080")


_endpoints = each_matches(
    r"\w+:.+", "one or more endpoints such as tcp:8080 or unix:/run/directory.sock", allow_empty=False
)


def listen_endpoints(_: object, __: Any, items: tuple[str, ...]) -> None:
    """Validate the descriptions of one or more Twisted endpoints."""
    _endpoints(_, __, items)
    for item in items:
        _check_port(item)


def endpoint(_: object, __: object, text: str) -> None:
    """Validate the description of a Twisted endpoint, or an empty string."""
    if text and not re.fullmatch(r"\w+:.+", text):
        raise ValueError("must be an endpoint such as tcp:9090:interface=127.0.0.1")
    # The placeholder of the number of a process may be a part of the port.
    _check_port(text.replace("{process}", "1"))


def base_url(_: object, __: object, text: str) -> None:
    """Validate an http or https URL without a path, or an empty string."""
    if text and not re.fullmatch(r"https?://[^\s/?#]+/?", text):
        raise ValueError("must be a URL such as https://directory.example.org, without a path")


def connection_string(_: object, __: object, text: str) -> None:
    """Validate a connection string of libpq, or an empty string; libpq reads the rest."""
    if not text.isprintable() or (text and "=" not in text and not re.match(r"postgres(ql)?://", text)):
        raise ValueError("must be a connection string such as host=db.example.org dbname=directory, or postgresql://…")


def proxies(_: object, __: object, items: tuple[str, ...]) -> None:
    """Validate addresses, networks and the word "unix"."""
    for item in items:
        try:
            item == "unix" or ip_network(item, strict=False)
        except ValueError:
            raise ValueError("must be addresses or networks such as 127.0.0.1, 10.0.0.0/8, or unix") from None


def networks(_: object, __: object, items: tuple[str, ...]) -> None:
    """Validate addresses and networks."""
    for item in items:
        try:
            ip_network(item, strict=False)
        except ValueError:
            raise ValueError("must be addresses or networks such as 10.0.0.0/8 or fd00::/8") from None


def source_name(_: object, __: object, name: str) -> None:
    """Validate the name of a source of entries. Entries without an upstream have other sources."""
    if name in ("local", "published", "imported", "removed") or not re.fullmatch(r"([a-z0-9][a-z0-9._-]{0,39})?", name):
        raise ValueError("must be 1 to 40 of a-z, 0-9, '.', '_' and '-', and not 'local', 'published' or 'imported'")


def _is_url(text: str) -> bool:
    """Return whether `text` is an http or https URL without credentials."""
    try:
        parts = urlsplit(text)
        is_url = parts.scheme in ("http", "https") and parts.hostname and parts.username is None and parts.port != 0
    except ValueError:
        return False
    return bool(is_url)


def url_or_path(_: object, __: object, text: str) -> None:
    """Validate an http or https URL without credentials, or the path of a file."""
    if not text.isprintable() or not (_is_url(text) or "://" not in text):
        raise ValueError("must be an http or https URL without a password, or the path of a file")


def endpoint_url(_: object, __: object, text: str) -> None:
    """Validate an http or https URL of ASCII characters without credentials, or an empty string."""
    if text and not (_is_url(text) and text.isascii() and text.isprintable() and " " not in text):
        raise ValueError("must be an http or https URL without a password")


def issuer_url(_: object, __: object, text: str) -> None:
    """Validate the URL of an issuer of tokens: https, or http on this machine; or an empty string."""
    endpoint_url(_, __, text)
    parts = urlsplit(text)
    if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise ValueError("must be an https URL, or an http URL of this machine")
