"""Import files: decode their entries and publish them in batches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice

from attrs import define, field, frozen

from ..domain.changes import Outcome, PublishReport
from ..domain.entries import Entry
from ..domain.errors import BadInput
from ..serialization import decode, decode_entry, unread_parts, with_official_flag
from ._documents import Document, documents

BATCH = 500
"""Entries published in one transaction, by default and approximately."""

BATCH_BYTES = 4_000_000
"""Bytes of JSON in one transaction, approximately."""

DETAILS = 1_000
"""Rejected entries that a report lists."""

MAX_PARTS = 5
"""Parts of an entry that cannot be read, and that a report lists."""

Publish = Callable[[str, Sequence[Entry]], Awaitable[Sequence[Outcome]]]
"""Stores entries of a source and returns the outcome of each, as `Directory.publish` does."""


@frozen
class RejectedEntry:
    """A rejected entry or part of one: its file, the line where the entry begins (from 1), and the reason.

    `line` is None if the file could not be read, or not to its end.
    """

    file: str
    line: int | None
    reason: str


@frozen
class Progress:
    """Progress: `read` of `size` bytes of `file`, before inflation. `size` is None for a pipe.

    `entries` is the number of entries of all files so far, published or rejected.
    """

    file: str
    read: int
    size: int | None
    entries: int


@define
class ImportReport(PublishReport):
    """Outcomes of the entries so far.

    `rejected` counts rejected entries, and `rejections` lists the first DETAILS of them. `warnings` has as many parts
    of others that cannot be read, at most MAX_PARTS of an entry. `unfinished` counts the files that could not be read,
    or not to their end. `rejected_files` counts the other files without any accepted entry.
    """

    rejected: int = 0
    unfinished: int = 0
    rejected_files: int = 0
    rejections: list[RejectedEntry] = field(factory=list)
    warnings: list[RejectedEntry] = field(factory=list)

    @property
    def entries(self) -> int:
        """The number of entries read."""
        return self.published + self.rejected

    def reject(self, entry: RejectedEntry) -> None:
        self.rejected += 1
        if len(self.rejections) < DETAILS:
            self.rejections.append(entry)


async def import_files(
    files: Iterable[str],
    publish: Publish,
    *,
    source: str,
    batch: int = BATCH,
    official: bool = False,
    progress: Callable[[Progress], None] = lambda progress: None,
    report: ImportReport | None = None,
) -> ImportReport:
    """Publish the entries of `files` as entries of `source`, at most `batch` in a transaction; return the report.

    "-" is the standard input. With `official`, the files are trusted about which entries the official registry lists.
    A file or entry that cannot be read is rejected, and the import continues. Raises Unavailable if the store cannot
    write: earlier transactions stay, and `report` has their outcomes. Files are read in the calling thread, so this is
    for commands, not for a server.
    """
    report = ImportReport() if report is None else report
    with closing(batches(files, report, batch=batch, progress=progress)) as read:
        for entries in read:
            report.count(
                await publish(source, [with_official_flag(entry) for entry in entries] if official else entries)
            )
    return report


def batches(
    files: Iterable[str],
    report: ImportReport,
    *,
    batch: int = BATCH,
    most: int | None = None,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> Generator[list[Entry], None, None]:
    """Yield the valid entries of `files`, at most `batch` at a time, and add the others to `report`.

    At most `most` inflated bytes of each file are read.
    """
    entries: list[Entry] = []
    size = 0
    for file in files:
        for entry, length in _entries(file, progress, report, most):
            entries.append(entry)
            size += length
            if len(entries) >= batch or size >= BATCH_BYTES:
                yield entries
                entries, size = [], 0
    if entries:
        yield entries


def _entries(
    file: str, progress: Callable[[Progress], None], report: ImportReport, most: int | None
) -> Iterator[tuple[Entry, int]]:
    """Yield the valid entries of a file, each with its length in bytes, and add the others to `report`."""

    def notify(read: int, size: int | None) -> None:
        progress(Progress(file, read, size, report.entries))

    rejected_before, unfinished_before, accepted = report.rejected, report.unfinished, False
    for document in documents(file, notify, most=most):
        try:
            entry = _decoded(document)
        except BadInput as error:
            path = f"{document.json_path}: " if document.json_path else ""
            report.reject(RejectedEntry(file, document.line, path + error.message))
            report.unfinished += document.final
        else:
            accepted = True
            parts = islice(unread_parts(entry.server), min(MAX_PARTS, DETAILS - len(report.warnings)))
            report.warnings += [RejectedEntry(file, document.line, f"{entry.name}: {part}") for part in parts]
            yield entry, len(document.body)
    if report.rejected > rejected_before and not accepted and report.unfinished == unfinished_before:
        report.rejected_files += 1


def _decoded(document: Document) -> Entry:
    if document.error:
        raise BadInput(document.error)
    return decode_entry(decode(document.body, what="The entry"))
