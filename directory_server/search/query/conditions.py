"""Conditions in a query, beside its topic: "no API key", "self-hosted", "in Rust". See conditions.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

import numpy as np
from attrs import evolve, frozen

from ...domain.facts import ALL_LANGUAGES, Fact, language_bit
from ...domain.languages import NAMES, TOPICAL
from ..index.arrays import Bools, Floats, Sets
from ..text.analysis import Word, words
from ..text.tables import Lazy, read_table

REWARD, PARTIAL_REWARD, PENALTY = 0.6, 0.2, 0.2
"""Shares of its score that a document gains if it satisfies a condition, or a part of it, and that it loses if a fact
contradicts the condition."""

LEAST_FACTOR = 0.5
"""The least factor of a score, however many conditions a document contradicts."""

AMBIGUOUS_SHARE = 0.7
"""The part of a reward if the expression may be the topic as well."""

LIGHT = 0.3
"""The weight of the words of such an expression."""

ANY = "something"
"""The word of an expression that stands for any one word ("without a GitHub account")."""

OR = "or"
"""The word between two conditions of which one is enough."""

_OF_LANGUAGE = (
    *("in {}", "written in {}", "implemented in {}", "built with {}", "built in {}", "{} implementation", "{} based"),
    *("geschrieben in {}", "ecrit en {}", "escrito en {}", "escrito em {}", "用{}写的", "用{}编写", "{}製"),
)
"""Expressions for a programming language."""

_OF_LANGUAGE_SERVER = ("{} mcp server", "{} mcp", "mcp server {}", "mcp in {}")
"""Expressions for a server in a programming language, also for one whose name has other meanings."""

_PERHAPS_OF_LANGUAGE = ("{} server", "server {}")
"""Expressions that may name a server of something else: a game has the name Rust."""


@frozen
class Condition:
    """A condition, and the bits of the facts that satisfy it, satisfy a part of it, or contradict it.

    `is_certain` is false if its expression may be the topic.
    """

    label: str
    full: int
    partial: int
    contrary: int
    is_certain: bool = True

    @property
    def reward(self) -> float:
        """The share of its score that a document gains by a fact that satisfies the condition."""
        return REWARD if self.is_certain else AMBIGUOUS_SHARE * REWARD

    @property
    def partial_reward(self) -> float:
        """The share that it gains by a fact that satisfies a part of the condition."""
        return PARTIAL_REWARD if self.is_certain else AMBIGUOUS_SHARE * PARTIAL_REWARD

    @property
    def penalty(self) -> float:
        """The share, below 0, that it loses by a fact that contradicts the condition."""
        return -PENALTY if self.is_certain else 0.0

    def satisfied_by(self, facts: Sets) -> Bools:
        """Return which of `facts` satisfy the condition."""
        found: Bools = (facts & np.uint64(self.full)) != 0
        return found


def rewards(condition: Condition, facts: Sets, covered: Floats) -> Floats:
    """Return for each of `facts` the share of its score that a document gains or loses.

    A reward grows with the square root of the share of the topic that the document has (`covered`).
    """
    found = np.zeros(len(facts), np.float32)
    found[(facts & np.uint64(condition.contrary)) != 0] = condition.penalty
    topic = np.sqrt(covered)
    for bits, reward in ((condition.partial, condition.partial_reward), (condition.full, condition.reward)):
        has_fact = (facts & np.uint64(bits)) != 0
        found[has_fact] = np.float32(reward) * topic[has_fact]
    return found


def factors(conditions: Sequence[Condition], facts: Sets, covered: Floats) -> Floats:
    """Return the factors of the scores of documents with `facts`: 1, and the rewards of all conditions.

    A factor makes conditions a soft AND with the topic: a document gains in proportion to how well it matches.
    """
    found = np.ones(len(facts), np.float32)
    for condition in conditions:
        found += rewards(condition, facts, covered)
    return np.maximum(found, np.float32(LEAST_FACTOR))


@frozen
class Request:
    """The `words` of a query without those of its conditions.

    `light` words may state the topic or a condition. `cuts_end` is true if the last word is one of a condition.
    """

    words: Sequence[Word]
    conditions: Sequence[Condition] = ()
    light: frozenset[str] = frozenset()
    cuts_end: bool = False

    def certain(self) -> Request:
        """Return the request with those of its conditions that are not its topic."""
        return evolve(
            self, conditions=[condition for condition in self.conditions if condition.is_certain], light=frozenset()
        )


@frozen
class _Expression:
    """Tokens (words, and single characters of scripts without spaces) that state a condition."""

    tokens: tuple[str, ...]
    condition: Condition
    at_end: bool = False


_Place = tuple[int, int, str]
"""The number of a word, the number of one of its parts or characters, and that part or character."""


def find_conditions(query: Sequence[Word]) -> Request:
    """Return the conditions in the words of a query. A query without other words has none: its words are the topic."""
    tokens = [token for word in query for token in (word.parts if word.spaced else word.parts[0])]
    if not any(token in conditions() and _longest(tokens, at) is not None for at, token in enumerate(tokens)):
        return Request(query)
    places = list(_places(query))
    asked: dict[str, Condition] = {}
    removed: set[int] = set()
    light: set[str] = set()
    at = 0
    while at < len(tokens):
        found = _longest(tokens, at)
        if found is None:
            at += 1
            continue
        condition, end = found.condition, at + len(found.tokens)
        if condition.is_certain:
            condition, start, end = _either(condition, tokens, at, end)
            if start < at:
                # The name of a language may have been read as the topic.
                light.difference_update(tokens[start:at])
                asked = {
                    label: other for label, other in asked.items() if other.is_certain or other.full & ~condition.full
                }
            removed.update(range(start, end))
        else:
            light.update(found.tokens)
        if condition.is_certain or condition.label not in asked:
            asked[condition.label] = condition
        at = end
    topic = [place for number, place in enumerate(places) if number not in removed]
    if not asked or light.issuperset(token for _, _, token in topic):
        return Request(query)
    cuts_end = len(tokens) - 1 in removed
    return Request(list(_words(query, topic)), [*asked.values()], frozenset(light), cuts_end)


def _places(query: Sequence[Word]) -> Iterator[_Place]:
    for number, word in enumerate(query):
        for place, token in enumerate(word.parts if word.spaced else word.parts[0]):
            yield number, place, token


def _longest(tokens: Sequence[str], at: int) -> _Expression | None:
    for expression in conditions().get(tokens[at], ()):
        end = at + len(expression.tokens)
        # Most expressions have more words than follow in a query.
        if end > len(tokens) or (expression.at_end and end < len(tokens)):
            continue
        if _is_stated(expression.tokens, tokens[at:end]):
            return expression
    return None


def _either(condition: Condition, tokens: Sequence[str], at: int, end: int) -> tuple[Condition, int, int]:
    """Return a condition, or the one that it or another satisfies ("MIT or Apache licensed"), and its place.

    The expression at the given place has the words that both share: the last ones, or the first ones ("in Rust or Go").
    """
    before, after = tokens[max(at - 2, 0) : at], tokens[end : end + 2]
    if before[1:] == [OR] and (other := _stated([before[0], *tokens[at + 1 : end]])):
        return _any_of(other, condition), at - 2, end
    if after[1:] and after[0] == OR and (other := _stated([*tokens[at : end - 1], after[1]])):
        return _any_of(condition, other), at, end + 2
    return condition, at, end


def _stated(tokens: Sequence[str]) -> Condition | None:
    """Return the certain condition that exactly these words state."""
    found = _longest(tokens, 0) if len(tokens) > 1 else None
    is_whole = found is not None and found.condition.is_certain and len(found.tokens) == len(tokens)
    return found.condition if found is not None and is_whole else None


def _any_of(one: Condition, other: Condition) -> Condition:
    """Return the condition that one of two satisfies."""
    full, partial = one.full | other.full, one.partial | other.partial
    contrary = (one.contrary | other.contrary) & ~(full | partial)
    return Condition(f"{one.label} or {other.label}", full, partial, contrary)


def _is_stated(expression: Sequence[str], tokens: Sequence[str]) -> bool:
    if ANY not in expression:
        return tuple(tokens) == expression
    pairs = zip_longest(expression, tokens)
    return all(one == other or (one == ANY and other is not None) for one, other in pairs)


def _words(query: Sequence[Word], kept: Sequence[_Place]) -> Iterator[Word]:
    """Yield the words of the parts and characters that are kept. A run of characters that is cut becomes several."""
    for number, word in enumerate(query):
        of_word = [(place, token) for owner, place, token in kept if owner == number]
        if word.spaced:
            if of_word:
                yield Word(tuple(token for _, token in of_word))
            continue
        characters = dict(of_word)
        run = "".join(characters.get(place, " ") for place in range(len(word.parts[0])))
        yield from (Word((piece,), spaced=False) for piece in run.split())


def _expressions() -> Mapping[str, Sequence[_Expression]]:
    found: dict[str, list[_Expression]] = {}
    for text, condition, at_end in (*_of_file(), *_of_languages()):
        tokens = tuple(token for _, _, token in _places(words(text, humps=False)))
        found.setdefault(tokens[0], []).append(_Expression(tokens, condition, at_end))
    return {first: sorted(expressions, key=lambda one: -len(one.tokens)) for first, expressions in found.items()}


conditions = Lazy(_expressions)
"""Return the expressions for conditions by their first token, the longest first."""


def _of_file() -> Iterator[tuple[str, Condition, bool]]:
    for table in tomllib.loads(read_table("conditions.toml"))["condition"]:
        full, partial, contrary = (_bits(table.get(kind, ())) for kind in ("full", "partial", "contrary"))
        condition = Condition(table["label"], full, partial, contrary)
        uncertain = evolve(condition, is_certain=False)
        yield from ((expression, condition, False) for expression in table["expressions"])
        yield from ((expression, uncertain, False) for expression in table.get("ambiguous", ()))
        yield from ((expression, uncertain, True) for expression in table.get("at_end", ()))


def _bits(names: Sequence[str]) -> int:
    return int(sum(Fact[name] for name in names))


def _of_languages() -> Iterator[tuple[str, Condition, bool]]:
    for language, names in NAMES.items():
        bit = language_bit(language)
        condition = Condition(f"in {language}", bit, 0, ALL_LANGUAGES & ~bit)
        uncertain = evolve(condition, is_certain=False)
        # The names with symbols are words of a parsed query by then ("csharp").
        for name in dict.fromkeys(alias for alias in (language, *names) if not {"#", "+"} & {*alias}):
            yield from ((form.format(name), condition, False) for form in (*_OF_LANGUAGE, *_OF_LANGUAGE_SERVER))
            yield from ((form.format(name), uncertain, False) for form in _PERHAPS_OF_LANGUAGE)
            if name not in TOPICAL:
                yield name, uncertain, False
