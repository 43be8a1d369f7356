"""Documents: the searchable fields of an entry, their weights, and its terms and special terms."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate, chain
from math import log10

import numpy as np
from attrs import evolve, frozen

from ...domain.categories import categories_of
from ...domain.entries import Entry
from ...domain.facts import facts_of, is_configurable, is_vendors_own
from ...domain.kinds import short_name
from ...domain.marks import kinds_of
from ...domain.namespaces import CODE_HOSTS, account_of
from ...domain.placeholders import is_placeholder
from ...domain.tools import hinted_values
from ...domain.views import Hit
from ...domain.withholding import shown_entry
from ..tables.word_categories import word_categories
from ..text import COMMON_PARTS, MAX_KEY, MAX_TEXT, Run, key, phrase, runs, stem
from .claims import claim_terms, long_texts, meaning_vector
from .facets import Sorting, entry_terms, facet, listed, sorting_of
from .fields import Field
from .tools import HAS_TOOLS, encode_tools

MAX_WORDS = 512
"""Terms of an entry in the index, those of the greatest weight. One real entry in 1,000 has more."""

MAX_LETTERS = 12_000
"""Characters of those terms together. Real entries have at most 8,514."""

MAX_LABELS = 200
"""Tags and categories of an entry that are searched. Real entries have at most 153."""

MAX_PACKAGES = 50
"""Packages, and transports, of an entry that filters match. Real entries have at most 30."""

MAX_PHRASES = 4_000
"""Characters of an entry that exact phrases are matched against. Real entries have at most 2,107."""

WEIGHT = np.dtype("<f2")
"""The stored type of a term's weight."""

NAMED, DESCRIBED = 1, 2
"""Flags of a term: it stands in the name or title, in the description."""

FULL_NAME, SHORT_NAME, BARE_NAME = "\0full:", "\0short:", "\0bare:"
EXACT_NAME, VENDOR_PRODUCT = "\0spelt:", "\0maker:"
"""Prefixes of special terms, which are not words.

The first three are normalised names: with the owner, without the owner, and also without COMMON_PARTS. EXACT_NAME is a
folded name with its punctuation, VENDOR_PRODUCT a product offered by its vendor, or the name of an account at a code
host in the name, title or description of its entry."""

UNSPACED = "\0unspaced"
"""The special term of entries with text in a script without spaces."""

MAX_STARS = 100_000
"""Stars above this number do not raise the prior."""

STARS_PRIOR, OFFICIAL_PRIOR, PUBLISHER_PRIOR, VENDOR_PRIOR, INSTALLABLE_PRIOR = 0.15, 0.02, 0.01, 0.06, 0.01
"""The parts of the prior: at most, for stars; for a listing in the official registry; for a verified publisher; for a
vendor's own product that is listed there; and for a package or remote that can be configured. With 0.02
or more of that, nDCG@10 of some judged sets drops by 0.003."""

TRIAL_PENALTY = 0.1
"""What an entry loses that is for trying something out (`Entry.is_trial`)."""

DEPRECATED_PENALTY = 0.1
"""What an entry that nobody maintains loses of its prior (`Entry.is_retired`, or a deprecated package)."""

MIN_NAMESAKE = 4
"""Letters of the shortest product name that is compared with the owner's name."""

MAX_BESIDE = 4
"""Letters of the name of an account beside that of its product: "makenotion", "miroapp"."""

PLACEHOLDER_WEIGHT = 0.1
"""The weight of the words of a placeholder, relative to those of other entries."""


NAME, OWNER, BRIEF, LABELS, TRANSLATIONS, TOOL_NAMES, TOOL_TEXTS, LONG = FIELDS = (
    Field(5, 6, 0.3, 1_000, is_name=True),  # name and title
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
    `word_vectors`, and `tools` those of `index.tools`.
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

    `terms` are distinct. `weights` are their frequencies, weighted by field, as an array of WEIGHT; `flags` has a byte
    of NAMED and DESCRIBED for each. `special_terms` are names and filters.
    """

    row: Row
    terms: Sequence[str]
    weights: bytes
    flags: bytes
    special_terms: Sequence[str]


def build_document(entry: Entry, accepted: Collection[str] = ()) -> Document:
    """Return the document of `entry`. Its size is bounded.

    The hit has no text with a mark, except for the ids of marks in `accepted`.
    """
    name = entry.name[:MAX_KEY]
    namespace, short = name.rpartition("/")[0], short_name(name)
    owner = _owner(namespace)[: OWNER.max_characters]
    title, brief = entry.title[: NAME.max_characters], entry.brief[: BRIEF.max_characters]
    labels = _truncate(chain(entry.tags, entry.categories), LABELS.max_characters)[:MAX_LABELS]
    translations = _truncate(entry.descriptions.values(), TRANSLATIONS.max_characters)
    texts = (
        (short, title), (owner,), (brief,), labels, translations,
        (tool.name for tool in entry.tools), (tool.description for tool in entry.tools), long_texts(entry),
    )  # fmt: skip
    weights: dict[str, float] = {}
    flagged: list[set[str]] = [set(), set()]
    for field, parts in zip(FIELDS, texts, strict=True):
        words = field.add_weights(weights, "\n".join(_truncate(parts, field.max_characters)))
        if field is NAME or field is BRIEF:
            flagged[field is BRIEF] = {*map(stem, words)}
    owner_runs, short_runs, title_runs = (runs(text, humps=True) for text in (owner, short, title))
    facts = facts_of(entry)
    shown, marks = shown_entry(entry, accepted)
    offered = encode_tools(shown.offered_tools)
    vector = meaning_vector(entry)
    categories = categories_of(entry.categories, entry.tags) or [word_categories().category(weights, vector)]
    special_terms = {
        *name_terms(name),
        facet("namespace", namespace),
        *(facet("tool", tool.name) for tool in entry.tools[:MAX_LABELS]),
        *(facet("tag", label) for label in labels),
        *(facet("category", category) for category in categories if category),
        *((HAS_TOOLS,) if offered else ()),
        *claim_terms(entry, vector, weights),
        *(facet("tools", value) for value in hinted_values([tool.hints for tool in entry.offered_tools])),
        *entry_terms(entry, facts),
        *(facet("package", _scalar_text(package.get("registryType"))) for package in entry.packages[:MAX_PACKAGES]),
        *(facet("transport", kind.removeprefix("streamable-")) for kind in entry.transports[:MAX_PACKAGES]),
        *((UNSPACED,) if any(not term.isascii() and len(term) == 2 for term in weights) else ()),
    }
    prior = _prior(entry, facts.bits, owner_runs, short_runs)
    # A name alone does not show what a server does: a placeholder is found by its full name, and else comes late.
    if is_placeholder(entry):
        prior, flagged = 0.0, [set(), set()]
        weights = {term: PLACEHOLDER_WEIGHT * weight for term, weight in weights.items()}
    else:
        products = _vendor_product(owner_runs, short_runs, name.startswith(CODE_HOSTS))
        special_terms |= _product_names(short, products, short_runs, title_runs)
        brand = key(owner_runs)
        if name.startswith(CODE_HOSTS) and any(stem(brand) in terms for terms in flagged):
            special_terms.add(VENDOR_PRODUCT + brand)
    sorting = sorting_of(entry)
    hit = evolve(listed(shown.hit(), facts.bits, sorting), flags=kinds_of(mark.kind for mark in marks))
    phrases = phrase("\n".join((title, name, brief, *labels, *translations)), MAX_PHRASES)
    row = Row(entry.mcp_id, name, hit, prior, phrases, facts.bits, sorting, vector, offered)
    return Document(row, *weighted_terms(weights, *flagged), sorted(special_terms))


def name_terms(name: str) -> set[str]:
    """Return the special terms of a registered name."""
    namespace, _, short = name.rpartition("/")
    short_runs = runs(short, humps=True)
    owners = _owner(namespace)[: OWNER.max_characters], namespace.rpartition(".")[2]
    return {
        FULL_NAME + key(runs(name, humps=True)),
        *(FULL_NAME + key((*runs(owner, humps=True), *short_runs)) for owner in owners),
        EXACT_NAME + phrase(name),
    }


def weighted_terms(
    weights: Mapping[str, float], named: Collection[str], described: Collection[str]
) -> tuple[Sequence[str], bytes, bytes]:
    """Return the MAX_WORDS terms of the greatest weight, those `named` before all others, their weights and flags."""
    if len(weights) > MAX_WORDS or sum(map(len, weights)) > MAX_LETTERS:
        order = sorted(weights, key=lambda term: (term not in named, -weights[term]))[:MAX_WORDS]
        order = order[: bisect_right([*accumulate(map(len, order))], MAX_LETTERS)]
        weights = {term: weights[term] for term in order}
    flags = bytes([NAMED * (term in named) | DESCRIBED * (term in described) for term in weights])
    return [*weights], np.fromiter(weights.values(), WEIGHT, len(weights)).tobytes(), flags


def _product_names(short: str, products: Sequence[str], *names: Sequence[Run]) -> set[str]:
    """Return the special terms of the names without the owner: `short`, the words of it and of the title, products."""
    return {
        *(EXACT_NAME + phrase(name) for name in (short,) if name),
        *(SHORT_NAME + key(name) for name in names if name),
        *(BARE_NAME + bare for name in names if (bare := key(name, COMMON_PARTS))),
        *(prefix + product for product in products for prefix in (VENDOR_PRODUCT, BARE_NAME, EXACT_NAME)),
    }


def _truncate(texts: Iterable[str], limit: int) -> list[str]:
    """Return the first `limit` characters of `texts`, joined by one character each. The last text may be cut."""
    kept: list[str] = []
    for text in texts:
        if limit <= 0:
            break
        kept.append(text[:limit])
        limit -= len(text) + 1
    return kept


def _scalar_text(value: object) -> str:
    # The text of an object or a list may be as long as the entry.
    return str(value) if not isinstance(value, dict | list) else ""


def _vendor_product(owner: Sequence[Run], short: Sequence[Run], is_account: bool) -> Sequence[str]:
    """Return the product in a list if its vendor owns the entry, else an empty list.

    The product is named like the owner, or the name has only COMMON_PARTS. Those of an account at a code host belong to
    its name: anybody can call one "slack-mcp".
    """
    product = key(short, COMMON_PARTS)
    brand = key(owner) if is_account else key(owner, COMMON_PARTS)
    if product == brand or _is_namesake(product, owner, is_account):
        return [product] if product else []
    # A domain offers what is named after it: "monday.com" of com.monday.
    is_brand = not product or (not is_account and len(brand) >= MIN_NAMESAKE and product.startswith(brand))
    return [brand] if is_brand and brand else []


def _is_namesake(product: str, owner: Sequence[Run], is_account: bool) -> bool:
    """Return whether the owner's name contains the product's, which makes the owner its likely vendor."""
    name = key(owner)
    # Anybody can call an account "slack-fan-club".
    is_other = is_account and len(name) > len(product) + MAX_BESIDE
    is_copy = is_account and any(part in name.replace(product, " ") for part in COMMON_PARTS)
    return len(product) >= MIN_NAMESAKE and product in name and not is_other and not is_copy


def _prior(entry: Entry, facts: int, owner: Sequence[Run], short: Sequence[Run]) -> float:
    """Return the query-independent part of the score. It is below 0 for a deprecated entry without any.

    Stars are claimed by the publisher, so their part is logarithmic and bounded. The vendor's part needs a listing in
    the official registry, which verifies namespaces.
    """
    popular = log10(1 + min(entry.stars or 0, MAX_STARS)) / log10(1 + MAX_STARS)
    product, is_account = key(short, COMMON_PARTS), entry.name.startswith(CODE_HOSTS)
    is_namesake = entry.is_official and _is_namesake(product, owner, is_account)
    marks = OFFICIAL_PRIOR * entry.is_official + PUBLISHER_PRIOR * entry.is_proven
    marks += VENDOR_PRIOR * (is_namesake or is_vendors_own(facts))
    lost = DEPRECATED_PENALTY * entry.is_retired + TRIAL_PENALTY * entry.is_trial
    return STARS_PRIOR * popular + marks + INSTALLABLE_PRIOR * is_configurable(facts) - lost


def _owner(namespace: str) -> str:
    """Return the owner in a namespace, without the prefix of a code host or the top-level domain."""
    account = account_of(namespace)
    return account if account is not None else namespace.partition(".")[2] or namespace
