"""Full-text search in memory: text analysis, index, query processing, ranking.

`text/` turns text into tokens and terms. `index/` holds documents: `document` extracts weighted words from an entry,
`bm25` computes the impacts of terms, `packing` stores documents as bytes, `segment` is an inverted index of many,
`merging` merges its postings, `strings` and `packed` hold texts as bytes, `vocabulary` numbers the words, `tiers`
decides which segments are merged, and a `collection` is the segments of one search.

`query/` parses a query and plans it: conditions, term groups with spelling correction, name matches, and expansion by
concepts. `ranking/` scores documents by the plan, adds pseudo-relevance feedback, selects the top k, explains scores,
and gives the reasons of hits.

`impact_index` is the index with its snapshots of segments. `index_file` is its file, which `index/saved` and
`index/columns` write and map. `percolator` matches one entry against many queries.
"""

from .impact_index import ImpactIndex
from .index.memory import Keep
from .index.packing import TextAnalysis, file_version
from .index.rows import key_of as entry_key
from .index_file import MappedIndexFile
from .percolator import EntryPolicy, percolate
from .query.cost import load_tables
from .query.parsing import topic
