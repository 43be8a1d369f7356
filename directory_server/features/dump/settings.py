"""Settings of the dump."""

from __future__ import annotations

from attrs import frozen

from ...config import AtLeast, Bytes, Seconds, setting


@frozen
class DumpConfig:
    """The dump of all entries. Clients of the registry API may download it (`registry.access`)."""

    max_age: Seconds = setting(
        3_600.0, "Age up to which a dump is served although entries have changed since.", AtLeast(0)
    )
    folder: str = setting(
        "", "Directory of the dump; if empty: the folder dump in index_dir or data_dir, and no dump with database."
    )
    every_kind: bool = setting(
        False, "Whether the dump has agents, skills and plugins, too. Older directories import them as servers."
    )
    max_bytes: Bytes = setting(2_000_000_000, "Maximum size of a dump, compressed.", AtLeast(1_000_000))
