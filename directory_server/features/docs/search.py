"""Search of the documentation pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from attrs import frozen
from markupsafe import Markup

from ... import serialization

MAX_QUERY = 100
"""Characters of a query."""

MAX_WORDS = 8
"""Words of a query; the others are ignored."""

MAX_RESULTS = 20

_AROUND = 80
"""Characters of an excerpt on each side of the first word."""


@frozen
class Result:
    """A page that has all words: the title of its document if the page is a section, and an excerpt of its text."""

    path: str
    title: str
    document: str
    excerpt: str


def find(contents: Contents, query: str) -> Sequence[Result]:
    """Return the pages whose title or text has all words of `query`, those with words in the title first.

    Letter case is ignored, and a word may be a part of one. The 160 pages take 1 ms.
    """
    words = list(dict.fromkeys(query.lower().split()))[:MAX_WORDS]
    found = []
    for number, page in enumerate(contents.pages.values()):
        title, text = page.title.lower(), page.text.lower()
        if words and all(word in text or word in title for word in words):
            in_title = sum(word in title for word in words)
            found.append((-in_title, "/" in page.parent, -min(text.count(word) for word in words), number, page))
    found.sort(key=lambda each: each[:4])
    return [_result(contents, page, words) for *_, page in found[:MAX_RESULTS]]


def _result(contents: Contents, page: Document, words: Sequence[str]) -> Result:
    parent = contents.pages[page.parent]
    return Result(page.path, page.title, "" if parent is page else parent.title, _excerpt(page.text, words))


def _excerpt(text: str, words: Sequence[str]) -> str:
    """Return the text around the first word of the query that it has, cut between words."""
    lowered = text.lower()
    first = min((at for word in words if (at := lowered.find(word)) >= 0), default=0)
    start = text.rfind(" ", 0, max(0, first - _AROUND)) + 1 if first > _AROUND else 0
    end = text.find(" ", first + _AROUND)
    return f"{'…' if start else ''}{text[start : end if end >= 0 else len(text)]}{'…' if end >= 0 else ''}"


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
