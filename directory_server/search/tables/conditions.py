"""Conditions in a query, beside its topic: "no API key", "self-hosted", "in Rust". See conditions.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from attrs import evolve, frozen

from ...domain.facts import ALL_LANGUAGES, Fact, language_bit
from ...domain.languages import NAMES, TOPICAL
from ..index.arrays import Bools, Doubles, Floats, Sets
from ..text import is_unspaced, runs
from .files import Lazy, read_table

REWARD, PARTIAL_REWARD, PENALTY = 0.6, 0.2, 0.2
"""Shares of its score that a document gains if it satisfies a condition, or a part of it, and that it loses if a fact
contradicts the condition."""

LEAST_FACTOR = 0.5
"""The least factor of a score, however many conditions a document contradicts."""

AMBIGUOUS_SHARE = 0.7
"""The part of a reward if the expression may be the topic as well."""

ANY = "something"
"""The word of an expression that stands for any one word ("without a GitHub account")."""

OR = "or"
"""The word between two conditions of which one is enough."""

_OF_LANGUAGE = (
    *("in {}", "written in {}", "implemented in {}", "built with {}", "built in {}", "{} implementation", "{} based"),
    *("geschrieben in {}", "ecrit en {}", "escrito en {}", "escrito em {}", "用{}写的", "用{}编写", "{}製"),
    *("{} mcp server", "{} mcp", "mcp server {}", "mcp in {}"),
)
"""Expressions for a programming language, also for one whose name has other meanings."""

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

    def satisfied_by(self, facts: Sets) -> Bools:
        """Return which of `facts` satisfy the condition."""
        satisfied: Bools = (facts & np.uint64(self.full)) != 0
        return satisfied

    def is_unknown(self, facts: Sets) -> Bools:
        """Return which of `facts` say nothing about the condition. One without `contrary` is never unknown."""
        if not self.contrary:
            return np.zeros(len(facts), bool)
        beside = int(Fact.REMOTE) if self.full & Fact.LOCAL else 0
        unknown: Bools = (facts & np.uint64(self.full | self.partial | self.contrary | beside)) == 0
        return unknown

    def or_else(self, other: Condition) -> Condition:
        """Return the condition that this one or `other` satisfies."""
        full, partial = self.full | other.full, self.partial | other.partial
        contrary = (self.contrary | other.contrary) & ~(full | partial)
        return Condition(f"{self.label} or {other.label}", full, partial, contrary)

    def rewards(self, facts: Sets, covered: Floats | Doubles) -> Doubles:
        """Return for each of `facts` the share of its score that a document gains or loses.

        A reward grows with the square root of the share of the topic that the document has (`covered`).
        """
        light = 1.0 if self.is_certain else AMBIGUOUS_SHARE
        rewards = np.where(facts & np.uint64(self.contrary), -PENALTY if self.is_certain else 0.0, 0.0)
        rewards = np.where(facts & np.uint64(self.partial), light * PARTIAL_REWARD * np.sqrt(covered), rewards)
        return np.where(facts & np.uint64(self.full), light * REWARD * np.sqrt(covered), rewards)


def factors(conditions: Sequence[Condition], facts: Sets, covered: Floats | Doubles) -> Doubles:
    """Return the factors of the scores of documents with `facts`: 1, and the rewards of all conditions.

    A factor makes conditions a soft AND with the topic: a document gains in proportion to how well it matches.
    """
    total: Doubles = sum((condition.rewards(facts, covered) for condition in conditions), np.ones(len(facts)))
    return np.maximum(total, LEAST_FACTOR)


@frozen
class Request:
    """The `words` of a query without those of its `conditions`; `light` words may state the topic or a condition."""

    words: Sequence[str]
    conditions: Sequence[Condition] = ()
    light: frozenset[str] = frozenset()


@frozen
class _Expression:
    """Units (words, and single characters of scripts without spaces) that state a condition."""

    units: tuple[str, ...]
    condition: Condition
    at_end: bool = False

    def is_at(self, units: Sequence[str], place: int) -> bool:
        """Return whether the expression stands at a place."""
        end = place + len(self.units)
        if end > len(units) or (self.at_end and end < len(units)):
            return False
        pairs = zip(self.units, units[place:end], strict=True)
        return all(unit in (other, ANY) for unit, other in pairs)


def find_conditions(words: Sequence[str]) -> Request:
    """Return the conditions in the words of a query. A query without other words has none: its words are the topic."""
    units = _units(words)
    asked: dict[str, Condition] = {}
    removed: set[int] = set()
    light: set[str] = set()
    place = 0
    while place < len(units):
        expression = _stated_at(units, place)
        if expression is None:
            place += 1
            continue
        condition, end = expression.condition, place + len(expression.units)
        if condition.is_certain:
            condition, start, end = _either(condition, units, place, end)
            if start < place:
                # The name of a language may have been read as the topic.
                light.difference_update(units[start:place])
                asked = {label: one for label, one in asked.items() if one.is_certain or one.full & ~condition.full}
            removed.update(range(start, end))
        else:
            light.update(expression.units)
        if condition.is_certain or condition.label not in asked:
            asked[condition.label] = condition
        place = end
    kept = [*_without(words, removed)]
    if not asked or light.issuperset(kept):
        return Request(words)
    return Request(kept, [*asked.values()], frozenset(light))


def _stated_at(units: Sequence[str], place: int) -> _Expression | None:
    """Return the longest expression that stands at a place."""
    first, second = units[place], units[place + 1] if place + 1 < len(units) else ""
    by_start = conditions()
    for start in ((first, second), (first, ANY), (first, "")):
        for expression in by_start.get(start, ()):
            if expression.is_at(units, place):
                return expression
    return None


def _either(condition: Condition, units: Sequence[str], place: int, end: int) -> tuple[Condition, int, int]:
    """Return a condition, or the one that it or another satisfies ("MIT or Apache licensed"), and its place.

    The expression at the given place has the words that both share: the last ones, or the first ones ("in Rust or Go").
    """
    before, after = units[max(place - 2, 0) : place], units[end : end + 2]
    if before[1:] == [OR] and (other := _stated([before[0], *units[place + 1 : end]])):
        return other.or_else(condition), place - 2, end
    if after[1:] and after[0] == OR and (other := _stated([*units[place : end - 1], after[1]])):
        return condition.or_else(other), place, end + 2
    return condition, place, end


def _stated(units: Sequence[str]) -> Condition | None:
    """Return the certain condition that exactly these units state."""
    expression = _stated_at(units, 0) if len(units) > 1 else None
    is_whole = expression is not None and expression.condition.is_certain and len(expression.units) == len(units)
    return expression.condition if expression is not None and is_whole else None


def _units(words: Sequence[str]) -> list[str]:
    return [unit for word in words for unit in (word if is_unspaced(word) else (word,))]


def _without(words: Sequence[str], removed: set[int]) -> Iterator[str]:
    """Yield the words without the units at the places `removed`. A run that is cut becomes several."""
    place = 0
    for word in words:
        if not is_unspaced(word):
            if place not in removed:
                yield word
            place += 1
            continue
        yield from "".join(" " if place + at in removed else unit for at, unit in enumerate(word)).split()
        place += len(word)


def _expressions() -> Mapping[tuple[str, str], Sequence[_Expression]]:
    by_start: dict[tuple[str, str], list[_Expression]] = {}
    for text, condition, at_end in (*_of_file(), *_of_languages()):
        units = tuple(_units([part for parts, _ in runs(text, humps=False) for part in parts]))
        start = units[0], units[1] if len(units) > 1 else ""
        by_start.setdefault(start, []).append(_Expression(units, condition, at_end))
    return {start: sorted(group, key=lambda expression: -len(expression.units)) for start, group in by_start.items()}


conditions = Lazy(_expressions)
"""Return the expressions for conditions by their first two units, the longest first."""


def _of_file() -> Iterator[tuple[str, Condition, bool]]:
    for table in tomllib.loads(read_table("conditions.toml"))["condition"]:
        full, partial, contrary = (
            int(sum(Fact[name] for name in table.get(kind, ()))) for kind in ("full", "partial", "contrary")
        )
        condition = Condition(table["label"], full, partial, contrary)
        uncertain = evolve(condition, is_certain=False)
        yield from ((expression, condition, False) for expression in table["expressions"])
        yield from ((expression, uncertain, False) for expression in table.get("ambiguous", ()))
        yield from ((expression, uncertain, True) for expression in table.get("at_end", ()))


def _of_languages() -> Iterator[tuple[str, Condition, bool]]:
    for language, names in NAMES.items():
        bit = language_bit(language)
        condition = Condition(f"in {language}", bit, 0, ALL_LANGUAGES & ~bit)
        uncertain = evolve(condition, is_certain=False)
        # The names with symbols are words of a parsed query by then ("csharp").
        for name in dict.fromkeys(alias for alias in (language, *names) if not {"#", "+"} & {*alias}):
            yield from ((form.format(name), condition, False) for form in _OF_LANGUAGE)
            yield from ((form.format(name), uncertain, False) for form in _PERHAPS_OF_LANGUAGE)
            if name not in TOPICAL:
                yield name, uncertain, False
