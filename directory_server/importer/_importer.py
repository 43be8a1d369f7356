"""Files of entries into the directory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing

from attrs import define, field, frozen

from ..domain.changes import Outcome
from ..domain.entries import Entry
from ..domain.errors import BadInput
from ..serialization import decode, decode_entry, endorsed
from ._documents import documents
from ._scanner import Document

BATCH = 500
"""Entries published in one transaction, unless one asks for another number."""

BATCH_BYTES = 4_000_000
"""Bytes of JSON after which a transaction has enough, however few the entries."""

DETAILS = 1_000
"""Refusals that a report tells of one by one."""

Publish = Callable[[str, Sequence[Entry]], Awaitable[Sequence[Outcome]]]
"""Keeps entries of a source and says what became of each, as `Directory.publish` does."""


@frozen
class RejectedEntry:
    """An entry that was not taken, where it begins (`line` is from 1), and why.

    `line` is None where the file itself could not be read, or not further.
    """

    file: str
    line: int | None
    reason: str


@frozen
class Progress:
    """How far the reading has come: `read` of the `size` bytes of `file` as it is stored, compressed or not.

    `size` is None for a pipe; `entries` are those of all files that have been published or refused.
    """

    file: str
    read: int
    size: int | None
    entries: int


@define
class ImportReport:
    """What became of the entries so far. The counts are exact; `refusals` tells of the first DETAILS of the refused.

    `unfinished` counts the files that could not be read, or not to their end, `rejected` the others of which every
    entry was refused; `too_old` versions older than those that
    are kept of their name.
    """

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    refused: int = 0
    too_old: int = 0
    unfinished: int = 0
    rejected: int = 0
    refusals: list[RejectedEntry] = field(factory=list)

    @property
    def entries(self) -> int:
        """The number of entries read, whatever became of them."""
        return self.added + self.changed + self.unchanged + self.too_old + self.refused

    def count(self, outcomes: Sequence[Outcome]) -> None:
        """Add what became of entries that were published."""
        self.added += outcomes.count("added")
        self.changed += outcomes.count("changed")
        self.unchanged += outcomes.count("unchanged")
        self.too_old += outcomes.count("too_old")

    def refuse(self, refusal: RejectedEntry) -> None:
        """Add an entry that was not taken."""
        self.refused += 1
        if len(self.refusals) < DETAILS:
            self.refusals.append(refusal)


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
    """Publish the entries of `files` as those of `source`, at most `batch` in a transaction; return what they became.

    "-" is the standard input. `official` is whether the word of the files is taken for which entries the official
    registry lists. A file or an entry that cannot be read is refused and the rest goes on. Raises
    Unavailable where the store cannot write: earlier transactions stay, and `report`, which is filled as they are
    made, says how much they were. It reads in the calling thread: for a command, not for a process that serves.
    """
    report = ImportReport() if report is None else report
    with closing(batches(files, report, batch=batch, progress=progress)) as read:
        for entries in read:
            report.count(await publish(source, [endorsed(each) for each in entries] if official else entries))
    return report


def batches(
    files: Iterable[str],
    report: ImportReport,
    *,
    batch: int = BATCH,
    most: int | None = None,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> Generator[list[Entry], None, None]:
    """Yield the entries of `files`, at most `batch` at a time, and report the others as refused.

    No file is read further than `most` bytes of text.
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
    """Yield the entries of a file, each with its length in bytes, and report the others as refused."""

    def tell(read: int, size: int | None) -> None:
        progress(Progress(file, read, size, report.entries))

    refused_before, unfinished_before, accepted = report.refused, report.unfinished, False
    for document in documents(file, tell, most=most):
        try:
            entry = _decoded(document)
        except BadInput as refused:
            report.refuse(RejectedEntry(file, document.line, refused.message))
            report.unfinished += document.final
        else:
            accepted = True
            yield entry, len(document.body)
    if report.refused > refused_before and not accepted and report.unfinished == unfinished_before:
        report.rejected += 1


def _decoded(document: Document) -> Entry:
    if document.error:
        raise BadInput(document.error)
    return decode_entry(decode(document.body))
