"""Request headers whose values come from environment variables or files, to keep secrets out of the configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ._errors import UpstreamFailed


def headers(templates: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of `templates`: `Name: env:VARIABLE` or `Name: file:/path`.

    Raises UpstreamFailed if a value is missing or invalid.
    """
    return {
        name: _value(name, source.strip(), environ) for name, _, source in (each.partition(":") for each in templates)
    }


def _value(name: str, source: str, environ: Mapping[str, str]) -> str:
    kind, _, where = source.partition(":")
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
