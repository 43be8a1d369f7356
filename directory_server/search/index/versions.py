"""Versions of analysed entries in the database and of the file of an index.

Data of another version is replaced: entries are analysed again when they are next read, and the file is written again.
Raise the number of what a change of code affects. `tests/search/test_versions.py` prints the digest of a fixed sample
where it differs from the one beside the number. Record that one, too: the versions contain both.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from sys import byteorder

from ...text_marks import rules

ANALYSIS, ANALYSED_SAMPLE = 16, "3b19578daf543d18"
"""The number of the analysis of entries, and the digest of the packed documents of the sample."""

FILE, INDEXED_SAMPLE = 10, "36719011fe48ab2d"
"""The number of the index of analysed entries and of its file, and the digest of the columns of the sample."""

_TEXT_LIBRARIES = "opencc-python-reimplemented", "PyStemmer", "regex"
"""The libraries that determine the analysis, beside the Unicode data of Python."""

_INDEX_LIBRARIES = "directory-server", "numpy", "orjson"
"""The packages that determine the content of the file as well. A release has a file of its own."""


@cache
def analysis_version() -> str:
    """Return the version of the analysis of entries."""
    parts = ANALYSIS, ANALYSED_SAMPLE, rules().version, unicodedata.unidata_version
    return _digest(*parts, *map(version, _TEXT_LIBRARIES))


@cache
def file_version() -> str:
    """Return the version of the file of an index."""
    return _digest(FILE, INDEXED_SAMPLE, analysis_version(), byteorder, *map(version, _INDEX_LIBRARIES))


def _digest(*parts: object) -> str:
    return blake2b(repr(parts).encode(), digest_size=8).hexdigest()
