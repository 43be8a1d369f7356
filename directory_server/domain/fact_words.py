"""Expressions in the texts of entries that state a fact, of `data/statements.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .vocabulary import listed, read_vocabulary

RETIRED = frozenset({"archived", "deprecated", "discontinued", "retired", "unmaintained"})
"""Labels of servers that nobody maintains, and words that begin the description of one: `DEPRECATED: use …`."""

RETIRED_TEXT = re.compile(rf"\W*(?:{'|'.join(sorted(RETIRED))})(?:\W*$|\s*[^\w\s]\s|\s+v?\d)", re.IGNORECASE)
"""Such a description. "Archived web pages" are a topic."""

RETIRED_REPOSITORY = re.compile(r"[-_/](?:archived|deprecated)(?:\.git)?/*$")
"""The end of the URL of a repository that is kept for its past."""

_VOCABULARY = read_vocabulary("statements")

STATEMENTS: Mapping[str, Sequence[str]] = {fact: listed(texts) for fact, texts in _VOCABULARY["statements"].items()}
"""For each fact the expressions that state it, in lower case. The longest expression at a place counts."""

IGNORED = listed(_VOCABULARY["ignored"])
"""Expressions that state nothing, though they have one that does."""

SELF_HOSTED_PRODUCTS = frozenset(listed(_VOCABULARY["self_hosted_products"]))
"""Products that their users run on servers of their own."""
