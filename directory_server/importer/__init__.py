"""Files and registries, read entry by entry into the directory."""

from ._chunks import STDIN
from ._documents import documents
from ._importer import ImportReport, Progress, Publish, RejectedEntry, batches, import_files
from ._scanner import Document

__all__ = [
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
