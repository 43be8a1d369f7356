"""What of an entry is searched, and what each part of it weighs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import log10

import numpy as np
from attrs import frozen

from ..model import Entry, Hit
from ._analysis import COMMON_PARTS, Word, fold, key, tokens, words

MAX_LONG_TEXT = 20_000
"""Characters of long text that are searched; a few read-me files are larger and say nothing new there."""

SATURATION = 1.2
"""The weighted frequency at which a term has half of its greatest impact (k1 of BM25)."""

NAMED = 0.35
"""The impact that a term has more for standing in the name or title."""

WEIGHT = np.dtype("<f2")
"""How the weight of a word is kept."""

FULL_NAME, SHORT_NAME, BARE_NAME = "\0full:", "\0short:", "\0bare:"
SPELT, MAKER, FACET = "\0spelt:", "\0maker:", "\0"
"""What marks a term that is no word: a whole name, with its owner or without, or without COMMON_PARTS; a name to
the letter; a product whose maker offers it; a filter."""

NAMESAKE = 4
"""Letters of a product's name from which an owner's name that holds it is no accident."""

_HOSTS = ("io.github.", "com.github.", "io.gitlab.", "com.gitlab.")


@frozen
class Place:
    """A place in an entry: what a term there weighs, and how long the text there usually is, in tokens.

    `damping` is how much a longer text makes each of its terms less telling (b of BM25). `is_name` places hold names,
    whose camelCase parts are words.
    """

    weight: float
    usual: float
    damping: float
    is_name: bool = False


PLACES = (
    Place(5, 6, 0.3, is_name=True),  # name and title, which come first: see Document.named
    Place(1.5, 2, 0, is_name=True),  # owner
    Place(3, 15, 0.3),  # description
    Place(3, 6, 0.5),  # tags and categories
    Place(2, 30, 0.5),  # descriptions in other languages
    Place(1, 30, 0.7, is_name=True),  # names of tools
    Place(0.5, 120, 0.7),  # their descriptions
    Place(1, 60, 0.75),  # long text
)


@frozen(eq=False)
class Row:
    """What stays of an entry beside its terms.

    `prior` is what speaks for it whatever is asked; `phrases` is the folded text in which exact phrases are looked for.
    """

    mcp_id: str
    name: str
    hit: Hit
    prior: float
    phrases: str


@frozen(eq=False)
class Document:
    """An entry as the index takes it.

    `words` are those it holds as they are written, each once, with blanks between; `weights` has for each how often it
    is there, weighed by where, as an array of WEIGHT; the first `named` of them stand in its name or title. `marks` are
    the terms of it that are no words.
    """

    row: Row
    words: str
    weights: bytes
    named: int
    marks: Sequence[str]


def document(entry: Entry) -> Document:
    """Return the document for `entry`."""
    namespace, _, short = entry.name.rpartition("/")
    owner, title, brief = _owner(namespace), entry.title, entry.brief
    labels, translations, tools = (*entry.tags, *entry.categories), tuple(entry.descriptions.values()), entry.tools
    texts = (
        f"{short}\n{title}",
        owner,
        brief,
        "\n".join(labels),
        "\n".join(translations),
        "\n".join(tool.name for tool in tools),
        "\n".join(tool.description for tool in tools),
        "\n".join(_long_texts(entry)),
    )
    weights: dict[str, float] = {}
    counts = list(_counted(texts))
    for weight, counted in counts:
        for word, count in counted.items():
            weights[word] = weights.get(word, 0.0) + weight * count
    of_owner, of_short, of_title = (words(text, humps=True) for text in (owner, short, title))
    phrases = phrase("\n".join((title, entry.name, brief, *labels, *translations)))
    row = Row(entry.mcp_id, entry.name, entry.hit(), _prior(entry, of_owner, of_short), phrases)
    marks = {
        FULL_NAME + key(words(entry.name, humps=True)),
        FULL_NAME + key((*of_owner, *of_short)),
        FULL_NAME + key((*words(namespace.rpartition(".")[2], humps=True), *of_short)),
        facet("official", "true" if entry.official else "false"),
        *(SPELT + phrase(name) for name in (entry.name, short) if name),
        *(SHORT_NAME + key(name) for name in (of_short, of_title) if name),
        *(BARE_NAME + bare for name in (of_short, of_title) if (bare := key(name, without=COMMON_PARTS))),
        *(mark + name for name in _made_by(of_owner, of_short) for mark in (MAKER, BARE_NAME, SPELT)),
        *(facet("tag", label) for label in labels),
        *(facet("package", str(package.get("registryType"))) for package in entry.packages),
        *(facet("transport", kind.removeprefix("streamable-")) for kind in entry.transports),
    }
    packed = np.fromiter(weights.values(), WEIGHT, len(weights)).tobytes()
    return Document(row, " ".join(weights), packed, len(counts[0][1]), sorted(marks))


def _counted(texts: Sequence[str]) -> Iterator[tuple[float, Counter[str]]]:
    """Yield for each place what a word in it weighs, and how often each is there."""
    for place, text in zip(PLACES, texts, strict=True):
        found = tokens(text, humps=place.is_name)
        yield place.weight / (1 - place.damping + place.damping * len(found) / place.usual), Counter(found)


def phrase(text: str) -> str:
    """Return `text` as exact phrases are compared: folded, in lower case, its blanks alike."""
    return " ".join(fold(text).casefold().split())


# Few values, and most entries have some.
@lru_cache(maxsize=8_192)
def facet(name: str, value: str) -> str:
    """Return the term that entries have which a filter lets pass."""
    return f"{FACET}{name}:{key(words(value, humps=False))}"


def _made_by(owner: Sequence[Word], short: Sequence[Word]) -> Sequence[str]:
    """Return the product that an entry offers as the one who makes it: named like the owner, or not named at all."""
    product, brand = key(short, without=COMMON_PARTS), key(owner, without=COMMON_PARTS)
    made = product if product == brand or _is_namesake(product, owner) else "" if product else brand
    return [made] if made else []


def _is_namesake(product: str, owner: Sequence[Word]) -> bool:
    """Return whether an owner is called like the product, and so mostly makes it."""
    return len(product) >= NAMESAKE and product in key(owner)


def _prior(entry: Entry, owner: Sequence[Word], short: Sequence[Word]) -> float:
    stars = entry.publisher.get("stars")
    popular = log10(1 + stars) / 5 if isinstance(stars, int) and stars > 0 else 0.0
    vendor = _is_namesake(key(short, without=COMMON_PARTS), owner) or entry.publisher.get("vendorOfficial") is True
    return 0.15 * popular + 0.03 * bool(entry.official) + 0.06 * vendor


def _owner(namespace: str) -> str:
    """Return who stands behind a name; what a host of code lends to all its users tells nothing of one."""
    for host in _HOSTS:
        if namespace.startswith(host):
            return namespace.removeprefix(host)
    return namespace.partition(".")[2] or namespace


def _long_texts(entry: Entry) -> Sequence[str]:
    """Return what the publisher says at length, in whatever of the usual places."""
    alternatives = entry.publisher.get("alternativeDescriptions")
    others = alternatives if isinstance(alternatives, list) else []
    texts = (entry.long_description, *others, entry.publisher.get("readme"))
    return [text[:MAX_LONG_TEXT] for text in texts if isinstance(text, str)]
