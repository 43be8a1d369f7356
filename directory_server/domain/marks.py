"""Marks of texts that command a model.

A mark is a fact about a text of an entry or of a tool. It lasts until the text changes. An operator may accept it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from attrs import asdict, field, frozen

from ..text_marks import MIN_SCANNED, rules, scan
from ..texts.sanitize import clean_line

WITHHELD = "(Withheld by this directory: the text may give commands to a model.)"
"""Stands for a text that is not passed on."""

KINDS = ("instructions", "secrets", "other_tools", "invisible", "mixed_letters", "payload", "unscanned")
"""Kinds of marks."""

MAX_MARKS = 50
"""Marks of an entry, and of the tools of a remote, of which all are kept. Of further ones, those that withhold."""

MAX_EXCERPT, MAX_PLACE = 160, 120
"""Characters of an excerpt, and of the name of a text."""

MAX_DEPTH = 32
"""Nested values of a document that are read. Deeper ones are not passed on."""

NOT_TEXTS = frozenset({"$schema", "name", "version", "url", "websiteUrl", "registryBaseUrl", "fileSha256", "mimeType"})
"""Members of a server.json whose strings are no texts: programs read them, and another value would be another server.

Under these names, JSON Schema has descriptions of properties: those are texts.
"""

Place = tuple[str, str]
"""The name of a text, and the text."""


@frozen
class MarkView:
    """A mark, without the text."""

    rule: str = field(metadata={"description": "Id of the rule."})
    kind: str = field(metadata={"description": "Kind of the rule.", "enum": list(KINDS)})
    place: str = field(metadata={"description": "Where the text is, such as `tool send: description`."})
    start: int = field(metadata={"description": "Position of the first character in the text.", "minimum": 0})
    end: int = field(metadata={"description": "Position after the last character.", "minimum": 0})
    id: str = field(metadata={"description": "Id of the mark, which an operator accepts. Another text has other ids."})
    explanation: str = field(metadata={"description": "What marks of this kind mean."})


@frozen
class Mark:
    """A finding of a rule in a text: its place, the positions of its characters, and the cleaned part that matches.

    `id` has a digest of the text and the rule, so another text has other marks.
    """

    rule: str
    kind: str
    place: str
    start: int
    end: int
    id: str
    excerpt: str

    def view(self) -> MarkView:
        """Return the view of this mark, which has no part of the text."""
        values = asdict(self, filter=lambda attribute, _: attribute.name != "excerpt")
        return MarkView(**values, explanation=rules().explanations[self.kind])


def is_withheld(kind: str) -> bool:
    """Return whether texts with marks of a kind are withheld. Invisible characters are left out of all texts anyway."""
    return kind != "invisible"


def text_id(text: str) -> str:
    """Return a digest of a text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def marks_of(texts: Iterable[Place], own_tools: Collection[str] | None = None) -> Iterator[Mark]:
    """Yield the marks of `texts`. `own_tools` are the names of a server's tools if the texts are of its tools."""
    for place, text in texts:
        for finding in scan(text, own_tools):
            where, excerpt = clean_line(place, MAX_PLACE), clean_line(text[finding.start : finding.end], MAX_EXCERPT)
            span = finding.start, finding.end
            yield Mark(finding.rule, finding.kind, where, *span, f"{text_id(text)}.{finding.rule}", excerpt)


def bounded_marks(marks: Iterable[Mark], most: int, group_of: Callable[[Mark], str]) -> Sequence[Mark]:
    """Return the first `most` of `marks`, and after those one for each further group with texts that are withheld.

    Without these, many marks would let the texts after them pass.
    """
    kept: list[Mark] = []
    withheld: set[str] = set()
    for mark in marks:
        group = group_of(mark)
        if len(kept) < most or (is_withheld(mark.kind) and group not in withheld):
            kept.append(mark)
            if is_withheld(mark.kind):
                withheld.add(group)
    return kept


def text_of(mark: Mark) -> str:
    """Return the digest of the text of a mark."""
    return mark.id.partition(".")[0]


def texts_in(value: Any, place: str = "", skipped: object = None, depth: int = MAX_DEPTH) -> Iterator[Place]:
    """Yield the texts in a JSON value, except those in the object `skipped` and those that only programs read.

    Names of members are texts if they have several words.
    """
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict) and depth:
        for name, member in value.items():
            if is_sentence(name):
                yield f"{place}: name of a member" if place else "name of a member", name
            if not (name in NOT_TEXTS and isinstance(member, str)) and member is not skipped:
                yield from texts_in(member, f"{place}.{name}" if place else name, skipped, depth - 1)
    elif isinstance(value, list) and depth:
        for number, item in enumerate(value):
            yield from texts_in(item, f"{place}[{number}]", skipped, depth - 1)


def is_sentence(name: str) -> bool:
    """Return whether the name of a member has several words."""
    return len(name) >= MIN_SCANNED and len(name.split(maxsplit=1)) > 1


def tool_texts(tool: Mapping[str, Any]) -> Iterator[Place]:
    """Yield the texts of a tool in the form of `tools/list`: name, title, description and those of its schemas."""
    name = tool.get("name")
    label = f"tool {name}" if isinstance(name, str) else "tool"
    if isinstance(name, str):
        yield f"{label}: name", name
    yield from ((f"{label}: {place}", text) for place, text in texts_in(dict(tool)))


def kinds_of(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return `kinds`, each once, in order."""
    return tuple(sorted(set(kinds)))
