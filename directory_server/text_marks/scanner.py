"""Find texts that command a model, by the rules of `rules.toml`: offline, deterministic, linear in the text."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from attrs import frozen

from .canonical import canonical_form
from .sentences import sentences_of, visible
from .shapes import (
    SECRET_HINT,
    foreign_orders,
    hidden_orders,
    invisible,
    key_files,
    mixed_letters,
    payloads,
    turns,
)
from .words import rules

MAX_SCANNED = 50_000
"""Characters of one text that are scanned, so that a scan ends within 0.3 seconds. A longer text is marked."""

MIN_SCANNED = 24
"""Characters of the shortest word that is scanned: most texts of schemas are names of parameters and types."""

MAX_FINDINGS = 20
"""Findings of one text."""

CACHED, MAX_CACHED = 8_192, 1_000
"""Texts whose findings are cached, and the characters of the longest of them: at most some 16 MB, usually 3. The same
entries are shown again and again, and their texts take most of the time of a page."""

EXCUSED_AFTER = 40
"""Words before a match among which an excuse counts."""

NEGATED_AFTER = 2
"""Words before a match among which a negation counts."""

_WORD = re.compile(r"[a-z0-9][a-z0-9'-]*")

MAX_QUOTED = 400
"""Characters of the longest quotation."""

_QUOTED = re.compile(rf'["“][^"“”\n]{{2,{MAX_QUOTED}}}["”]')


@frozen
class Finding:
    """A match of a rule in a text: its id and kind, and its place as the positions of characters."""

    rule: str
    kind: str
    start: int
    end: int


def scan(text: str, own_tools: Collection[str] | None = None) -> Sequence[Finding]:
    """Return the findings in `text`, in their order.

    `own_tools` are the names of the tools of the same server if the text is one of a tool; None for other texts. For
    many texts they should be one frozenset. The rules of words also read the canonical form of the text.
    """
    if len(text) < MIN_SCANNED and text.isascii() and " " not in text and text.isprintable():
        return ()
    own = None if own_tools is None else _shared(frozenset(own_tools))
    return _cached(text, own) if len(text) <= MAX_CACHED else _findings(text, own)


def _findings(text: str, own: frozenset[str] | None) -> Sequence[Finding]:
    length, text = len(text), text[:MAX_SCANNED]
    rotated = _commands(codecs.encode(text, "rot13"), None) if "rot13" in text.lower() else ()
    found = [
        *_found("unscanned", iter([(MAX_SCANNED, length)] if length > MAX_SCANNED else [])),
        *_found("fake-turn", turns(text)),
        *_found("invisible", invisible(text)),
        *_found("look-alike", mixed_letters(text)),
        *_found("secret-file-foreign", key_files(text)),
        *_found("hidden", hidden_orders(text)),
        *_found("foreign-order", foreign_orders(text)),
        *(Finding("payload", "payload", finding.start, finding.end) for finding in rotated),
        *_found("payload", payloads(text, lambda decoded: any(_commands(decoded, None)))),
        *_commands(text, own),
    ]
    canonical = canonical_form(text, MAX_SCANNED)
    if canonical is not None:
        rules_found = {finding.rule for finding in found}
        for finding in _commands(canonical.text, own):
            if finding.rule not in rules_found:
                start, end = canonical.span_in_text(finding.start, finding.end)
                found.append(Finding(finding.rule, finding.kind, start, end))
    return sorted(found, key=lambda finding: (finding.start, finding.rule))[:MAX_FINDINGS]


_cached = lru_cache(CACHED)(_findings)


@lru_cache(64)
def _shared(names: frozenset[str]) -> frozenset[str]:
    """Return one object for equal names, which is compared at once."""
    return names


def _found(rule: str, spans: Iterator[tuple[int, int]]) -> Iterator[Finding]:
    return (Finding(rule, rules().kinds[rule], *span) for span in spans)


def _commands(text: str, own_tools: frozenset[str] | None) -> Iterator[Finding]:
    """Yield the findings of the rules of words."""
    given, expressions, shown = rules().bits, rules().expressions, visible(text).lower().replace("’", "'")
    bits = given["SECRET"] if SECRET_HINT.search(shown) else 0
    words = _WORD.findall(shown)
    several, joined = {*words}, f" {' '.join(words)} "
    for word in given.keys() & several:
        bits |= given[word]
    for beginning in expressions.keys() & several:
        for expression, _ in expressions[beginning]:
            if f" {(whole := ' '.join(expression))} " in joined:
                bits |= given.get(whole, 0)
    candidates = [
        rule
        for rule in rules().rules
        if rule.needed & bits == rule.needed and (own_tools is not None or not rule.of_tools)
    ]
    quoted_to = 0
    for sentence in sentences_of(text, own_tools) if candidates else ():
        excuses, start, end = _places(rules().excuses, sentence.classes), sentence.spans[0][0], sentence.spans[-1][1]
        if start < quoted_to or any(name in sentence.classes for name in rules().disclaimers):
            continue
        # The sentences of a quotation are excused as the one is that it begins in.
        quotations = _QUOTED.finditer(text, start, end + MAX_QUOTED) if excuses else ()
        quoted_to = max((match.end() for match in quotations if match.start() < end), default=0)
        for rule in candidates:
            steps = [_places(step, sentence.classes) for step in rule.steps]
            if not all(steps):
                continue
            for first, last in _spans_near(steps, rule.gaps) if rule.any_order else _spans_after(steps, rule.gaps):
                negations = sentence.classes.get("NOT", ())
                excusing = last if rule.any_order else first
                is_excused = _is_near(excuses, excusing, EXCUSED_AFTER) or _is_near(negations, first, NEGATED_AFTER)
                if not (is_excused and rule.excusable):
                    yield Finding(rule.id, rule.kind, sentence.spans[first][0], sentence.spans[last][1])
                    break


def _places(names: Collection[str], classes: Mapping[str, Sequence[int]]) -> Sequence[int]:
    """Return the numbers of the words of classes, in order."""
    return sorted(place for name in names for place in classes.get(name, ()))


def _spans_after(steps: Sequence[Sequence[int]], gaps: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last words of matches whose steps follow each other after at most `gaps` words."""
    for first in steps[0]:
        last = first
        for places, gap in zip(steps[1:], gaps, strict=False):
            number = bisect_right(places, last)
            if number == len(places) or places[number] > last + gap + 1:
                break
            last = places[number]
        else:
            yield first, last


def _spans_near(steps: Sequence[Sequence[int]], gaps: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last words of matches in which each step is at most `gaps` words from the first one."""
    for start in steps[0]:
        found = [start]
        for places, gap in zip(steps[1:], gaps, strict=False):
            number = bisect_left(places, start - gap)
            if number == len(places) or places[number] > start + gap:
                break
            found.append(places[number])
        else:
            yield min(found), max(found)


def _is_near(places: Sequence[int], start: int, words: int) -> bool:
    """Return whether one of `places` is among the `words` words before `start`."""
    number = bisect_right(places, start - 1)
    return number > 0 and places[number - 1] >= start - words
