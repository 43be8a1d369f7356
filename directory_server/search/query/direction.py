"""Conversions in a query: entries that convert in the direction of "HTML to Markdown"."""

from __future__ import annotations

from collections.abc import Sequence

from ..index.collection import Collection
from ..index.conversion_terms import conversion_term
from ..text.conversions import conversions
from .groups import TermGroup
from .parsing import ParsedQuery

MAX_PLAIN = 8
"""Words of a query that states a conversion without a verb of conversion. In a longer one, "to" has other meanings."""

SHARE = 1.0
"""The score of an entry that states the conversion, as a share of the query weight."""


def conversion_groups(query: ParsedQuery, collection: Collection, query_weight: float) -> Sequence[TermGroup]:
    """Return the group of the conversions of `query` that entries state, if there are any."""
    pairs = sorted(conversions(query.text, is_name=len(query.words) <= MAX_PLAIN))
    if not pairs:
        return []
    found = {number: pair for pair in pairs if (number := collection.find(conversion_term(*pair))) is not None}
    terms = {number: 1.0 for number in found if collection.document_frequency(number)}
    label = ", ".join(" to ".join(found[number]) for number in terms)
    return [TermGroup(label, terms, SHARE * query_weight)] if terms else []
