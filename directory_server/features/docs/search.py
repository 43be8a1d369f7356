"""Search of the documentation pages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from attrs import field, frozen
from markupsafe import Markup

from ... import serialization

MAX_QUERY = 100
"""Characters of a query."""

MAX_WORDS = 8
"""Words of a query; the others are ignored."""

MAX_RESULTS = 20

_AROUND = 80
"""Characters of an excerpt on each side of the first word."""


_IGNORED = frozenset(
    """a an and are can do does for from how i in is it me my of on or our the there this to we what when where which
    why with you""".split()  # noqa: SIM905
)
"""Words of a question that no page is about."""

_ALIKE: Mapping[str, Sequence[str]] = {
    "backup": ("back up",),
    "docker": ("container",),
    "entries": ("entr",),
    "entry": ("entr",),
    "k8s": ("kubernetes",),
    "login": ("sign in", "log in"),
    "monitor": ("metrics",),
    "oidc": ("openid connect",),
    "password": ("passwords",),
    "prometheus": ("metrics",),
    "proxy": ("proxies",),
    "sso": ("openid connect", "sign in"),
    "sync": ("follow",),
    "update": ("upgrade",),
    "users": ("account", "people"),
}
"""Other texts of the documents for a word of a query."""

_ABOUT = {
    "offline": "offline mirror air gap dump without internet",
    "connect": "cursor vscode vs code claude editor editors connect",
    "operations/accounts": "invite approve account users members forgot forgotten password reset",
    "operations/access-log": "json logs journal logrotate",
    "operations/import": "import a file of entries",
    "operations/back-up": "restore a backup",
    "operations/containers": "docker podman container",
    "operations/curate": "hide unhide pin allow an entry server",
    "operations/follow-other-registries": "follow the official registry sync upstream",
    "operations/single-sign-on-sso": "sso oidc openid connect sign in login entra azure okta keycloak google github",
    "operations/keys": "raise increase change the limit quota of a key rotate rotation revoke delete",
}
"""Words that pages are about beside those of their titles."""

_LAST = frozenset(("changelog",))
"""Documents that mention everything."""


@frozen
class Result:
    """A page that has all words: the title of its document if the page is a section, its part, an excerpt of its text.

    The path has the anchor of a heading, if one has words of the query.
    """

    path: str
    title: str
    document: str
    part: str
    excerpt: str


def find(contents: Contents, query: str) -> Sequence[Result]:
    """Return the pages whose title or text has all words of `query`, those to use and operate the directory first.

    Pages with words in the title or in a heading come first. Letter case is ignored, and a word may be a part of one.
    """
    words = list(dict.fromkeys(re.findall(r"[^\s?!,;]+", query.lower())))[:MAX_WORDS]
    terms = [(word, *_ALIKE.get(word, ())) for word in words if word not in _IGNORED] or [(word,) for word in words]
    ranked = []
    for number, page in enumerate(contents.pages.values()):
        about = f"{page.title} {_ABOUT.get(page.path, '')}".lower()
        has_term = [any(term in about for term in alike) for alike in terms]
        pairs = zip(terms, has_term, strict=True)
        if not terms or not all(has or any(term in page.lowered for term in alike) for alike, has in pairs):
            continue
        counts = [sum(page.lowered.count(term) for term in alike) for alike in terms]
        in_title = max(_matches(page.title.lower(), terms), all(has_term) + 0.4)
        heading, anchor = max(((_matches(text, terms), anchor) for anchor, text in page.headings), default=(0.0, ""))
        is_late = page.part not in ("use", "operate") or page.parent in _LAST
        score = 2 * in_title + heading + min(min(counts), 30) / 30
        ranked.append(((is_late, -score, number), page, anchor if heading > in_title else ""))
    ranked.sort(key=lambda row: row[0])
    return [_result(contents, page, anchor, [term for alike in terms for term in alike]) for _, page, anchor in ranked][
        :MAX_RESULTS
    ]


def _matches(title: str, terms: Sequence[Sequence[str]]) -> float:
    """Return the share of the words of a title that `terms` have, which is greater than 0 only with all terms."""
    if not all(any(term in title for term in alike) for alike in terms):
        return sum(any(term in title for term in alike) for alike in terms) / len(terms) / 4
    return 1 + len(terms) / (len(title.split()) + len(terms))


def _result(contents: Contents, page: Document, anchor: str, words: Sequence[str]) -> Result:
    parent = contents.pages[page.parent]
    path = f"{page.path}#{anchor}" if anchor else page.path
    return Result(path, page.title, "" if parent is page else parent.title, page.part, _excerpt(page.text, words))


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
    lowered: str = field(init=False)
    headings: Sequence[tuple[str, str]] = field(init=False)
    """The anchors and texts of the headings, in lower case."""

    @lowered.default
    def _lower(self) -> str:
        return self.text.lower()

    @headings.default
    def _read_headings(self) -> Sequence[tuple[str, str]]:
        matches = re.findall(r'<h[2-6] id="([^"]*)"[^>]*>(.*?)</h', self.html)
        return [(anchor, re.sub("<[^>]*>", "", text).lower()) for anchor, text in matches]


@frozen
class Contents:
    """The pages by path, in the order of the table of contents, and the images by name."""

    pages: Mapping[str, Document]
    images: Mapping[str, bytes]

    def sections(self, parent: str) -> Sequence[Document]:
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
