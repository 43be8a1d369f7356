"""Documents: the searchable fields of an entry, their weights, and its words and special terms."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from itertools import accumulate, chain
from math import log10

import numpy as np
from attrs import evolve, frozen

from ...domain.categories import categories_of
from ...domain.entries import Entry
from ...domain.facts import facts_of, is_configurable, is_vendors_own
from ...domain.licenses import UNKNOWN
from ...domain.marks import kinds_of
from ...domain.namespaces import CODE_HOSTS, VERIFIED, account_of
from ...domain.placeholders import is_placeholder
from ...domain.tools import hinted_values
from ...domain.views import Hit
from ...domain.withholding import shown_entry
from ..text.analysis import COMMON_PARTS, MAX_KEY, MAX_TEXT, Word, fold, key, tokens, words
from .bm25 import Field
from .claims import claim_terms, long_texts, meaning_vector
from .facets import Sorting, facet, fact_terms, listed, sorting_of
from .tools import HAS_TOOLS, encode_tools
from .translated_terms import conversion_terms, translated_terms

MAX_WORDS = 512
"""Words of an entry in the index, those of the greatest weight. One real entry in 1,000 has more."""

MAX_LETTERS = 12_000
"""Characters of those words together. Real entries have at most 8,514."""

MAX_LABELS = 200
"""Tags and categories of an entry that are searched. Real entries have at most 153."""

MAX_PACKAGES = 50
"""Packages, and transports, of an entry that filters match. Real entries have at most 30."""

MAX_PHRASES = 4_000
"""Characters of an entry that exact phrases are matched against. Real entries have at most 2,107."""

WEIGHT = np.dtype("<f2")
"""The stored type of a word's weight."""

FULL_NAME, SHORT_NAME, BARE_NAME = "\0full:", "\0short:", "\0bare:"
EXACT_NAME, VENDOR_PRODUCT = "\0spelt:", "\0maker:"
"""Prefixes of special terms, which are not words.

The first three are normalised names: with the owner, without the owner, and also without COMMON_PARTS. EXACT_NAME is a
folded name with its punctuation, VENDOR_PRODUCT a product offered by its vendor, or the name of an account at a code
host in the name, title or description of its entry. See also `facets` and `translated_terms`."""

MAX_STARS = 100_000
"""Stars above this number do not raise the prior."""

STARS_PRIOR, OFFICIAL_PRIOR, PUBLISHER_PRIOR, VENDOR_PRIOR, INSTALLABLE_PRIOR = 0.15, 0.02, 0.01, 0.06, 0.01
"""The parts of the prior: at most, for stars; for a listing in the official registry; for a verified publisher; for a
vendor's own product that is listed there; and for a package or remote that can be configured."""

DEPRECATED_PENALTY = 0.1
"""What an entry that nobody maintains loses of its prior (`Entry.is_retired`, or a deprecated package)."""

MIN_NAMESAKE = 4
"""Letters of the shortest product name that is compared with the owner's name."""

PLACEHOLDER_WEIGHT = 0.1
"""The weight of the words of a placeholder, relative to those of other entries."""

FIELDS = (
    Field(5, 6, 0.3, 1_000, is_name=True),  # name and title, must be the first field: see Document.named
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
    """The stored fields of a document.

    `prior` is the query-independent part of the score. `phrases` is the folded text for exact phrases. `facts` are
    bits, see `Facts`. `sorting` is for lists of entries, see `facets`. `vector` is what the entry means, see
    `word_vectors`, and `tools` those of `tools`.
    """

    mcp_id: str
    name: str
    hit: Hit
    prior: float
    phrases: str
    facts: int
    sorting: Sorting
    vector: bytes
    tools: bytes = b""


@frozen(eq=False)
class Document:
    """The analysed form of an entry.

    `words` are its distinct words, not stemmed, separated by spaces. `weights` are their frequencies, weighted by
    field, as an array of WEIGHT. The first `named` words stand in the name or title, those at the positions `described`
    in the description. `special_terms` are names and filters.
    """

    row: Row
    words: str
    weights: bytes
    named: int
    described: Sequence[int]
    special_terms: Sequence[str]


def build_document(entry: Entry, accepted: Collection[str] = ()) -> Document:
    """Return the document of `entry`. Its size is bounded.

    The hit has no text with a mark, except for the ids of marks in `accepted`.
    """
    name = entry.name[:MAX_KEY]
    namespace, _, short = name.rpartition("/")
    max_names, max_owner, max_brief, max_labels, max_translations, *_ = (field.max_characters for field in FIELDS)
    owner = _owner(namespace)[:max_owner]
    title, brief = entry.title[:max_names], entry.brief[:max_brief]
    labels = _truncate(chain(entry.tags, entry.categories), max_labels)[:MAX_LABELS]
    translations, tools = _truncate(entry.descriptions.values(), max_translations), entry.tools
    tool_names, tool_texts, long_text = map(
        _joined, ((tool.name for tool in tools), (tool.description for tool in tools), long_texts(entry)), FIELDS[5:]
    )
    texts = (
        (short, title),
        (owner,),
        (brief,),
        labels,
        translations,
        *((text,) for text in (tool_names, tool_texts, long_text)),
    )
    weights: dict[str, float] = {}
    counts = list(_word_frequencies(texts))
    for weight, counted in counts:
        for word, count in counted.items():
            weights[word] = weights.get(word, 0.0) + weight * count
    vector = meaning_vector(entry)
    claims = claim_terms(entry, vector, weights)
    weights, named = top_words(weights, len(counts[0][1]))
    described = positions(counts[2][1], weights)
    owner_words, short_words, title_words = (words(text, humps=True) for text in (owner, short, title))
    phrases = phrase("\n".join((title, name, brief, *labels, *translations)), MAX_PHRASES)
    facts = facts_of(entry)
    prior = _prior(entry, facts.bits, owner_words, short_words)
    shown, marks = shown_entry(entry, accepted)
    flags = kinds_of(mark.kind for mark in marks)
    offered = encode_tools(shown.offered_tools)
    special_terms = {
        FULL_NAME + key(words(name, humps=True)),
        FULL_NAME + key((*owner_words, *short_words)),
        FULL_NAME + key((*words(namespace.rpartition(".")[2], humps=True), *short_words)),
        EXACT_NAME + phrase(name),
        facet("official", "true" if entry.is_official else "false"),
        facet("retired", "true" if entry.is_retired else "false"),
        facet("publisher", VERIFIED if entry.is_proven else UNKNOWN),
        facet("namespace", namespace),
        *(facet("tag", label) for label in labels),
        *(facet("category", name) for name in categories_of(entry.categories, entry.tags)),
        *((HAS_TOOLS,) if offered else ()),
        *claims,
        *(facet("tools", value) for value in hinted_values([tool.hints for tool in entry.offered_tools])),
        *fact_terms(facts),
        *(facet("package", _scalar_text(package.get("registryType"))) for package in entry.packages[:MAX_PACKAGES]),
        *(facet("transport", kind.removeprefix("streamable-")) for kind in entry.transports[:MAX_PACKAGES]),
        *conversion_terms((short, title, tool_names), (brief, tool_texts, long_text)),
        *translated_terms((brief, *translations, tool_texts, long_text)),
    }
    # A name alone does not show what a server does: a placeholder is found by its full name, and else comes late.
    if is_placeholder(entry):
        prior, named, described = 0.0, 0, []
        weights = {word: PLACEHOLDER_WEIGHT * weight for word, weight in weights.items()}
    else:
        products = _vendor_product(owner_words, short_words, name.startswith(CODE_HOSTS))
        special_terms |= _product_names(short, products, short_words, title_words)
        if name.startswith(CODE_HOSTS) and any((brand := key(owner_words)) in counts[field][1] for field in (0, 2)):
            special_terms.add(VENDOR_PRODUCT + brand)
    sorting = sorting_of(entry)
    hit = evolve(listed(shown.hit(), facts.bits, sorting), flags=flags)
    row = Row(entry.mcp_id, name, hit, prior, phrases, facts.bits, sorting, vector, offered)
    packed = np.fromiter(weights.values(), WEIGHT, len(weights)).tobytes()
    return Document(row, " ".join(weights), packed, named, described, sorted(special_terms))


def _product_names(short: str, products: Sequence[str], *names: Sequence[Word]) -> set[str]:
    """Return the special terms of the names without the owner: `short`, the words of it and of the title, products."""
    return {
        *(EXACT_NAME + phrase(each) for each in (short,) if each),
        *(SHORT_NAME + key(name) for name in names if name),
        *(BARE_NAME + bare for name in names if (bare := key(name, without=COMMON_PARTS))),
        *(prefix + product for product in products for prefix in (VENDOR_PRODUCT, BARE_NAME, EXACT_NAME)),
    }


def _word_frequencies(texts: Sequence[Iterable[str]]) -> Iterator[tuple[float, Counter[str]]]:
    """Yield for each field the weight of one occurrence of a word, and the number of occurrences of each word."""
    for field, parts in zip(FIELDS, texts, strict=True):
        found = tokens(_joined(parts, field), humps=field.is_name)
        yield field.term_weight(len(found)), Counter(found)


def _joined(texts: Iterable[str], field: Field) -> str:
    return "\n".join(_truncate(texts, field.max_characters))


def _truncate(texts: Iterable[str], most: int) -> list[str]:
    """Return the first `most` characters of `texts`, joined by one character each. The last text may be cut."""
    found: list[str] = []
    for text in texts:
        if most <= 0:
            break
        found.append(text[:most])
        most -= len(text) + 1
    return found


def top_words(weights: dict[str, float], named: int) -> tuple[dict[str, float], int]:
    """Return the MAX_WORDS words of the greatest weight, in their order, and how many of the first `named` remain.

    The first `named` words go before all others.
    """
    if len(weights) <= MAX_WORDS and sum(map(len, weights)) <= MAX_LETTERS:
        return weights, named
    order = sorted(enumerate(weights), key=lambda pair: (pair[0] >= named, -weights[pair[1]], pair[0]))[:MAX_WORDS]
    letters = list(accumulate(len(word) for _, word in order))
    kept = sorted(order[: bisect_right(letters, MAX_LETTERS)])
    return {word: weights[word] for _, word in kept}, sum(number < named for number, _ in kept)


def positions(found: Container[str], words: Iterable[str]) -> Sequence[int]:
    """Return the positions in `words` of those that are in `found`."""
    return [position for position, word in enumerate(words) if word in found]


def _scalar_text(value: object) -> str:
    # The text of an object or a list may be as long as the entry.
    return str(value) if not isinstance(value, dict | list) else ""


def phrase(text: str, most: int = MAX_KEY) -> str:
    """Return the first `most` characters of `text`, folded, in lower case and with white space collapsed."""
    return " ".join(fold(text[:most]).casefold().split())[:most]


def _vendor_product(owner: Sequence[Word], short: Sequence[Word], is_account: bool) -> Sequence[str]:
    """Return the product in a list if its vendor owns the entry, else an empty list.

    The product is named like the owner, or the name has only COMMON_PARTS. Those of an account at a code host belong to
    its name: anybody can call one "slack-mcp".
    """
    product = key(short, without=COMMON_PARTS)
    brand = key(owner) if is_account else key(owner, without=COMMON_PARTS)
    offered = product if product == brand or _is_namesake(product, owner, is_account) else "" if product else brand
    return [offered] if offered else []


def _is_namesake(product: str, owner: Sequence[Word], is_account: bool) -> bool:
    """Return whether the owner's name contains the product's, which makes the owner its likely vendor."""
    name = key(owner)
    is_copy = is_account and any(part in name.replace(product, " ") for part in COMMON_PARTS)
    return len(product) >= MIN_NAMESAKE and product in name and not is_copy


def _prior(entry: Entry, facts: int, owner: Sequence[Word], short: Sequence[Word]) -> float:
    """Return the query-independent part of the score. It is below 0 for a deprecated entry without any.

    Stars are claimed by the publisher, so their part is logarithmic and bounded. The vendor's part needs a listing in
    the official registry, which verifies namespaces.
    """
    popular = log10(1 + min(entry.stars or 0, MAX_STARS)) / log10(1 + MAX_STARS)
    product, is_account = key(short, without=COMMON_PARTS), entry.name.startswith(CODE_HOSTS)
    is_namesake = entry.is_official and _is_namesake(product, owner, is_account)
    marks = OFFICIAL_PRIOR * entry.is_official + PUBLISHER_PRIOR * entry.is_proven
    marks += VENDOR_PRIOR * (is_namesake or is_vendors_own(facts))
    lost = DEPRECATED_PENALTY * entry.is_retired
    return STARS_PRIOR * popular + marks + INSTALLABLE_PRIOR * is_configurable(facts) - lost


def _owner(namespace: str) -> str:
    """Return the owner in a namespace, without the prefix of a code host or the top-level domain."""
    account = account_of(namespace)
    return account if account is not None else namespace.partition(".")[2] or namespace
