"""What of an entry is searched, as terms.

What says what an entry is goes into one field, `WORDS`, and a term is repeated there as often as the text it comes from
weighs. So a ranking by term frequency saturates over the whole entry, which is what BM25F does (Robertson, Zaragoza and
Taylor, 2004). Adding up a score for each text would not: there, a word in five places is worth five words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model import Entry
from ._analysis import key, terms, words

WORDS = "words"
"""The terms of name, title, tags, categories and descriptions, weighted."""

MORE = "more"
"""The terms of all else, much of it long and little of it telling: long text, tools, the owner."""

NAMES = "names"
"""The terms of name and title, which misspelt words are looked up in."""

FULL_NAME, SHORT_NAME, BARE_NAME = "full_name", "short_name", "bare_name"
"""The keys of whole names: the server's, with its owner; the part behind the slash, and the title; these without
COMMON_PARTS."""

FIELDS = (WORDS, MORE, NAMES, FULL_NAME, SHORT_NAME, BARE_NAME)

COMMON_PARTS = frozenset({"mcp", "server", "mcpserver"})
"""The parts that half of all names share, and that make none of them another name."""

MAX_LONG_TEXT = 20_000
"""Characters of long text that are searched; a few read-me files are larger and say nothing new there."""

_NAME_WEIGHT, _TAG_WEIGHT, _BRIEF_WEIGHT = 5, 3, 2

_HOSTS = ("io.github.", "com.github.", "io.gitlab.", "com.gitlab.")


def fields_of(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield each of FIELDS that is not empty, with its terms or keys, separated by spaces."""
    namespace, _, short = entry.name.rpartition("/")
    owner = _owner(namespace)
    called = terms(short, humps=True) + terms(entry.title)
    tagged = _all_terms((*entry.tags, *entry.categories))
    described = _all_terms((entry.brief, *entry.descriptions.values()))
    full_names = [words(name, humps=True) for name in (entry.name, f"{owner} {short}")]
    short_names = [list(words(name, humps=True)) for name in (short, entry.title)]
    contents = {
        WORDS: [*called * _NAME_WEIGHT, *tagged * _TAG_WEIGHT, *described * _BRIEF_WEIGHT],
        MORE: [*terms(owner), *_tools(entry), *_all_terms(_long_texts(entry))],
        NAMES: called,
        FULL_NAME: [key(name) for name in full_names],
        SHORT_NAME: [key(name) for name in short_names],
        BARE_NAME: [key(name, without=COMMON_PARTS) for name in short_names],
    }
    for field, content in contents.items():
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


def _long_texts(entry: Entry) -> Iterator[str]:
    """Yield what the publisher says at length, in whatever of the usual places."""
    alternatives = entry.publisher.get("alternativeDescriptions")
    others = alternatives if isinstance(alternatives, list) else []
    for text in (entry.long_description, *others, entry.publisher.get("readme")):
        if isinstance(text, str):
            yield text[:MAX_LONG_TEXT]


def _all_terms(texts: Iterable[str]) -> list[str]:
    return [term for text in texts for term in terms(text)]
