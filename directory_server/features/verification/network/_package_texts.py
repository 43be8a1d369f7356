"""Texts of package documents: the words with which a publisher describes a package, without markup and code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from attrs import define, field

from ....domain.checks import MAX_KEYWORD, MAX_KEYWORDS, MAX_README, MAX_SUMMARY, PackageTexts
from ....texts.sanitize import clean_line

MAX_MARKUP = 16_000
"""Characters of a README that are read."""

MAX_LINE = 2_000
"""Characters of a line of a README that are read."""

MAX_TAG = 500
"""Characters of an HTML tag, an image or the target of a link."""

_HEADING = re.compile(r" {0,3}#{1,6}\s")

_UNDERLINE = re.compile(r"(?:={3,}|-{3,}|~{3,}|\^{3,})\s*")
"""The line below a heading (Markdown, reStructuredText)."""

_FENCE = re.compile(r"\s*(?:>\s*)*(`{3,}|~{3,})")

_LITERAL = re.compile(r"\.\. (?:code|code-block|sourcecode|parsed-literal|image|figure|raw|highlight)::|\.\. \|")
"""The first line of a block of reStructuredText whose indented lines are no prose."""

# Bounded repetitions: a text of opening brackets takes a time proportional to its length.
_MARKUP = re.compile(
    rf"""
    !\[ [^\[\]]{{0,{MAX_TAG}}} \] (?: \([^()]{{0,{MAX_TAG}}}\) | \[[^\[\]]{{0,{MAX_TAG}}}\] )  # image
    | < [a-zA-Z/!?] [^<>]{{0,{MAX_TAG}}} >                                                     # HTML tag, <URL>
    | \]\( [^()]{{0,{MAX_TAG}}} \)                                                             # target of a link
    | \b [a-z][a-z+.-]{{1,10}} :// [^\s<>)\]]*                                                 # URL
    | & \#? \w{{1,10}} ;                                                                       # entity
    """,
    re.VERBOSE,
)

_CODE = re.compile(r"`+([^`]{1,500})`+")

_EMPHASIS, _SIGNS = re.compile(r"[*`~]+"), re.compile(r"[|#>\[\]=]+|_{2,}|-{2,}")
"""Signs of Markdown and reStructuredText. An underscore inside a word is a part of a name."""


def package_texts(summary: Any, keywords: Any, readme: Any) -> PackageTexts:
    """Return the cleaned texts of a package document; what has another type than text counts as absent.

    `keywords` is a list of texts, or one text that commas or spaces separate, as PyPI has it.
    """
    if isinstance(keywords, str):
        text = keywords[: MAX_KEYWORDS * MAX_KEYWORD]
        keywords = text.split("," if "," in text else None)
    words = keywords[:MAX_KEYWORDS] if isinstance(keywords, list) else ()
    cleaned = (clean_line(word, MAX_KEYWORD) for word in words if isinstance(word, str))
    return PackageTexts(
        clean_line(summary, MAX_SUMMARY) if isinstance(summary, str) else "",
        tuple(dict.fromkeys(filter(None, cleaned))),
        prose_of(readme) if isinstance(readme, str) else "",
    )


def prose_of(readme: str) -> str:
    """Return the prose of a README in Markdown or reStructuredText on one line, at most MAX_README characters.

    Code, images, targets of links and HTML tags are left out. So is each section, after the first one, that has more
    code than prose: it says how to install or configure the package.
    """
    texts = (section.text for section in _sections(readme[:MAX_MARKUP]) if section.is_prose)
    return clean_line(" ".join(texts), MAX_README)


@define
class _Section:
    """The lines of prose below a heading, and the characters of code."""

    is_first: bool
    lines: list[str] = field(factory=list)
    code: int = 0

    @property
    def text(self) -> str:
        return " ".join(self.lines)

    @property
    def is_prose(self) -> bool:
        return self.is_first or self.code <= sum(map(len, self.lines))


def _sections(readme: str) -> Iterator[_Section]:
    section, fence, literal = _Section(is_first=True), "", False
    headings = 0
    for line in _without_comments(readme).splitlines():
        line = line[:MAX_LINE]
        if fence:
            section.code += len(line)
            if line.strip().startswith(fence):
                fence = ""
            continue
        if match := _FENCE.match(line):
            fence = match[1]
            continue
        if literal and (not line.strip() or line[0] in " \t"):
            section.code += len(line)
            continue
        literal = _LITERAL.match(line) is not None
        if literal:
            continue
        underlined = _UNDERLINE.fullmatch(line) is not None
        if underlined or _HEADING.match(line):
            # The title of the document has the first section, not one of its own.
            title = [section.lines.pop()] if underlined and section.lines and section.lines[-1] else []
            headings += 1
            if headings > 1:
                yield section
                section = _Section(is_first=False)
            section.lines += title
            if underlined:
                continue
        section.lines.append(_words(line))
    yield section


def _words(line: str) -> str:
    """Return the text of a line. Code of one word is a name, which is kept; other code is not."""
    line = _CODE.sub(lambda code: " " if " " in code[1].strip() else code[1], line)
    return " ".join(_SIGNS.sub(" ", _EMPHASIS.sub("", _MARKUP.sub(" ", line))).split())


def _without_comments(text: str) -> str:
    parts, start = [], 0
    while (begin := text.find("<!--", start)) >= 0:
        parts.append(text[start:begin])
        end = text.find("-->", begin)
        start = len(text) if end < 0 else end + 3
    return "".join((*parts, text[start:]))
