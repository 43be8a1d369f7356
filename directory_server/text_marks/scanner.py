"""Find texts that command a model, by the rules of `rules.toml`: offline, deterministic, linear in the text."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from attrs import define, field, frozen

from ..sanitize import clean
from .canonical import canonical_form
from .shapes import LOOK_ALIKES, SECRET, SECRET_HINT, invisible, key_files, mixed_letters, payloads, turns
from .words import rules

MAX_SCANNED = 1_000_000
"""Characters of one text that are scanned; no entry is longer."""

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

_TOKEN = re.compile(r"[^\W_][^\s\"“”‘«»()\[\]{}<>|,;:!?*`]*|[~.$/\\][\w.~$/\\-]+|[.!?;](?=\s|$)|\n\s*\n")

_WORD = re.compile(r"[a-z0-9][a-z0-9'-]*")

_STOPS = frozenset(".!?;\n")

_TOOL = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")

_TOPICS = {
    "ssh": ".ssh",
    "aws": ".aws",
    "kubectl": ".kube",
    "kubernetes": ".kube",
    "gpg": ".gnupg",
    "kubeconfig": ".kube",
}
"""Words by which a text is about files of keys, and a part of their paths. Such a tool may read them."""

MIN_TOPIC = 3
"""Letters of the shortest part of a tool's name that says what the tool is about."""

MAX_TOPICS = 1_000
"""Parts of the names of the tools of a server that are compared."""

_TOOL_WORDS = frozenset({"tool", "tools", "function", "tool's"})

_SETTINGS = re.compile(
    r"(?:^|[/\\~])\.env(?:\.\w+)?$|\.(?:npmrc|pypirc)$|(?:^|[/\\])\.(?:cursor|claude|vscode|codeium|docker)[/\\]"
    r"|credentials\.json$|claude_desktop_config",
    re.I,
)

COMMA = 3
"""Words that a comma counts as in the distance between two others."""


@frozen
class Finding:
    """A match of a rule in a text: its id and kind, and its place as the positions of characters."""

    rule: str
    kind: str
    start: int
    end: int


@define(eq=False)
class _Sentence:
    """The words of a sentence, their places in the text, and by class the numbers of its words."""

    words: list[str] = field(factory=list)
    spans: list[tuple[int, int]] = field(factory=list)
    classes: dict[str, list[int]] = field(factory=dict)


def scan(text: str, own_tools: Collection[str] | None = None) -> Sequence[Finding]:
    """Return the findings in `text`, in their order.

    `own_tools` are the names of the tools of the same server if the text is one of a tool; None for other texts. For
    many texts they should be one frozenset. The rules of words also read the canonical form of the text.
    """
    if len(text) < MIN_SCANNED and text.isascii() and " " not in text and text.isprintable():
        return ()
    own = None if own_tools is None else _shared(frozenset(own_tools))
    return _cached(text, own) if len(text) <= MAX_CACHED else _findings(text[:MAX_SCANNED], own)


def _findings(text: str, own: frozenset[str] | None) -> Sequence[Finding]:
    found = [
        *_found("fake-turn", turns(text)),
        *_found("invisible", invisible(text)),
        *_found("look-alike", mixed_letters(text)),
        *_found("secret-file-foreign", key_files(text)),
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
    given, expressions, shown = rules().bits, rules().expressions, _visible(text).lower().replace("’", "'")
    bits = given["SECRET"] if SECRET_HINT.search(shown) else 0
    words = tuple(_WORD.findall(shown))
    for place, word in enumerate(words):
        if word in given:
            bits |= given[word]
        for expression, _ in expressions.get(word, ()):
            if words[place : place + len(expression)] == expression:
                bits |= given.get(" ".join(expression), 0)
    candidates = [
        rule
        for rule in rules().rules
        if rule.needed & bits == rule.needed and (own_tools is not None or not rule.of_tools)
    ]
    for sentence in _sentences(text, own_tools) if candidates else ():
        excuses = _places(rules().excuses, sentence.classes)
        if any(name in sentence.classes for name in rules().disclaimers):
            continue
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


def _sentences(text: str, own_tools: frozenset[str] | None) -> Iterator[_Sentence]:
    """Yield the sentences of `text` that have words of a class."""
    known, sentence = rules().words, _Sentence()
    topics = [path for word, path in _TOPICS.items() if word in text.lower().split()]
    topics += _topics_of(own_tools or frozenset())
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word[0] in _STOPS and (len(word) == 1 or word[0] == "\n"):
            yield from _whole(sentence)
            sentence = _Sentence()
            continue
        bare = _visible(word).rstrip(".").replace("’", "'")
        folded, number = bare.lower(), len(sentence.words)
        for name in known.get(folded, ()):
            sentence.classes.setdefault(name, []).append(number)
        if not bare.isalpha():
            for name in _shapes_of(bare, own_tools, topics):
                sentence.classes.setdefault(name, []).append(number)
        sentence.words.append(folded)
        sentence.spans.append(token.span())
        if text[token.end() : token.end() + 1] == ",":
            # "If not, tell the user" conceals nothing.
            sentence.words += [""] * COMMA
            sentence.spans += [token.span()] * COMMA
        # A full stop is a part of a path or an abbreviation unless a space follows it.
        if word[-1] == "." and folded != "e.g" and text[token.end() : token.end() + 1].strip() == "":
            yield from _whole(sentence)
            sentence = _Sentence()
    yield from _whole(sentence)


@lru_cache(maxsize=4)
def _topics_of(own_tools: frozenset[str]) -> Sequence[str]:
    """Return what the tools of a server are about: the parts of their names."""
    parts = {part for name in own_tools for part in name.lower().split("_") if len(part) >= MIN_TOPIC}
    return sorted(parts)[:MAX_TOPICS]


def _whole(sentence: _Sentence) -> Iterator[_Sentence]:
    """Yield a sentence with the classes of its expressions, if it has words of any."""
    added = set[str]()
    for place, word in enumerate(sentence.words):
        for expression, names in rules().expressions.get(word, ()):
            if tuple(sentence.words[place : place + len(expression)]) == expression:
                for name in names:
                    sentence.classes.setdefault(name, []).append(place)
                added.update(names)
    for name in added:
        sentence.classes[name].sort()
    for place in sentence.classes.get("FOREIGN", ()):
        if not _TOOL_WORDS.isdisjoint(sentence.words[max(0, place - 1) : place + 2]):
            sentence.classes.setdefault("NAMED", []).append(place)
    if sentence.classes:
        yield sentence


def _shapes_of(word: str, own_tools: Collection[str] | None, topics: Sequence[str]) -> Iterator[str]:
    """Yield the classes of a word by its shape."""
    if SECRET.search(word):
        yield "SETTINGS" if any(path in word.lower() for path in topics) else "SECRET"
    elif _SETTINGS.search(word):
        yield "SETTINGS"
    if _TOOL.fullmatch(word) and word not in (own_tools or ()):
        yield "FOREIGN"
    if word.startswith(("http://", "https://", "http", "ftp:")):
        yield "URL"
    if "@" in word[1:]:
        yield "MAIL"


def _visible(text: str) -> str:
    """Return `text` as it looks: without invisible characters, and with Latin letters for those that look like them."""
    return text if text.isascii() else clean(unicodedata.normalize("NFKC", text)).translate(LOOK_ALIKES)
