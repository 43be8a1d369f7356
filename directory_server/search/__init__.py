"""Words to hits: text analysis, the index in memory, ranking.

`_analysis` turns text into tokens; `_document` turns an entry into weighted words, once, and `_packed` that into bytes
that are kept beside the entry; `_segment` holds many of those as arrays; `_index` keeps two segments, a large base and
a small delta, and swaps snapshots of them; `_query` reads what a person typed; `_terms` finds the terms that may stand
for each of its words, with `_lexicon` (learnt from the catalogue) and `_thesaurus` (made by hand); `_ranking` adds up
what they score. `_matching` tells which queries an entry has all the words of.
"""

from ._index import ImpactIndex
from ._matching import matching
from ._packed import TextAnalysis

__all__ = ["ImpactIndex", "TextAnalysis", "matching"]
