"""Settings of the audit log."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from ...config import AtLeast, ConfigError, Seconds, above_zero, each_matches, read_setting_file, setting

_HEAD = "audit-head"

UPKEEP = 600.0
"""Seconds between two checkpoints, and deletions of old records."""


@frozen
class AuditConfig:
    """The audit log of what operators, members, publishers and commands do."""

    enabled: bool = setting(False, "Whether actions are recorded.", step="admin.step_audit")
    reads: tuple[str, ...] = setting(
        (),
        "Beginnings of paths whose reads are recorded, such as /admin.",
        each_matches(r"/\S*", "paths such as /admin or /api/open/v1/entries"),
    )
    keep: Seconds = setting(31_536_000.0, "Time for which a record is stored.", above_zero)
    max_records: int = setting(1_000_000, "Limit of records; the oldest are deleted first.", AtLeast(1_000))
    key_file: str = setting("", "File with a key of 32 bytes or more that signs checkpoints (HMAC-SHA-256).")

    head_file: str = setting("", "File for the signed head of the log; if empty: in data_dir.")

    def key(self) -> bytes:
        """Return the key of checkpoints, empty without one. Raises ConfigError."""
        key = read_setting_file("audit.key_file", self.key_file)
        if self.key_file and len(key) < 32:
            raise ConfigError("audit.key_file: must have a key of at least 32 bytes.")
        return key

    @property
    def state_files(self) -> tuple[str, ...]:
        """The names of files in the data directory that a restore of the databases moves away with them."""
        return (_HEAD,)

    def head_path(self, data_dir: Path) -> Path:
        """Return the path of the file with the head of the log."""
        return Path(self.head_file or data_dir / _HEAD)
