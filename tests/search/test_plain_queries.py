"""Short ways of planning a search: the results are those of the long ways."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex
from directory_server.search.query import parsing, terms
from directory_server.search.query.plan import build_plan
from directory_server.search.query.spelling import MAX_FREQUENCY
from directory_server.search.text.translation_tables import translations
from tests.contract.index import additions, make_entry


@given(st.one_of(st.text("abBC09 ", max_size=600), st.text("ab09 ", max_size=600)))
def test_keywords_of_words_only_are_parsed_like_others(keywords: str) -> None:
    found = parsing.parse(keywords)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsing, "_ONLY_LOWER", re.compile("(?!)"))
        assert parsing.parse(keywords) == found


@cache
def known_words() -> Sequence[str]:
    """Return words of several languages, names, beginnings of expressions, function words, and unknown words."""
    lexicon = translations()
    found = {word for language in ("de", "es", "tr", "ru", "name") for word in [*lexicon.stems[language]][::97]}
    found |= {word for words in lexicon.function_words.values() for word in [*sorted(words)][:5]}
    found |= {word for words in lexicon.starts.values() for word in [*sorted(words)][:5]}
    parts = {part for each in found for part in each.split()}
    return sorted(parts | {"weather", "music", "send", "invoices", "xy", "zzyzx", "rechnungsverwaltung", "a", "to"})


# The words are read when the test runs: each worker collects all tests.
KNOWN = st.deferred(lambda: st.sampled_from(known_words()))


@given(st.lists(KNOWN, max_size=5), st.sets(KNOWN))
def test_plain_words_tell_no_language_and_are_not_translated(parts: list[str], known: set[str]) -> None:
    lexicon = translations()
    if lexicon.are_plain(parts, known.__contains__):
        assert lexicon.likely_language(parts, " ".join(parts)) == ""
        assert [*lexicon.spaced(parts, "", known.__contains__)] == []
        assert lexicon.ignored(parts, "") == set()


def filled_index() -> ImpactIndex:
    """Return an index in which "weather" is no rare word, and "weathertown" is one that most write as two."""
    index = ImpactIndex(inline)
    entries = [make_entry(f"org.example/sky-{n}", f"Weather of town {n}") for n in range(2 * MAX_FREQUENCY)]
    entries += [make_entry(f"org.example/post-{n}", "Sends letters") for n in range(8 * MAX_FREQUENCY)]
    run_sync(index.apply(additions(*entries, make_entry("org.example/coat", "A coat of weathertown"))))
    return index


@pytest.mark.parametrize(
    "keywords", ["weather", "weather town", "town weather ", "weath town coat", "weathertown coat"]
)
def test_cached_parts_of_words_are_those_of_words_that_may_be_rare(
    keywords: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, parsed = filled_index(), parsing.parse(keywords)
    found = build_plan(parsed, index.snapshot.collection)
    monkeypatch.setattr(terms, "_plain_part", lambda *_, **__: None)
    monkeypatch.setattr(terms, "_plain_last_part", lambda *_: None)
    assert build_plan(parsed, index.snapshot.collection) == found
    assert build_plan(parsed, filled_index().snapshot.collection) == found
