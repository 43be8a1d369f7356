"""Count the tokens of search results that a model reads: the text of `search_mcp` for 10 and 50 hits.

    python -m bench.tokens

The queries are those of the relevance sets. A client gives a model the text or the structured content, which are equal.
Tokens are those of o200k_base, if `rs-bpe` is installed (`pip install rs-bpe` brings the vocabulary); else the
characters divided by CHARACTERS, which counts about a tenth too many.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from statistics import median

from directory_server.domain.ports.search import Index
from directory_server.domain.search import Query
from directory_server.runtime.run_sync import run_sync
from directory_server.web.mcp import tool_text

from .catalogue.files import REAL, read_entries
from .catalogue.sets import read_set, set_files
from .engines.ours import our_index

LIMITS = (10, 50)

CHARACTERS = 3
"""Characters of a token, at least: measured are 3.3 for search results in English."""

Counter = Callable[[str], int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=Path, default=REAL, help="gzipped JSON Lines of entries")
    index = our_index(read_entries(parser.parse_args().entries))
    queries = [each.query for path in set_files() for each in read_set(path)]
    name, counter = token_counter()
    for limit in LIMITS:
        counts = result_tokens(index, queries, limit, counter)
        if not counts:
            print(f"{limit} hits: no query has so many")
            continue
        figures = f"median {median(counts):,.0f}, largest {max(counts):,} tokens"
        print(f"{limit} hits: {figures} ({name}, {len(counts)} queries)")


def token_counter() -> tuple[str, Counter]:
    """Return the name of a counter of tokens, and the counter."""
    try:
        openai = import_module("rs_bpe.bpe").openai
    except ImportError:
        return f"characters / {CHARACTERS}", lambda text: len(text) // CHARACTERS
    return "o200k_base", openai.o200k_base().count


def result_tokens(index: Index, queries: Sequence[str], limit: int, counter: Counter) -> list[int]:
    """Return the tokens of the result for each of `queries` that has `limit` hits."""
    pages = (run_sync(index.search(Query(query, limit))) for query in queries)
    return [counter(tool_text(page)) for page in pages if len(page.hits) == limit]


if __name__ == "__main__":
    main()
