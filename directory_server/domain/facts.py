"""Facts of an entry, derived from its document and texts: what it needs, how it runs, its languages and licence.

A fact is what the document declares, else what a text states. What neither says is unknown, which is a value of its
own: an entry that declares no secret may need one all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntFlag, auto
from typing import Any

from attrs import evolve, frozen

from ..client_config import is_installable
from .entries import Entry
from .languages import LANGUAGES, WORD, language_of, languages_of_name, languages_of_packages, languages_said
from .licenses import UNKNOWN, license_of
from .namespaces import OPEN_NAMESPACES, bears_product
from .views import Hit
from .vocabulary import IGNORED, SELF_HOSTED_PRODUCTS, STATEMENTS, by_first_word

MAX_TEXT = 4_000
"""Characters of the texts of an entry that are read."""

MAX_ITEMS = 50
"""Packages, remotes, inputs and tools that are read."""


class Fact(IntFlag):
    """A fact that a document declares or a text states."""

    NO_KEY = auto()
    KEY = auto()
    OAUTH = auto()
    NO_SECRET_DECLARED = auto()
    LOCAL = auto()
    REMOTE = auto()
    OFFLINE = auto()
    CLOUD = auto()
    SELF_HOSTED = auto()
    SELF_HOSTED_PRODUCT = auto()
    READ_ONLY = auto()
    WRITES = auto()
    CONTAINER = auto()
    OPEN_SOURCE = auto()
    FREE = auto()
    PAID = auto()
    VENDOR = auto()
    OFFICIAL_CLAIM = auto()
    MIT_LICENSE = auto()
    APACHE_LICENSE = auto()
    GPL_LICENSE = auto()
    AGPL_LICENSE = auto()
    MPL_LICENSE = auto()
    OTHER_PERMISSIVE_LICENSE = auto()
    INSTALLABLE = auto()
    OWN_PRODUCT = auto()


_LICENSE_FACTS = {
    **dict.fromkeys(("mit", "mit-0"), Fact.MIT_LICENSE),
    "apache-2.0": Fact.APACHE_LICENSE,
    **dict.fromkeys(("gpl-2.0", "gpl-3.0", "lgpl-2.1", "lgpl-3.0"), Fact.GPL_LICENSE),
    "agpl-3.0": Fact.AGPL_LICENSE,
    "mpl-2.0": Fact.MPL_LICENSE,
    **dict.fromkeys(("bsd-2-clause", "bsd-3-clause", "isc", "unlicense", "cc0-1.0"), Fact.OTHER_PERMISSIVE_LICENSE),
}
"""The facts of declared licences. A text states them only where no licence is declared."""

_ALL_LICENSES = Fact.MIT_LICENSE | Fact.APACHE_LICENSE | Fact.GPL_LICENSE | Fact.AGPL_LICENSE | Fact.MPL_LICENSE

_SECRET = re.compile(
    r"(?:api|access|auth|secret|private|account)[_-]?(?:key|token)|token|secret|passw(?:or)?d|apikey", re.I
)


@frozen
class Facts:
    """The facts of an entry. `license` is one of LICENSES or unknown."""

    stated: Fact
    languages: Sequence[str]
    license: str

    @property
    def bits(self) -> int:
        """The stated facts, and the languages, as bits."""
        return int(self.stated) | sum(language_bit(language) for language in self.languages)


def language_bit(language: str) -> int:
    """Return the bit of one of LANGUAGES."""
    return 1 << (len(Fact) + LANGUAGES.index(language))


ALL_LANGUAGES = sum(map(language_bit, LANGUAGES))
"""The bits of all languages."""


def auth_of(bits: int) -> str:
    """Return how a client authenticates by these facts: `none`, `key`, `oauth` or `unknown`."""
    if bits & Fact.NO_KEY:
        return "none"
    return "key" if bits & Fact.KEY else "oauth" if bits & Fact.OAUTH else UNKNOWN


def runs_of(bits: int) -> tuple[str, ...]:
    """Return where a server with these facts runs: `local`, `remote`, both, or nothing if that is unknown."""
    return _RUNS[bool(bits & Fact.LOCAL), bool(bits & Fact.REMOTE)]


def is_vendors_own(bits: int) -> bool:
    """Return whether by these facts the vendor of the product publishes the entry."""
    return bool(bits & Fact.OWN_PRODUCT)


def is_configurable(bits: int) -> bool:
    """Return whether by these facts a package or remote of the entry can be configured as it is declared."""
    return bool(bits & Fact.INSTALLABLE)


def with_facts(hit: Hit, bits: int) -> Hit:
    """Return `hit` with these facts."""
    return evolve(
        hit,
        auth=auth_of(bits),
        runs=runs_of(bits),
        vendor=is_vendors_own(bits),
        installable=is_configurable(bits),
    )


_RUNS: Mapping[tuple[bool, bool], tuple[str, ...]] = {
    (False, False): (),
    (True, False): ("local",),
    (False, True): ("remote",),
    (True, True): ("local", "remote"),
}


def facts_of(entry: Entry) -> Facts:
    """Return the facts of `entry`. Their cost is bounded."""
    text = _text(entry).casefold()
    words = WORD.findall(text)
    said = _said(words, text)
    packages, remotes = entry.packages[:MAX_ITEMS], entry.remotes[:MAX_ITEMS]
    license = license_of(entry.publisher.get("license"))
    stated = _auth(packages, remotes, said) | _place(packages, remotes, said) | _other(said)
    if license != UNKNOWN:
        stated = stated & ~_ALL_LICENSES | _LICENSE_FACTS.get(license, Fact(0))
    if license not in (UNKNOWN, "other"):
        stated |= Fact.OPEN_SOURCE
    if any(package.get("registryType") == "oci" for package in packages):
        stated |= Fact.CONTAINER
    if entry.is_official and not entry.name.startswith(OPEN_NAMESPACES):
        stated |= Fact.VENDOR
    if entry.is_official and bears_product(entry.name):
        stated |= Fact.OWN_PRODUCT
    if is_installable(packages, remotes):
        stated |= Fact.INSTALLABLE
    if _is_read_only(entry):
        stated |= Fact.READ_ONLY
    if not SELF_HOSTED_PRODUCTS.isdisjoint(WORD.findall(f"{entry.name} {entry.title} {entry.brief}".casefold())):
        stated |= Fact.SELF_HOSTED_PRODUCT
    return Facts(stated, tuple(dict.fromkeys(_languages(entry, packages, words))), license)


def _text(entry: Entry) -> str:
    texts = (
        entry.title,
        entry.brief,
        entry.long_description,
        *entry.alternative_descriptions,
        *entry.descriptions.values(),
    )
    # A word at the end of a text and one at the beginning of the next are no expression.
    return " | ".join(text[:MAX_TEXT] for text in texts[:MAX_ITEMS])[:MAX_TEXT]


_EXPRESSIONS = by_first_word(
    (
        *((text, Fact[name]) for name, texts in STATEMENTS.items() for text in texts if text.isascii()),
        *((text, Fact(0)) for text in IGNORED),
    ),
    WORD,
)

_UNSEGMENTED = tuple((text, Fact[name]) for name, texts in STATEMENTS.items() for text in texts if not text.isascii())


def _said(words: Sequence[str], text: str) -> Fact:
    """Return the facts that the words of a text state; the longest expression at each place counts."""
    said, skip = Fact(0), 0
    for place, word in enumerate(words):
        if place >= skip and word in _EXPRESSIONS:
            longest = 0
            for expression, fact in _EXPRESSIONS[word]:
                if len(expression) < longest:
                    break
                if tuple(words[place : place + len(expression)]) == expression:
                    longest = len(expression)
                    said |= fact
            skip = place + longest
    if not text.isascii():
        for unsegmented, fact in _UNSEGMENTED:
            if unsegmented in text:
                said |= fact
    return said


def _auth(packages: Sequence[Mapping[str, Any]], remotes: Sequence[Mapping[str, Any]], said: Fact) -> Fact:
    """Return how a client authenticates: a required secret is declared, or a text says whether it needs one."""
    inputs = [*_inputs(packages, "environmentVariables"), *_inputs(remotes, "headers")]
    secrets = [given for given in inputs if given.get("isSecret") is True or _SECRET.search(_string(given.get("name")))]
    if any(secret.get("isRequired") is True for secret in secrets):
        return Fact.KEY
    if said & Fact.NO_KEY:
        return Fact.NO_KEY
    if said & Fact.KEY or any(secret.get("isRequired") is not False for secret in secrets):
        return Fact.KEY
    if said & Fact.OAUTH:
        return Fact.OAUTH
    is_paid = said & Fact.PAID
    return Fact.NO_SECRET_DECLARED if packages and not secrets and not remotes and not is_paid else Fact(0)


def _place(packages: Sequence[Mapping[str, Any]], remotes: Sequence[Mapping[str, Any]], said: Fact) -> Fact:
    """Return where the server runs: by its packages and remotes, and if it has neither by its texts."""
    if not packages and not remotes:
        return said & (Fact.LOCAL | Fact.REMOTE)
    return (Fact.LOCAL if packages else Fact(0)) | (Fact.REMOTE if remotes else Fact(0))


def _other(said: Fact) -> Fact:
    stated = said & ~(Fact.NO_KEY | Fact.KEY | Fact.OAUTH | Fact.LOCAL | Fact.REMOTE)
    return stated & ~Fact.FREE if stated & Fact.PAID else stated


def _is_read_only(entry: Entry) -> bool:
    """Return whether all tools of an entry are annotated as read-only (MCP 2025-11-25, ToolAnnotations)."""
    declared = entry.publisher.get("tools")
    tools = [tool for tool in declared if isinstance(tool, dict)] if isinstance(declared, list) else []
    annotations = (tool.get("annotations") for tool in tools[: 4 * MAX_ITEMS])
    return bool(tools) and all(
        isinstance(annotation, dict) and annotation.get("readOnlyHint") is True for annotation in annotations
    )


def _languages(entry: Entry, packages: Sequence[Mapping[str, Any]], words: Sequence[str]) -> Iterable[str]:
    """Return the languages that an entry declares, else those of its packages, else those of its name and texts."""
    declared = language_of(_string(entry.publisher.get("language")))
    if declared:
        return (declared,)
    kinds = [_string(package.get("registryType")) for package in packages]
    return languages_of_packages(kinds) or languages_of_name(entry.name) or languages_said(words)


def _inputs(targets: Iterable[Mapping[str, Any]], member: str) -> Iterator[Mapping[str, Any]]:
    for target in targets:
        declared = target.get(member)
        inputs = declared[:MAX_ITEMS] if isinstance(declared, list) else []
        yield from (given for given in inputs if isinstance(given, dict))


def _string(value: object) -> str:
    return value[:MAX_TEXT] if isinstance(value, str) else ""
