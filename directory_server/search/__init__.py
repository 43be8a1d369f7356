"""Full-text search in memory: text analysis, index, query plans, ranking.

`text` turns text into tokens and terms. `tables/` has the tables of words. `index/` holds documents: `document`
extracts weighted terms from an entry, `packing` stores documents as bytes, `checked` adds what checks have found,
`segment` is an inverted index of many, and a `snapshot` has the segments and the views of them that searches read.

`query/` parses a query and plans it: a plan is a flat table of rows, which words, translations, completions,
corrections, concepts and names yield. `ranking/` scores documents by the rows, and makes pages of them.

`impact_index` is the index with its snapshots. `index_file` is its file, which `index/saved` and `index/columns` write
and map. `percolator` matches one entry against many queries.
"""

from .impact_index import ImpactIndex
from .index.packing import TextAnalysis, file_version
from .index.segment import key_of as entry_key
from .index_file import MappedIndexFile
from .percolator import EntryPolicy, percolate
from .query.cost import load_tables
from .query.parsing import topic
