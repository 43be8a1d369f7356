"""Words and expressions of entries, in the files of `data`: tables whose texts are lists separated by commas."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, TypeVar

T = TypeVar("T")


def read_vocabulary(name: str) -> Mapping[str, Any]:
    """Return the tables of the file `data/{name}.toml`."""
    return tomllib.loads(files(__package__).joinpath("data", f"{name}.toml").read_text("utf-8"))


def by_first_word(
    expressions: Iterable[tuple[str, T]], word: re.Pattern[str]
) -> Mapping[str, Sequence[tuple[tuple[str, ...], T]]]:
    """Return the words of expressions, and what each stands for, by the first word; the longest expressions first."""
    found: dict[str, list[tuple[tuple[str, ...], T]]] = {}
    for text, meaning in expressions:
        words = tuple(word.findall(text))
        found.setdefault(words[0], []).append((words, meaning))
    return {first: sorted(pairs, key=lambda pair: -len(pair[0])) for first, pairs in found.items()}


def listed(text: str) -> tuple[str, ...]:
    """Return the items of a list, without white space around them."""
    return tuple(item for part in text.split(",") if (item := part.strip()))


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
