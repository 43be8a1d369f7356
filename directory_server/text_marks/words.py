"""The rules of `rules.toml`: classes of words, and sequences of classes."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

from attrs import frozen

SHAPES = frozenset({"FOREIGN", "OTHER_CALL", "NAMED", "KEY_TOOL", "KEY_NAME", "SECRET", "SETTINGS", "ARGUMENT"}).union(
    {"URL", "MAIL", "ACCOUNT"}
)
"""The classes that are no lists of words."""

HINTED = frozenset({"SECRET"})
"""Those of them that few texts have, and that a search of the whole text finds."""

Expression = tuple[str, ...]

_UNSPACED = re.compile(r"[\u0590-\u06ff\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Letters of scripts and languages whose words follow each other, or take endings and particles, without a space."""


PLAIN_FROM = 0x3000
"""The first code point of the letters without case and accents, which are not cached: there are 140,000 of them."""


class _Plain(dict[int, str]):
    """The letter in lower case and without accents of each letter before PLAIN_FROM, by its code point."""

    def __missing__(self, code: int) -> str:
        if code >= PLAIN_FROM:
            return chr(code)
        lower = chr(code).lower()[:1]
        parts = unicodedata.normalize("NFD", lower)
        self[code] = parts[0] if len(parts) > 1 and unicodedata.combining(parts[1]) else lower
        return self[code]


_PLAIN = _Plain()


def fold(text: str) -> str:
    """Return `text` in lower case and without accents, with as many characters."""
    return text.lower() if text.isascii() else text.translate(_PLAIN)


def _stems(stems: Iterable[str]) -> re.Pattern[str]:
    """Return an expression for the words that begin with one of `stems`."""
    folded = {fold(stem) for stem in stems}
    parts = {stem for stem in folded if _UNSPACED.search(stem)}
    return re.compile(rf"(?<!\w){_one_of(folded - parts)}|{_one_of(parts)}")


def _one_of(stems: Collection[str]) -> str:
    """Return an expression for one of `stems`, by their letters: ten times faster than one by one."""
    if not stems or "" in stems:
        return "" if stems else r"[^\s\S]"
    letters = sorted({stem[0] for stem in stems})
    branches = (re.escape(letter) + _one_of({stem[1:] for stem in stems if stem[0] == letter}) for letter in letters)
    return f"(?:{'|'.join(branches)})"


@frozen
class Rule:
    """A rule of words. `steps` are alternative classes. `needed` has a bit for each step that has words or is HINTED.

    A text without one of each of these steps has no match. `of_tools` says that the rule is for texts of tools.
    """

    id: str
    kind: str
    steps: Sequence[Collection[str]]
    gaps: Sequence[int]
    needed: int
    of_tools: bool
    any_order: bool
    excusable: bool


@frozen
class Rules:
    """The rules, with the classes of words and, by their first word, of expressions. `kinds` has those of all rules,
    `explanations` a sentence for each kind.

    `bits` has those bits of `Rule.needed` that a word, an expression or the name of a HINTED class gives. `vocabulary`
    has all words, also those of expressions, `beginnings` how they begin, and `longest` is the number of letters of the
    longest one.
    """

    version: int
    excuses: Sequence[str]
    disclaimers: Sequence[str]
    rules: Sequence[Rule]
    kinds: Mapping[str, str]
    explanations: Mapping[str, str]
    words: Mapping[str, Collection[str]]
    expressions: Mapping[str, Sequence[tuple[Expression, Collection[str]]]]
    bits: Mapping[str, int]
    vocabulary: Collection[str]
    beginnings: Collection[str]
    longest: int
    stems: Mapping[str, re.Pattern[str]]
    objects: re.Pattern[str]


@cache
def rules() -> Rules:
    """Return the rules of the data file."""
    table = tomllib.loads(files(__package__).joinpath("rules.toml").read_text("utf-8"))
    classes: dict[str, set[Expression]] = {}
    for name, verbs in table["verbs"].items():
        classes.setdefault(name, set()).update((form,) for verb in verbs for form in forms(verb))
    for name, items in table["words"].items():
        classes.setdefault(name, set()).update(tuple(item.split()) for item in items)
    names: dict[Expression, list[str]] = {}
    for name, items in classes.items():
        for item in items:
            names.setdefault(item, []).append(name)
    expressions: dict[str, list[tuple[Expression, Collection[str]]]] = {}
    for item, found in names.items():
        if len(item) > 1:
            expressions.setdefault(item[0], []).append((item, found))
    found_rules, bits, number = [], dict[str, int](), 0
    for each in table["rule"]:
        needed = 0
        steps = [step.split("|") for step in each.get("steps", ())]
        for step in filter((SHAPES - HINTED).isdisjoint, steps):
            bit = 1 << number
            number += 1
            needed |= bit
            for item in {item for name in step for item in classes.get(name, {(name,)})}:
                bits[" ".join(item)] = bits.get(" ".join(item), 0) | bit
        if steps:
            gap = each.get("gap", 0)
            gaps = gap if isinstance(gap, list) else [gap] * len(steps)
            flags = each.get("of_tools", False), each.get("any_order", False), each.get("excusable", True)
            found_rules.append(Rule(each["id"], each["kind"], steps, gaps, needed, *flags))
    vocabulary = frozenset(word for item in names for word in item)
    return Rules(
        version=table["version"],
        excuses=table["excuses"],
        disclaimers=table["disclaimers"],
        rules=found_rules,
        kinds={each["id"]: each["kind"] for each in table["rule"]},
        explanations=table["explanations"],
        words={item[0]: found for item, found in names.items() if len(item) == 1},
        expressions=expressions,
        bits=bits,
        vocabulary=vocabulary,
        beginnings=frozenset(word[:end] for word in vocabulary for end in range(1, len(word) + 1)),
        longest=max(map(len, vocabulary)),
        stems={name: _stems(stems) for name, stems in table["stems"].items()},
        objects=_stems(table["stems"]["ORDERS"] + table["stems"]["USER"]),
    )


def forms(verb: str) -> Iterator[str]:
    """Yield the regular forms of an English verb; some of them are no words."""
    yield verb
    if verb.endswith("e"):
        yield from (f"{verb}s", f"{verb}d", f"{verb[:-1]}ing")
    elif verb.endswith("y") and verb[-2] not in "aeiou":
        yield from (f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb}ing")
    else:
        last = verb[-1]
        yield from (f"{verb}s", f"{verb}es", f"{verb}ed", f"{verb}ing", f"{verb}{last}ed", f"{verb}{last}ing")
