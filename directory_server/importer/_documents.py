"""The entries of a file, found as it is read."""

from __future__ import annotations

from collections.abc import Iterator

from ..serialization import MAX_ENTRY
from ._chunks import Read, Unreadable, chunks
from ._scanner import Document, Scanner


def documents(file: str, read: Read = lambda done, size: None, *, most: int | None = None) -> Iterator[Document]:
    """Yield the entries of `file`, "-" for the standard input, in the order in which they stand in it.

    The file holds JSON, JSON lines, or either of them compressed with gzip; what it is shows in its first bytes, not
    in its name. Its values are single entries, lists of them, or pages of a registry. It is read in chunks and never
    held whole, and no further than `most` bytes, inflated. What cannot be read is yielded as an error, never raised.
    `read` is called for each chunk.
    """
    try:
        yield from Scanner(file, chunks(file, read, most), MAX_ENTRY)
    except OSError as error:
        yield Document(file, None, error=f"The file cannot be read: {error.strerror or error}.", final=True)
    except Unreadable as error:
        yield Document(file, None, error=f"The file {error}.", final=True)
