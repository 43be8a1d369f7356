"""Words of queries that say nothing about servers, or little."""

from __future__ import annotations

import re
import tomllib

from ..text import COMMON_PARTS, stem
from .files import read_table

_WORDS = tomllib.loads(read_table("query_words.toml"))

ENGLISH = frozenset(f"{_WORDS['english']} {_WORDS['requests']}".split())
"""English function words, and the words by which a request begins."""

FUNCTION_WORDS = ENGLISH | frozenset(_WORDS["foreign"].split())

STOP_WORDS = COMMON_PARTS | FUNCTION_WORDS
"""Words that are ignored if the query has others."""

GENERAL_WORDS = frozenset(_WORDS["general"].split()) - STOP_WORDS
"""Words that weigh less beside others, and are not misspelt.

Entries of servers are short, so that words such as "together" and "appear" are rare in them, and not because they tell
much.
"""

GENERAL_STEMS = frozenset(map(stem, GENERAL_WORDS))
"""Their stems."""

UNSPACED_REQUESTS = re.compile(
    # Korean: "show me", "please do", "I want to", "how to", "is there".
    "(?:알려|보여|찾아|가르쳐) ?(?:줘요?|주세요|줄래요?|달라고?|주라)"
    "|(?:(?<=[가-힣])해 ?)?(?:줘요?|주세요|줄래요?)(?![가-힣])"
    "|(?:하고 ?)?싶(?:어요?|다|습니다|은데요?)|하는 ?(?:방법|법)(?![가-힣])|어떻게|부탁(?:해요?|드려요|드립니다)"
    "|(?:있나요|있을까요?|인가요|뭐야|뭔가요|무엇인가요)(?![가-힣])"
    # Chinese: "excuse me", "I want to", "how", "is there", "tell me".
    "|请问|我想要?|想要|给我|怎么样?|如何|怎样|有没有|能不能|可不可以|一下|告诉我"
)
"""Requests in scripts without spaces: folded text that says nothing about servers."""
