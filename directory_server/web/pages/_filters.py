"""Template filters: values of untrusted origin, and times."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import quote, urlsplit

from markupsafe import Markup, escape

from ...texts import hosts
from ...texts.sanitize import clean, clean_text

_DAY = 86_400.0


def plain(value: object, limit: int = 300) -> str:
    """Return sanitized text of at most `limit` characters, see `sanitize`."""
    return clean_text(str(value), limit)


def link(value: object) -> str:
    """Return a URL that is safe as a link, its host in ASCII; for any other value an empty text.

    The URL has the scheme http or https, a valid host and no user information.
    """
    text = str(value)
    if len(text) > 2_000 or not text.isprintable() or " " in text or clean(text) != text:
        return ""
    try:
        parts = urlsplit(text)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            return ""
        return hosts.ascii_url(text)
    except ValueError:
        return ""


def filled(path: str, values: Mapping[str, object]) -> str:
    """Return a path with `values`, percent-encoded, in its placeholders."""
    return path.format_map({name: quote(str(value), safe="") for name, value in values.items()})


def host(value: object) -> str:
    """Return the host of a URL that `link` accepts, else an empty text."""
    return urlsplit(link(value)).hostname or ""


def caution(value: object) -> str:
    """Return the reason to check the host of a URL: `international`, `private`, `local`, or an empty text."""
    try:
        host = hosts.of(str(value))
    except ValueError:
        return ""
    return "international" if host.international else "" if host.scope == "public" else host.scope


def moment(seconds: float) -> Markup:
    """Return an element with a time in seconds since the epoch and its date, in UTC; scripts show local time."""
    return _time(seconds, "datetime", "%Y-%m-%d %H:%M UTC")


def next_moment(seconds: float, now: float) -> Markup:
    """Return an element with a time after `now`, without the date if it is in the next 24 hours."""
    return _time(seconds, "time", "%H:%M UTC") if seconds - now < _DAY else moment(seconds)


def date(seconds: float) -> str:
    """Return the date of a time in seconds since the epoch, an empty text for one that has none."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
    except (ValueError, OverflowError, OSError):
        return ""


def bdi(text: str) -> Markup:
    """Return a text that is not ours in an element that isolates its direction."""
    return Markup("<bdi>{}</bdi>").format(text)


def code(text: str) -> Markup:
    """Return a text for the content of an element. Quotes need an escape in attributes only."""
    # `replace` of a Markup would escape the quotes again.
    return Markup(str(escape(text)).replace("&#34;", '"').replace("&#39;", "'"))


def _time(seconds: float, style: str, form: str) -> Markup:
    utc = datetime.fromtimestamp(seconds, UTC)
    element = Markup('<time datetime="{}" data-local="{}">{}</time>')
    return element.format(utc.strftime("%Y-%m-%dT%H:%M:%SZ"), style, utc.strftime(form))
