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
        "Files, folders, zip archives or URLs of such with OSV records of malicious packages; if empty: nothing is "
        "removed.",
        sources,
    )
    interval: Seconds = setting(86_400.0, "Time from reading the sources to the next time.", AtLeast(600))
    ids: tuple[str, ...] = setting(
        ("MAL-*",), "Patterns of the ids of records that remove entries; other records are ignored."
    )
    keep: tuple[str, ...] = setting((), "Patterns of names that are never removed.", name_patterns)
