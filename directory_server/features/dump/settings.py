"""Settings of the dump."""

from __future__ import annotations

from attrs import frozen

from ...config import AtLeast, Bytes, Seconds, setting


@frozen
class DumpConfig:
    """The dump of all entries. Clients of the registry API may download it (`registry.access`)."""

    max_age: Seconds = setting(3_600.0, "Age up to which an outdated dump is served.", AtLeast(0))
    folder: str = setting("", "Directory of the dump; if empty: dump in index_dir or data_dir, with database none.")
    every_kind: bool = setting(
        False, "Whether the dump has agents, skills and plugins, which older directories import as servers."
    )
    max_bytes: Bytes = setting(2_000_000_000, "Limit of the compressed size of a dump.", AtLeast(1_000_000))
