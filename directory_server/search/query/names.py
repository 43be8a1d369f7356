"""Rows of names: entries whose name equals a query, begins with it, or is an edit or two from it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from ..index.document import BARE_NAME, EXACT_NAME, FULL_NAME, SHORT_NAME, VENDOR_PRODUCT
from ..index.view import View
from ..text import stem
from .rows import Plan, Row

EXACT = {FULL_NAME: 3.0, BARE_NAME: 0.6, EXACT_NAME: 1.3, VENDOR_PRODUCT: 2.0}
"""The score of an exact match of each kind of name, as a share of the weight of the query."""

BEGUN, TYPED = 0.4, 1.2
"""The share of a name that begins with the query, and the addition times the share of the name that was typed."""

WRITTEN = 0.4
"""The share of a name that begins with the query including its punctuation, times the share that was typed."""

KNOWN_WORD, KNOWN = 20, 0.6
"""The entries with a word, from which it is mostly finished, and the factor of longer names then."""

NAMESAKES = 5
"""Entries with one name, apart from COMMON_PARTS, from which it is that of a product."""

MISSPELT = 0.6
"""The share of a name that the query misspells, times the square of the share of its letters that are right."""

MISSPELT_LENGTHS, MIN_TWO_EDITS = range(3, 39), 9
"""Letters of a query that may be a misspelt name, and from which it may have two edits."""

VENDOR, MIN_PRODUCT = 0.7, 4.5
"""The score of the vendor's own server of a product in a query, as a share of the value of its name; the least idf of
a name of a product."""

MAX_LONGER = 100
"""Names that begin with a query, the shortest first."""


def exact_names(names: Mapping[str, str], view: View) -> Mapping[str, int]:
    """Return the number of entries with each of `names`, by the kind of name."""
    known = [(kind, name) for kind, name in names.items() if name]
    counts = view.frequencies([kind + name for kind, name in known])
    return {kind: count for (kind, _), count in zip(known, counts, strict=True) if count}


def name_rows(plan: Plan, full: str, bare: str, literal: str, view: View) -> list[list[Row]]:
    """Return the groups of rows of names: of each kind that equals the query, and of names that are like it.

    Of a product, which several entries are for, only the vendor's own has one: the others are found by the word, in the
    order of their priors.
    """
    if not full:
        return []
    weight = plan.weight
    # Punctuation is typed in the name of an entry ("slack-mcp").
    is_product = plan.exact.get(BARE_NAME, 0) >= NAMESAKES and full == literal.replace(" ", "")
    names = {FULL_NAME: full, BARE_NAME: bare, EXACT_NAME: literal, VENDOR_PRODUCT: bare}
    kinds = [VENDOR_PRODUCT] if is_product else [*EXACT]
    groups = [[(kind + names[kind],) * 2 + (EXACT[kind], weight)] for kind in kinds if plan.exact.get(kind)]
    if is_product:
        return groups
    longer = [SHORT_NAME + full]
    if not plan.parsed.is_complete:
        longer = view.longer_names(SHORT_NAME + full, MAX_LONGER)
    if longer:
        factor = KNOWN if view.frequencies([stem(full)])[0] >= KNOWN_WORD else 1.0
        groups.append([(name, name, _begun(name, full, factor), weight) for name in longer])
    if not plan.parsed.is_complete:
        written = view.longer_names(EXACT_NAME + literal, MAX_LONGER)
        shares = [(name, WRITTEN * min(len(literal) / (len(name) - len(EXACT_NAME)), 1)) for name in written]
        groups += [[(name, name, share, weight) for name, share in shares]] if shares else []
    if not plan.is_name and len(full) in MISSPELT_LENGTHS and full.isascii() and _may_be_misspelt(plan):
        # Names have words such as "mcp" if the query has.
        kind = BARE_NAME if full == bare else SHORT_NAME
        near = view.near(full, 1 if len(full) < MIN_TWO_EDITS else 2, kind)
        rows = [(kind + name, MISSPELT * (1 - edits / len(full)) ** 2) for name, edits in near.items()]
        groups += [[(name, name, share, weight) for name, share in rows]] if rows else []
    return groups


def _may_be_misspelt(plan: Plan) -> bool:
    """Return whether a query may be a misspelt name: it is written as one, or has a word that no entry has."""
    return bool(plan.unknown) or len(plan.parsed.runs) == 1 or any(word.is_corrected for word in plan.words)


def vendor_rows(plan: Plan, view: View) -> list[list[Row]]:
    """Return the groups of rows of vendors whose product the query names beside what to do with it."""
    names = [word.text for word in plan.words]
    values = {word.text: word.value for word in plan.words if word.idf >= MIN_PRODUCT}
    values |= {one + other: values[one] for one, other in pairwise(names) if one in values}
    known = [*values]
    counts = view.frequencies([VENDOR_PRODUCT + name for name in known])
    return [
        [(VENDOR_PRODUCT + name, VENDOR_PRODUCT + name, VENDOR, values[name])]
        for name, count in zip(known, counts, strict=True)
        if count
    ]


def _begun(name: str, full: str, factor: float) -> float:
    length = len(name) - len(SHORT_NAME)
    return (BEGUN + TYPED * len(full) / length) * (1.0 if length == len(full) else factor)
