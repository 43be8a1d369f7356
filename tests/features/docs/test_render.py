"""The renderer of the documents: sections, anchors, links and images."""

from __future__ import annotations

import json
import re
import runpy
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ...web.conftest import ROOT

RENDER: Any = runpy.run_path(str(ROOT / "docs" / "render.py"))


class Links(HTMLParser):
    """Collects the addresses of the links and images, and the ids."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src"):
                self.links.append(value or "")
            elif name == "id":
                self.ids.append(value or "")


RENDERED: Any = RENDER["render"]()
IMAGES: dict[str, str] = RENDERED["files"]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Return the HTML of the project's documents by path."""
    return {page["path"]: page["html"] for page in RENDERED["pages"]}


def test_every_link_leads_to_a_page_and_an_anchor_or_an_image(pages: dict[str, str]) -> None:
    anchors = {path: set(Links(html).ids) for path, html in pages.items()}
    for path, html in pages.items():
        for link in Links(html).links:
            if re.match(r"https?:", link):
                continue
            target, _, anchor = link.removeprefix("/docs/").partition("#")
            assert link.startswith("/docs/"), (path, link)
            assert target in pages or target in IMAGES, (path, link)
            assert not anchor or anchor in anchors[target], (path, link)


def test_pages_are_small_and_have_one_main_heading(pages: dict[str, str]) -> None:
    for path, html in pages.items():
        assert html.count("<h1") == 1, path
        assert len(html.encode()) < 26_000, path
        assert "style=" not in html, path
        assert "<script" not in html, path
        assert "language-mermaid" not in html, path


@pytest.mark.parametrize("name", IMAGES)
def test_an_image_has_a_title_a_description_and_nothing_active(name: str, pages: dict[str, str]) -> None:
    image = ElementTree.fromstring(IMAGES[name])
    tags = [element.tag.rpartition("}")[2] for element in image.iter()]
    assert tags[:3] == ["svg", "title", "desc"]
    assert set(tags) <= {"svg", "title", "desc", "style", "defs", "marker", "path", "rect", "text"}
    assert not re.search(r"href|url\((?!#)|@import", IMAGES[name])
    assert any(f'src="/docs/{name}"' in html for html in pages.values())


def write(folder: Path, **documents: str) -> Path:
    (folder / "docs" / "decisions").mkdir(parents=True)
    (folder / "README.md").write_text(documents.pop("README"))
    for name, text in documents.items():
        (folder / "docs" / f"{name}.md").write_text(text)
    return folder


def test_a_large_document_has_a_page_for_each_section(tmp_path: Path) -> None:
    long = "word " * 3_000
    write(
        tmp_path,
        README="# Start\n\n[Keys](docs/operations.md#keys) [All](docs/operations.md) [Code](setup.py)\n",
        operations=f"# Operations\n\n## Keys\n\n### Expiry\n\n{long}\n\n## Keys\n\n[first](#keys) [second](#keys-1)\n",
    )
    rendered = RENDER["render"](tmp_path)["pages"]
    assert [(page["path"], page["title"], page["parent"]) for page in rendered] == [
        ("start", "Start", "start"),
        ("operations", "Operations", "operations"),
        ("operations/keys", "Keys", "operations"),
        ("operations/keys/expiry", "Expiry", "operations"),
        ("operations/keys-1", "Keys", "operations"),
    ]
    assert Links(rendered[0]["html"]).links == ["/docs/operations/keys#keys", "/docs/operations"]
    assert "Code" in rendered[0]["html"]
    assert Links(rendered[-1]["html"]).links == ["/docs/operations/keys#keys", "/docs/operations/keys-1#keys-1"]


def test_the_text_of_a_feature_is_a_chapter_of_operations(tmp_path: Path) -> None:
    link = "../directory_server/features/marks/operations.md"
    write(tmp_path, README="# Start\n", operations=f"# Operations\n\n[Marks]({link}) [one]({link}#one)\n")
    feature = tmp_path / "directory_server" / "features" / "marks"
    feature.mkdir(parents=True)
    (feature / "operations.md").write_text("# Marks of texts\n\n[Back](../../../docs/operations.md)\n\n## One\n")
    pages = RENDER["render"](tmp_path)["pages"]
    assert [(page["path"], page["parent"], page["part"]) for page in pages[1:]] == [
        ("operations", "operations", "operate"),
        ("operations/marks-of-texts", "operations", "operate"),
    ]
    assert Links(pages[1]["html"]).links == ["/docs/operations/marks-of-texts", "/docs/operations/marks-of-texts#one"]
    assert Links(pages[2]["html"]).links == ["/docs/operations"]


def test_comments_and_html_of_documents(tmp_path: Path) -> None:
    write(tmp_path, README="# Start\n\n<!-- begin -->\n\n| a | b |\n|---|---|\n| `<key>` | 1 |\n\n<!-- end -->\n")
    html = RENDER["render"](tmp_path)["pages"][0]["html"]
    assert "begin" not in html
    assert "<code>&lt;key&gt;</code>" in html


def test_the_pages_are_written_at_once(tmp_path: Path) -> None:
    RENDER["write"](tmp_path / "pages.json")
    assert [each.name for each in tmp_path.iterdir()] == ["pages.json"]
    assert {"pages", "files"} == set(json.loads((tmp_path / "pages.json").read_text("utf-8")))
