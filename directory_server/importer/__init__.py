"""Import entries from files into the directory."""

from ._chunks import STDIN
from ._documents import MAX_DOCUMENT, Document, documents
from ._importer import BATCH, BATCH_BYTES, ImportReport, Progress, Publish, RejectedEntry, batches, import_files

__all__ = [
    "BATCH",
    "BATCH_BYTES",
    "MAX_DOCUMENT",
    "STDIN",
    "Document",
    "ImportReport",
    "Progress",
    "Publish",
    "RejectedEntry",
    "batches",
    "documents",
    "import_files",
]
