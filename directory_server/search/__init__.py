"""Words to hits: text analysis and the index in memory.

`_analysis` turns text into terms and knows no engine; `_document` says which texts of an entry are searched and what
each weighs; `_query` turns what a person typed into a query over those fields; `_index` keeps the index, swaps its
snapshots and cuts pages. tantivy is known to the last two alone, and is given terms, never text.
"""

from ._index import TantivyIndex

__all__ = ["TantivyIndex"]
