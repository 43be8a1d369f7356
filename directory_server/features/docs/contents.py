"""The documentation pages of the package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from attrs import frozen
from markupsafe import Markup

from ... import serialization

_CONTENT = "pages.json"

PARTS = ("use", "operate", "develop")
"""The parts of the documentation, in the order of the table of contents."""


@frozen
class Document:
    """A page: its path below /docs/, its title, the path of its document's first page, its HTML, and its text.

    `part` and `summary` are those of the document; decisions have none.
    """

    path: str
    title: str
    parent: str
    part: str
    summary: str
    html: Markup
    text: str


@frozen
class Contents:
    """The pages by path, in the order of the table of contents, and the images by name."""

    pages: Mapping[str, Document]
    images: Mapping[str, bytes]

    def sections(self, parent: str) -> Sequence[Document]:
        """Return the pages of the document at `parent`."""
        return [page for page in self.pages.values() if page.parent == parent]

    def documents(self, part: str) -> Sequence[Document]:
        """Return the first page of each document of a part. Decisions have an index of their own."""
        return [page for page in self.pages.values() if page.path == page.parent and page.part == part]


@cache
def contents() -> Contents:
    """Return the pages of the package; none if it was not built, as in a source tree that was never installed."""
    source = files(__package__).joinpath(_CONTENT)
    if not source.is_file():
        return Contents({}, {})
    read = serialization.decode(source.read_bytes())
    pages = (Document(**{**page, "html": Markup(page["html"])}) for page in read["pages"])
    return Contents({page.path: page for page in pages}, {name: text.encode() for name, text in read["files"].items()})
