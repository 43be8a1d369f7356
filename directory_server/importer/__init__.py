"""Import entries from files into the directory."""

from ._chunks import STDIN
from ._documents import Document, documents
from ._importer import BATCH, BATCH_BYTES, ImportReport, Progress, Publish, RejectedEntry, batches, import_files
