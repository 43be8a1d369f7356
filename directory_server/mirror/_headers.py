"""Headers whose values stand elsewhere, so that no secret stands in the configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ._errors import UpstreamFailed


def headers(given: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that `given` describes: `Name: env:VARIABLE` or `Name: file:/path`.

    Raises UpstreamFailed where a value cannot be had.
    """
    return {name: _value(name, place.strip(), environ) for name, _, place in (each.partition(":") for each in given)}


def _value(name: str, place: str, environ: Mapping[str, str]) -> str:
    kind, _, where = place.partition(":")
    try:
        value = environ[where] if kind == "env" else Path(where).read_text("utf-8").strip()
    except KeyError:
        raise UpstreamFailed(
            f"Its header {name} is in the variable {where} of the environment, which is not set."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UpstreamFailed(f"Its header {name} is in the file {where}, which cannot be read: {reason}.") from None
    if not value or not value.isascii() or not value.isprintable():
        raise UpstreamFailed(f"Its header {name} is in {where}, which holds no line of printable ASCII.")
    return value
