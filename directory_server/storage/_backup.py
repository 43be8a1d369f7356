"""Backups of all that is stored: a folder with files of one moment each, and their digests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path
from tempfile import mkdtemp

from attrs import asdict, frozen

from .. import __version__, serialization, sqlite
from ..config import Config
from ..domain.errors import BadInput, DirectoryError, Unavailable
from ..domain.transfers import Restored
from ._open import place, postgres_driver
from ._storage import feature_files

MANIFEST = "backup.json"
"""The file with the digests of the others; it is written last."""

_SECRET = "session.secret"
_DUMP = "directory.dump"
_DATABASES = ("directory.db", "quota.db", "statistics.db")
_FILES = frozenset({*_DATABASES, _SECRET, _DUMP})
_STAGED = "restoring-"
_REPLACED = ("*.db", "*.db-wal", "*.db-shm", _SECRET, "index-*.bin")
"""Files of a data directory that belong to one state of it, beside those of features."""

_MAX_MANIFEST = 100_000


@frozen
class Backup:
    """A backup: `made_at` is in seconds since the epoch, `files` are SHA-256 digests by name, `bytes` the sum."""

    made_at: float
    version: str
    place: str
    bytes: int
    files: Mapping[str, str]


@frozen
class Restoration:
    """What a restore has done: the folder with the files from before, if any, and how the databases were prepared.

    `problem` is why nothing was copied from the databases before: empty if there were none, None if all was copied.
    """

    before: Path | None = None
    result: Restored | None = None
    problem: str | None = ""


def write_backup(config: Config, folder: Path, now: float, show: Callable[[str], None]) -> Backup:
    """Write a backup of the storage of `config` to the new or empty `folder`, and read it again.

    Servers may run. The folder has no incomplete backup: it is renamed when all is verified. `show` gets a line for
    each step. Raises BadInput and Unavailable.
    """
    _check_empty(folder)
    draft = _new_folder(folder.absolute().parent, f".{folder.name}-")
    try:
        if config.database:
            show(f"Dumping {place(config)}")
            with postgres_driver() as postgres:
                postgres.dump_database(config.database, draft / _DUMP)
        else:
            for name in filter(lambda name: (config.data_dir / name).is_file(), _DATABASES):
                show(f"Copying {name}")
                sqlite.copy_database(config.data_dir / name, draft / name)
            (draft / _SECRET).write_bytes(sqlite.session_secret(config.data_dir))
        for path in draft.iterdir():
            path.chmod(0o600)
            with path.open("rb") as file:
                os.fsync(file.fileno())
        show("Reading the copy again")
        _check_content(draft)
        files = {path.name: _digest(path) for path in sorted(draft.iterdir())}
        size = sum(path.stat().st_size for path in draft.iterdir())
        backup = Backup(now, __version__, place(config), size, files)
        _write(draft / MANIFEST, backup)
        draft.rename(folder)
    except OSError as error:
        raise Unavailable(f"{folder} cannot be written: {error.strerror}.") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return backup


def read_backup(folder: Path) -> Backup:
    """Return the backup in `folder` after reading all of it. Raises BadInput if it is damaged or incomplete."""
    backup = _read(folder / MANIFEST)
    if backup is None:
        raise BadInput(f"{folder} is not a backup: it has no readable {MANIFEST}.")
    if not _FILES.issuperset(backup.files) or not {_DUMP, _DATABASES[0]}.intersection(backup.files):
        raise BadInput(f"{folder} is not a backup: {MANIFEST} does not name the files of one.")
    for name, digest in backup.files.items():
        path = folder / name
        if not path.is_file() or _digest(path) != digest:
            raise BadInput(f"{path} is missing, or differs from its digest in {MANIFEST}.")
    _check_content(folder)
    return backup


def put_backup(config: Config, folder: Path, backup: Backup, now: float) -> Restoration:
    """Replace the content of the storage of `config` by the `backup` that was read from `folder`.

    A database must be empty, and be prepared for serving afterwards. No server may run. The databases of a data
    directory are prepared before they replace others: a process that dies leaves all from before, or all of the backup.
    Raises BadInput and Unavailable.
    """
    is_dump = _DUMP in backup.files
    if is_dump != bool(config.database):
        kind, wanted = ("PostgreSQL", "the setting database") if is_dump else ("SQLite", "no setting database")
        raise BadInput(f"{folder} is a backup of {kind}. Restore it with {wanted}.")
    if config.database:
        with postgres_driver() as postgres:
            postgres.load_dump(config.database, folder / _DUMP)
        return Restoration()
    data = config.data_dir
    staged = None
    try:
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        for left in data.glob(f"{_STAGED}*"):
            # Of a process that was killed.
            shutil.rmtree(left, ignore_errors=True)
        staged = _new_folder(data, _STAGED)
        for name in backup.files:
            shutil.copyfile(folder / name, staged / name)
            (staged / name).chmod(0o600)
        result, problem = _prepare(staged, data)
        before = data / f"before-restore-{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%SZ}"
        replaced = [path for pattern in (*_REPLACED, *feature_files(config)) for path in data.glob(pattern)]
        if replaced:
            before.mkdir(mode=0o700)
        for path in replaced:
            _keep(path, before / path.name)
        _replace(data, staged, replaced)
    except OSError as error:
        raise Unavailable(f"{data} cannot be written: {error.strerror}.") from None
    finally:
        if staged is not None:
            shutil.rmtree(staged, ignore_errors=True)
    return Restoration(before if replaced else None, result, problem)


def _prepare(staged: Path, data: Path) -> tuple[Restored, str | None]:
    """Upgrade and prepare the databases in `staged`; copy what is newer in `data`, or return why that is impossible.

    The reason is empty if there is no database in `data`. Raises Unavailable for files of a newer version.
    """
    newer = data / _DATABASES[0]
    opened = sqlite.DataDirectory(staged)
    try:
        if not newer.is_file():
            return sqlite.after_restore(opened.directory, None), ""
        # They must have the same schema to be compared. They may be damaged.
        with suppress(Unavailable):
            sqlite.DataDirectory(data).close()
        try:
            return sqlite.after_restore(opened.directory, newer), None
        except DirectoryError as error:
            return sqlite.after_restore(opened.directory, None), error.message
    finally:
        opened.close()


def _keep(path: Path, kept: Path) -> None:
    """Give a file a second name, or copy it where the file system has no such names."""
    try:
        kept.hardlink_to(path)
    except OSError:
        shutil.copy2(path, kept)


def _replace(data: Path, staged: Path, replaced: Sequence[Path]) -> None:
    """Replace files of `data` by those in `staged`, first the database, by which others are valid or not."""
    names = sorted((path.name for path in staged.iterdir()), key=lambda name: name != _DATABASES[0])
    for path in replaced:
        # A log of transactions is part of the database before.
        if path.name.endswith(("-wal", "-shm")):
            path.unlink()
    for name in names:
        (staged / name).replace(data / name)
    for path in replaced:
        if path.name not in names:
            path.unlink(missing_ok=True)


def _check_empty(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder} must be a new or empty folder, such as /backup/$(date +%F).")


def _new_folder(parent: Path, prefix: str) -> Path:
    """Return a new folder, of this user only."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        return Path(mkdtemp(dir=parent, prefix=prefix))
    except OSError as error:
        raise Unavailable(f"{parent} cannot be written: {error.strerror}.") from None


def _check_content(folder: Path) -> None:
    """Read the databases of a backup. Raises BadInput or Unavailable."""
    if (folder / _DUMP).is_file():
        with postgres_driver() as postgres:
            postgres.check_dump(folder / _DUMP)
        return
    for name in _DATABASES:
        if (folder / name).is_file():
            sqlite.check_database(folder / name)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _write(path: Path, backup: Backup) -> None:
    """Write the record of a backup, whole or not at all."""
    draft = path.with_name(f"{path.name}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(serialization.pretty(asdict(backup)))
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)


def _read(path: Path) -> Backup | None:
    try:
        with path.open("rb") as file:
            value = serialization.decode(file.read(_MAX_MANIFEST))
        files = {str(name): str(digest) for name, digest in value["files"].items()}
        made_at = float(value["made_at"])
        datetime.fromtimestamp(made_at, UTC)
        return Backup(made_at, str(value["version"]), str(value["place"]), int(value["bytes"]), files)
    except (OSError, OverflowError, BadInput, LookupError, TypeError, ValueError, AttributeError):
        return None
