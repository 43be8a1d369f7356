"""Words to hits: text analysis, the index in memory, ranking.

`_analysis` turns text into tokens; `_document` turns an entry into weighted words, once, and `_packed` that into bytes
that are kept beside the entry; `_segment` holds many of those as arrays; `_index` keeps two segments, a large base and
a small delta, and swaps snapshots of them.

`_query` reads what a person typed; `_plan` gathers the evidence for that in a `_collection` of segments: `_terms` of
its words, with `_spelling` and `_lexicon` (learnt from the catalogue), `_names` as wholes, and `_needs` by the
`_thesaurus` (made by hand). `_ranking` adds up what they score, with `_feedback` from the first hits; `_explain` tells
each gave.

`_matching` tells which queries an entry has all the words of, for those who wait for entries instead.
"""

from .impact_index import ImpactIndex
from .index.packing import TextAnalysis
from .percolator import percolate

__all__ = ["ImpactIndex", "TextAnalysis", "percolate"]
