"""Render the Markdown documents as the pages that a server offers at /docs. setup.py runs this when it builds.

    python docs/render.py OUTPUT.json

The output is JSON: {"pages": [{"path", "title", "parent", "part", "summary", "html", "text"}], "files": {name: text}}.
`part` and `summary` are those of the document, empty for decisions. A document or
section larger than LARGEST is split at its sections, so that each page stays small. The file operations.md in the
folder of a feature is a chapter of docs/operations.md. Links between documents lead to
their pages; links to other files of the project become plain text. Blocks of HTML are left out. The texts are for the
search.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parent.parent

DOCUMENTS = {
    "docs/connect.md": ("use", "What an API key is, and how VS Code, Cursor, Claude Code and others get it."),
    "docs/browse.md": ("use", "Search words, filters, lists, feeds and the pages of servers."),
    "docs/protocol.md": (
        "use",
        "All endpoints, parameters, fields, headers and errors of REST, MCP and the registry API.",
    ),
    "README.md": ("operate", "What the directory is for, and the first minute: make run."),
    "docs/operations.md": (
        "operate",
        "Install, configure, invite people, follow registries, back up, upgrade, measure.",
    ),
    "docs/offline.md": ("operate", "Carry all entries as a file into a network without internet, and verify it."),
    "SECURITY.md": ("operate", "What the directory protects, and how to report a vulnerability."),
    "CHANGELOG.md": ("operate", "What each version changes, and what an upgrade needs."),
    "CONTRIBUTING.md": ("develop", "How to build, test and change the code."),
    "docs/architecture.md": ("develop", "The packages, and the way of a request, a change and a charge."),
    "docs/benchmarks.md": ("develop", "Measured speed, memory and search quality, with the commands."),
    "docs/decisions/README.md": ("develop", "Why things are as they are: one page for each decision."),
}
"""Part and summary of each document, in the order of the table of contents. The decisions follow."""

OPERATIONS = "docs/operations.md"
"""The document whose chapters about features stand in the folders of the features."""

LARGEST = 12_000
"""Characters above which a document or section has a page for each of its sections."""

_MARKDOWN = MarkdownIt("commonmark").enable("table")


class _Page:
    """A page: its path below /docs/, its title, the path of the document's first page, and its tokens."""

    def __init__(self, path: str, title: str, parent: str, tokens: list[Token]) -> None:
        self.path, self.title, self.parent, self.tokens = path, title, parent, tokens


def render(root: Path = ROOT) -> dict[str, object]:
    """Return the pages and images of the documents below `root`."""
    names = [*DOCUMENTS, *(f"docs/decisions/{each.name}" for each in sorted((root / "docs/decisions").glob("0*.md")))]
    documents = {name: list(_pages(name, (root / name).read_text("utf-8"))) for name in names if (root / name).exists()}
    chapters = {
        path.relative_to(root).as_posix(): list(_chapter(path.read_text("utf-8")))
        for path in root.glob("directory_server/features/*/operations.md")
    }
    documents |= dict(sorted(chapters.items(), key=lambda chapter: chapter[1][0].title))
    anchors = {
        (name, str(token.attrGet("id"))): page.path
        for name, pages in documents.items()
        for page in pages
        for token in page.tokens
        if token.type == "heading_open"
    }
    images = {each.name: each.read_text("utf-8") for each in sorted((root / "docs").glob("*.svg"))}
    rendered = []
    for name, pages in documents.items():
        for page in pages:
            _rewrite(page.tokens, name, documents, anchors)
            _raise_headings(page.tokens)
            html = _MARKDOWN.renderer.render(page.tokens, _MARKDOWN.options, {})
            text = " ".join(" ".join(map(_plain, page.tokens)).split())
            part, summary = DOCUMENTS[OPERATIONS] if name in chapters else DOCUMENTS.get(name, ("", ""))
            rendered.append(
                {
                    "path": page.path,
                    "title": page.title,
                    "parent": page.parent,
                    "part": part,
                    "summary": summary,
                    "html": html,
                    "text": text,
                }
            )
    return {"pages": rendered, "files": images}


def _path(name: str) -> str:
    """Return the path of a document's first page below /docs/."""
    stem = PurePosixPath(name).with_suffix("").as_posix().removeprefix("docs/").lower()
    return "start" if stem == "readme" else stem.removesuffix("/readme")


def _pages(name: str, text: str) -> Iterator[_Page]:
    """Yield the page of a document, or several if the document is large."""
    path = _path(name)
    yield from _sections(path, path, _tokens(text), level=2)


def _chapter(text: str) -> Iterator[_Page]:
    """Yield the pages of a chapter of OPERATIONS, which is a document of its own."""
    parent = _path(OPERATIONS)
    tokens = _tokens(text)
    yield from _sections(f"{parent}/{tokens[0].attrGet('id')}", parent, tokens, level=2)


def _tokens(text: str) -> list[Token]:
    # Blocks of HTML are comments, and pictures of the pages that the reader looks at.
    tokens = [token for token in _MARKDOWN.parse(text) if token.type != "html_block"]
    _add_anchors(tokens)
    return tokens


def _sections(path: str, parent: str, tokens: list[Token], level: int) -> Iterator[_Page]:
    """Yield a page of `tokens`, or, if they are large, a page for each section whose heading has the `level`."""
    starts = [
        number for number, token in enumerate(tokens) if token.type == "heading_open" and token.tag == f"h{level}"
    ]
    if sum(len(token.content) for token in tokens) <= LARGEST or not starts:
        yield _Page(path, _title(tokens), parent, tokens)
        return
    yield _Page(path, _title(tokens), parent, tokens[: starts[0]])
    for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        section = tokens[start:end]
        yield from _sections(f"{path}/{section[0].attrGet('id')}", parent, section, level + 1)


def _title(tokens: Sequence[Token]) -> str:
    return _text(tokens[1])


def _plain(token: Token) -> str:
    """Return the text of a block, for the search."""
    children = token.children or ()
    return (
        token.content
        if token.type in ("fence", "code_block")
        else "".join(
            child.content if child.type in ("text", "code_inline") else " "
            for child in children
            if child.type != "image"
        )
    )


def _text(inline: Token) -> str:
    return "".join(child.content for child in inline.children or () if child.type in ("text", "code_inline"))


def _add_anchors(tokens: Sequence[Token]) -> None:
    """Set the ids of the headings as GitHub makes them."""
    seen: Counter[str] = Counter()
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            anchor = re.sub(r"[^\w\- ]", "", _text(inline).lower()).replace(" ", "-")
            opening.attrSet("id", f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
            seen[anchor] += 1


def _raise_headings(tokens: Sequence[Token]) -> None:
    """Change the levels of the headings so that the first one has level 1."""
    first = int(tokens[0].tag[1])
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{int(token.tag[1]) - first + 1}"


def _rewrite(
    tokens: Sequence[Token], name: str, documents: dict[str, list[_Page]], anchors: dict[tuple[str, str], str]
) -> None:
    """Rewrite the links in a page of the document `name`, and let wide tables and code scroll."""
    for token in tokens:
        if token.type in ("fence", "code_block", "table_open"):
            # A region that scrolls must be reachable with the keyboard (WCAG 2.1, criterion 2.1.1).
            token.attrSet("tabindex", "0")
        opened: list[bool] = []
        for child in token.children or ():
            if child.type == "link_open":
                href = _href(str(child.attrGet("href")), name, documents, anchors)
                opened.append(href is not None)
                child.attrSet("href", href or "")
                if href and not href.startswith(("/", "#")):
                    child.attrSet("rel", "noopener noreferrer")
                if href is None:
                    child.type = "text"
            elif child.type == "link_close" and not opened.pop():
                child.type = "text"
            elif child.type == "image":
                child.attrSet("src", "/docs/" + PurePosixPath(str(child.attrGet("src"))).name)


def _href(href: str, name: str, documents: dict[str, list[_Page]], anchors: dict[tuple[str, str], str]) -> str | None:
    """Return the address of a link on a page of the document `name`, None if it has no page."""
    if re.match(r"[a-z]+:", href):
        return href
    target, _, anchor = href.partition("#")
    document = _join(name, target) if target else name
    if document not in documents:
        return None
    if not anchor:
        return f"/docs/{documents[document][0].path}"
    path = anchors[document, anchor]
    return f"/docs/{path}#{anchor}"


def _join(name: str, target: str) -> str:
    """Return the path of the file that `target`, a relative link in the document `name`, leads to."""
    parts: list[str] = []
    for part in (*PurePosixPath(name).parent.parts, *PurePosixPath(target).parts):
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    joined = "/".join(parts)
    return f"{joined}/README.md" if joined == "docs/decisions" else joined


def write(output: Path) -> None:
    """Write the pages of this project to the file `output`."""
    part = output.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(render(), ensure_ascii=False), "utf-8")
    part.replace(output)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
