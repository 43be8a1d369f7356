"""Files and registries, read entry by entry into the directory."""

from ._chunks import STDIN
from ._documents import documents
from ._import import Progress, Publish, Refusal, Report, batches, import_files
from ._scanner import Document

__all__ = [
    "STDIN",
    "Document",
    "Progress",
    "Publish",
    "Refusal",
    "Report",
    "batches",
    "documents",
    "import_files",
]
