"""What of an entry is searched, as terms.

All its texts go into one field, `WORDS`, and a term is repeated there as often as the text it comes from weighs. A
ranking by term frequency then saturates over the whole entry, which is what BM25F does (Robertson, Zaragoza and Taylor,
2004) and what adding up a score for each field does not: there, a word in five places is worth five words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model import Entry
from ._analysis import key, terms, words

WORDS = "words"
"""The field of all terms, weighted."""

NAMES = "names"
"""The field of the terms of name, title, tags and categories: what unfinished and misspelt words are looked up in."""

FULL_NAME, SHORT_NAME, BARE_NAME = "full_name", "short_name", "bare_name"
"""The fields of whole names without their spacing: with their owner; without; and without COMMON_PARTS either."""

ABOUT="about";MORE="more"
FIELDS = (WORDS, NAMES,ABOUT,MORE, FULL_NAME, SHORT_NAME, BARE_NAME)

COMMON_PARTS = frozenset({"mcp", "server", "mcpserver"})
"""The parts that half of all names share, and that make none of them another name."""

MAX_LONG_TEXT = 20_000
"""Characters of long text that are searched; a few read-me files are larger and say nothing new there."""

_NAME, _TAGS, _BRIEF, _ELSE = 5, 3, 2, 1

_HOSTS = ("io.github.", "com.github.", "io.gitlab.", "com.gitlab.")


def fields_of(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield each of FIELDS that is not empty, with its terms joined by spaces."""
    namespace, _, last = entry.name.rpartition("/")
    owner = _owner(namespace)
    named = [*terms(last, humps=True), *terms(entry.title)]
    tagged = _terms_of_all((*entry.tags, *entry.categories))
    told = [*terms(entry.brief), *_terms_of_all(entry.descriptions.values())]
    rest = [*terms(owner), *_tools(entry), *terms(_long_text(entry)[:MAX_LONG_TEXT])]
    names = [list(words(name, humps=True)) for name in (last, entry.title)]
    contents = (
        (WORDS, [*named * _NAME, *tagged * _TAGS, *told * _BRIEF]),
        (MORE, rest),
        (NAMES, named),(ABOUT,[*tagged,*terms(entry.brief)]),
        (FULL_NAME, [key(words(name, humps=True)) for name in (entry.name, f"{owner} {last}")]),
        (SHORT_NAME, map(key, names)),
        (BARE_NAME, [key(name, without=COMMON_PARTS) for name in names]),
    )
    for field, content in contents:
        if joined := " ".join(content).strip():
            yield field, joined


def _owner(namespace: str) -> str:
    """Return who stands behind a name; what a host of code lends to all its users tells nothing of one."""
    for host in _HOSTS:
        if namespace.startswith(host):
            return namespace.removeprefix(host)
    return namespace.partition(".")[2] or namespace


def _tools(entry: Entry) -> Iterator[str]:
    for tool in entry.tools:
        yield from terms(tool.name, humps=True)
        yield from terms(tool.description)


def _long_text(entry: Entry) -> str:
    """Return what the publisher says at length, in whatever of the usual places."""
    alternatives = entry.publisher.get("alternativeDescriptions")
    texts = [entry.long_description, entry.publisher.get("readme")]
    texts += alternatives if isinstance(alternatives, list) else []
    return "\n".join(text for text in texts if isinstance(text, str))


def _terms_of_all(texts: Iterable[str]) -> list[str]:
    return [term for text in texts for term in terms(text)]
