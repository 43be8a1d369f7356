"""Settings of the removal of malicious packages."""

from __future__ import annotations

from attrs import frozen

from ...config import AtLeast, Seconds, name_patterns, setting, url_or_path


def sources(_: object, __: object, items: tuple[str, ...]) -> None:
    """Validate paths and URLs."""
    for item in items:
        url_or_path(None, None, item)


@frozen
class RemovalsConfig:
    """Removal of entries with malicious packages."""

    sources: tuple[str, ...] = setting(
        (),
        "Files, folders, zip archives or URLs of OSV records of malicious packages.",
        sources,
    )
    interval: Seconds = setting(86_400.0, "Time between two readings of the sources.", AtLeast(600))
    ids: tuple[str, ...] = setting(("MAL-*",), "Patterns of ids of records that remove entries.")
    keep: tuple[str, ...] = setting((), "Patterns of names that are never removed.", name_patterns)
