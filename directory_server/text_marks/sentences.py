"""The sentences of a text: their words, with the classes that the rules give them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from attrs import define, field

from ..texts.sanitize import clean, normalize
from .shapes import LOOK_ALIKES, SECRET
from .words import rules

_TOKEN = re.compile(r"[^\W_][^\s\"“”‘«»()\[\]{}<>|,;:!?*`]*|[~.$/\\][\w.~$/\\-]+|[.!?;](?=\s|$)|\n\s*\n")

_STOPS = frozenset(".!?;\n")

_TOOL = re.compile(r"(?:[a-z][a-z0-9]*\.)?[a-z][a-z0-9]*(?:_[a-z0-9]+)+")

_KEY_TOOL = re.compile(
    r"(?:get|list|read|fetch|dump|export|show|load)_(?:\w+_)?(?:secrets?|passwords?|credentials?|env|keys|keychain)(?:_|$)"
)
"""A part of the name of a tool that reads secrets."""

_OTHER_CALL = re.compile(
    r"(?:get|list|read|write|send|search|find|fetch|create|update|edit|delete|run|execute|query|call|open|web|bash)_"
)

_KEY_NAME = re.compile(r"\$?\{?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:TOKEN|KEY|SECRET|PASSWORD|PASSWD|CREDENTIALS|PAT)\}?")

_ACCOUNT = re.compile(r"0x[0-9a-fA-F]{40}|bc1[0-9a-z]{20,60}|[A-Z]{2}\d{2}(?:[A-Z0-9]{10,30})?|\d{10,15}")
"""An address of a wallet, the beginning of an IBAN, or the number of a telephone."""

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


@define(eq=False)
class Sentence:
    """The words of a sentence, their places in the text, and by class the numbers of its words."""

    words: list[str] = field(factory=list)
    spans: list[tuple[int, int]] = field(factory=list)
    classes: dict[str, list[int]] = field(factory=dict)


def sentences_of(text: str, own_tools: frozenset[str] | None) -> Iterator[Sentence]:
    """Yield the sentences of `text` that have words of a class."""
    known, sentence = rules().words, Sentence()
    topics = [_TOPICS[word] for word in _TOPICS.keys() & text.lower().split()]
    topics += _topics_of(own_tools or frozenset())
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word[0] in _STOPS and (len(word) == 1 or word[0] == "\n"):
            yield from _whole(sentence)
            sentence = Sentence()
            continue
        bare = visible(word).rstrip(".").replace("’", "'")
        folded, number = bare.lower(), len(sentence.words)
        for name in known.get(folded, ()):
            sentence.classes.setdefault(name, []).append(number)
        if text[token.start() - 1 : token.start()] == "`" == text[token.end() : token.end() + 1]:
            sentence.classes.setdefault("ARGUMENT", []).append(number)
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
            sentence = Sentence()
    yield from _whole(sentence)


@lru_cache(maxsize=4)
def _topics_of(own_tools: frozenset[str]) -> Sequence[str]:
    """Return what the tools of a server are about: the parts of their names."""
    parts = {part for name in own_tools for part in name.lower().split("_") if len(part) >= MIN_TOPIC}
    return sorted(parts)[:MAX_TOPICS]


def _whole(sentence: Sentence) -> Iterator[Sentence]:
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
        if _OTHER_CALL.match(word):
            yield "OTHER_CALL"
        if _KEY_TOOL.search(word):
            yield "KEY_TOOL"
    if word.startswith(("//", "www.")):
        yield "URL"
    if _KEY_NAME.fullmatch(word) and not any(topic in word.lower() for topic in topics):
        yield "KEY_NAME"
    if _ACCOUNT.fullmatch(word):
        yield "ACCOUNT"
    if "@" in word[1:]:
        yield "MAIL"


def visible(text: str) -> str:
    """Return `text` as it looks: without invisible characters, and with Latin letters for those that look like them."""
    return text if text.isascii() else clean(normalize("NFKC", text)).translate(LOOK_ALIKES)
