"""What of an entry is searched, and what each part of it weighs."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from math import log10

import numpy as np
from attrs import frozen

from ...domain.entries import Entry, Hit
from ..text.analysis import COMMON_PARTS, MAX_KEY, MAX_TEXT, MAX_TOKEN, Word, fold, key, tokens, words

MAX_LONG_TEXT = 20_000
"""Characters of one long text that are searched; a few read-me files are larger and say nothing new there."""

MAX_WORDS = 512
"""Words of an entry that the index keeps, those of the greatest weight; one real entry in 1,000 has more."""

MAX_LETTERS = 12_000
"""Characters of those words together; the most that a real entry has are 8,514."""

MAX_LABELS = 200
"""Tags and categories of an entry that are searched; the most that a real entry has are 153."""

MAX_WAYS = 50
"""Packages, and transports, of an entry that filters look at; the most that a real entry has are 30."""

MAX_PHRASES = 4_000
"""Characters of an entry in which exact phrases are looked for; the most that a real entry has are 2,107."""

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

TOP_STARS = 100_000
"""Stars from which more do not count."""

POPULAR, LISTED, VENDOR = 0.15, 0.03, 0.06
"""The most that the prior gains by stars, by a listing in the official registry, and by an owner named like the product
that is listed there."""

NAMESAKE = 4
"""Letters of a product's name from which an owner's name that holds it is no accident."""

_HOSTS = ("io.github.", "com.github.", "io.gitlab.", "com.gitlab.")


@frozen
class Field:
    """A place in an entry: what a term there weighs, and how long the text there usually is, in tokens.

    `damping` is how much a longer text makes each of its terms less telling (b of BM25). `is_name` places hold names,
    whose camelCase parts are words. `most` is the characters of the place that are analysed, some times as many as any
    real entry has.
    """

    weight: float
    usual: float
    damping: float
    most: int
    is_name: bool = False


PLACES = (
    Field(5, 6, 0.3, 1_000, is_name=True),  # name and title, which come first: see Document.named
    Field(1.5, 2, 0, 200, is_name=True),  # owner
    Field(3, 15, 0.3, 4_000),  # description
    Field(3, 6, 0.5, 4_000),  # tags and categories
    Field(2, 30, 0.5, 8_000),  # descriptions in other languages
    Field(1, 30, 0.7, 10_000, is_name=True),  # names of tools
    Field(0.5, 120, 0.7, MAX_TEXT),  # their descriptions
    Field(1, 60, 0.75, MAX_TEXT),  # long text
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
    """Return the document for `entry`. Its size has a bound, whatever the size of the entry."""
    name = entry.name[:MAX_KEY]
    namespace, _, short = name.rpartition("/")
    of_names, of_owner_name, of_brief, of_labels, of_translations, *_ = (place.most for place in PLACES)
    owner = _owner(namespace)[:of_owner_name]
    title, brief = entry.title[:of_names], entry.brief[:of_brief]
    labels = first(chain(entry.tags, entry.categories), of_labels)[:MAX_LABELS]
    translations, tools = first(entry.descriptions.values(), of_translations), entry.tools
    texts = (
        (short, title),
        (owner,),
        (brief,),
        labels,
        translations,
        (tool.name for tool in tools),
        (tool.description for tool in tools),
        _long_texts(entry),
    )
    weights: dict[str, float] = {}
    counts = list(_counted(texts))
    for weight, counted in counts:
        for word, count in counted.items():
            weights[word] = weights.get(word, 0.0) + weight * count
    weights, named = _heaviest(weights, len(counts[0][1]))
    of_owner, of_short, of_title = (words(text, humps=True) for text in (owner, short, title))
    phrases = phrase("\n".join((title, name, brief, *labels, *translations)), MAX_PHRASES)
    row = Row(entry.mcp_id, name, entry.hit(), _prior(entry, of_owner, of_short), phrases)
    marks = {
        FULL_NAME + key(words(name, humps=True)),
        FULL_NAME + key((*of_owner, *of_short)),
        FULL_NAME + key((*words(namespace.rpartition(".")[2], humps=True), *of_short)),
        facet("official", "true" if entry.is_official else "false"),
        *(SPELT + phrase(each) for each in (name, short) if each),
        *(SHORT_NAME + key(each) for each in (of_short, of_title) if each),
        *(BARE_NAME + bare for each in (of_short, of_title) if (bare := key(each, without=COMMON_PARTS))),
        *(mark + made for made in _made_by(of_owner, of_short) for mark in (MAKER, BARE_NAME, SPELT)),
        *(facet("tag", label) for label in labels),
        *(facet("package", _word_of(package.get("registryType"))) for package in entry.packages[:MAX_WAYS]),
        *(facet("transport", kind.removeprefix("streamable-")) for kind in entry.transports[:MAX_WAYS]),
    }
    packed = np.fromiter(weights.values(), WEIGHT, len(weights)).tobytes()
    return Document(row, " ".join(weights), packed, named, sorted(marks))


def _counted(texts: Sequence[Iterable[str]]) -> Iterator[tuple[float, Counter[str]]]:
    """Yield for each place what a word in it weighs, and how often each is there."""
    for place, parts in zip(PLACES, texts, strict=True):
        found = tokens("\n".join(first(parts, place.most)), humps=place.is_name)
        yield place.weight / (1 - place.damping + place.damping * len(found) / place.usual), Counter(found)


def first(texts: Iterable[str], most: int) -> list[str]:
    """Return the first of `texts`, `most` characters in all with one between two; the last one may be cut."""
    found: list[str] = []
    for text in texts:
        if most <= 0:
            break
        found.append(text[:most])
        most -= len(text) + 1
    return found


def _heaviest(weights: dict[str, float], named: int) -> tuple[dict[str, float], int]:
    """Return the MAX_WORDS words of the greatest weight, in their order, and how many of the first `named` are left."""
    if len(weights) <= MAX_WORDS and sum(map(len, weights)) <= MAX_LETTERS:
        return weights, named
    order = sorted(enumerate(weights), key=lambda each: (each[0] >= named, -weights[each[1]], each[0]))[:MAX_WORDS]
    letters = list(accumulate(len(word) for _, word in order))
    kept = sorted(order[: bisect_right(letters, MAX_LETTERS)])
    return {word: weights[word] for _, word in kept}, sum(number < named for number, _ in kept)


def _word_of(value: object) -> str:
    # Of an object or a list, the text may be as long as the entry.
    return str(value) if not isinstance(value, dict | list) else ""


def phrase(text: str, most: int = MAX_KEY) -> str:
    """Return `text` as exact phrases are compared: folded, in lower case, its blanks alike; at most `most` characters.

    Texts that are longer than that are the same if they begin so.
    """
    return " ".join(fold(text[:most]).casefold().split())[:most]


def facet(name: str, value: str) -> str:
    """Return the term that entries have which a filter lets pass."""
    return _facet(name, value[:MAX_KEY])


# Few values, and most entries have some. At most about 8 MB.
@lru_cache(maxsize=8_192)
def _facet(name: str, value: str) -> str:
    return f"{FACET}{name}:{key(words(value, humps=False))[:MAX_TOKEN]}"


def _made_by(owner: Sequence[Word], short: Sequence[Word]) -> Sequence[str]:
    """Return the product that an entry offers as the one who makes it: named like the owner, or not named at all."""
    product, brand = key(short, without=COMMON_PARTS), key(owner, without=COMMON_PARTS)
    made = product if product == brand or _is_namesake(product, owner) else "" if product else brand
    return [made] if made else []


def _is_namesake(product: str, owner: Sequence[Word]) -> bool:
    """Return whether an owner is called like the product, and so mostly makes it."""
    return len(product) >= NAMESAKE and product in key(owner)


def _prior(entry: Entry, owner: Sequence[Word], short: Sequence[Word]) -> float:
    """Return the query-independent part of the score, at most POPULAR + LISTED + VENDOR.

    Stars are the publisher's claim, so the most that they can add is bounded, on a logarithmic scale. That the owner
    of a product offers it is seen in the name, and only where the official registry lists it, which checks to whom
    names belong; what publishers say of themselves does not count.
    """
    popular = log10(1 + min(entry.stars or 0, TOP_STARS)) / log10(1 + TOP_STARS)
    vendor = entry.is_official and _is_namesake(key(short, without=COMMON_PARTS), owner)
    return POPULAR * popular + LISTED * entry.is_official + VENDOR * vendor


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
