"""Filters in search words, such as `runs:local`: their names and the values that they allow."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from attrs import frozen

from .categories import CATEGORIES
from .checks import VerifiedStatus
from .ending_views import STATES
from .entries import Entry
from .errors import BadInput
from .facts import Facts, auth_of, is_configurable, is_vendors_own, runs_of
from .kinds import KINDS as KINDS_OF_ENTRIES
from .kinds import SERVER, TYPES, atoms, value_of
from .kinds import VALUES as KIND_VALUES
from .languages import LANGUAGES, language_of
from .licenses import LICENSES, UNKNOWN, license_of
from .namespaces import VERIFIED
from .notes import FLAGS, NO_FLAG
from .tools import TOOL_HINTS

PACKAGES = ("npm", "pypi", "oci", "nuget", "mcpb", "cargo")
"""The package types of the official registry, which the filter `package` is offered with."""


Values = Callable[[Entry, Facts], Sequence[str]]


@frozen
class FilterKind:
    """A filter: the values that it allows, any if there are none, and those by which a list is narrowed down.

    `values_of` returns the values that an entry has by its document; without it `search.index` adds them. Filters that
    are a `mark`, which an entry has or has not, are one group beside a list. `is_open` is whether the values of a group
    are shown at first.
    """

    name: str
    values: Sequence[str] = ()
    counted: Sequence[str] = ()
    values_of: Values = lambda entry, facts: ()
    is_mark: bool = False
    is_open: bool = False


def _true_or_false(value: bool) -> Sequence[str]:
    return ("true" if value else "false",)


def _true(value: bool) -> Sequence[str]:
    return ("true",) if value else ()


# Nobody looks for what is unknown.
KINDS = (
    FilterKind(
        "kind",
        KIND_VALUES,
        (SERVER, *KINDS_OF_ENTRIES),
        values_of=lambda entry, facts: atoms(entry.kind, entry.card.type),
        is_open=True,
    ),
    FilterKind("category", CATEGORIES, CATEGORIES, is_open=True),
    FilterKind(
        "installable", ("true",), ("true",), lambda entry, facts: _true(is_configurable(facts.bits)), is_mark=True
    ),
    FilterKind("vendor", ("true",), ("true",), lambda entry, facts: _true(is_vendors_own(facts.bits)), is_mark=True),
    FilterKind(
        "publisher",
        (VERIFIED, UNKNOWN),
        (VERIFIED,),
        values_of=lambda entry, facts: (VERIFIED if entry.is_proven else UNKNOWN,),
        is_mark=True,
    ),
    FilterKind(
        "official",
        ("true", "false"),
        ("true",),
        values_of=lambda entry, facts: _true_or_false(entry.is_official),
        is_mark=True,
    ),
    FilterKind(
        "retired",
        ("true", "false"),
        ("false",),
        values_of=lambda entry, facts: _true_or_false(entry.is_retired),
        is_mark=True,
    ),
    FilterKind("ending", STATES, ("soon",), is_mark=True),
    FilterKind("flag", (NO_FLAG, *FLAGS), (NO_FLAG,), is_mark=True),
    FilterKind(
        "auth",
        ("none", "key", "oauth", UNKNOWN),
        ("none", "key", "oauth"),
        values_of=lambda entry, facts: (auth_of(facts.bits),),
        is_open=True,
    ),
    FilterKind(
        "runs",
        ("local", "remote", UNKNOWN),
        ("local", "remote"),
        values_of=lambda entry, facts: runs_of(facts.bits) or (UNKNOWN,),
        is_open=True,
    ),
    FilterKind("status", tuple(VerifiedStatus), tuple(VerifiedStatus)[:-1]),
    FilterKind("package", (), PACKAGES),
    FilterKind("transport", ("stdio", "http", "sse"), ("stdio", "http", "sse")),
    FilterKind("tools", TOOL_HINTS, TOOL_HINTS),
    FilterKind("language", (*LANGUAGES, UNKNOWN), LANGUAGES, lambda entry, facts: facts.languages or (UNKNOWN,)),
    FilterKind("license", (*LICENSES, UNKNOWN), LICENSES, lambda entry, facts: (facts.license,)),
    FilterKind("tag"),
    FilterKind("namespace"),
    FilterKind("tool"),
    FilterKind("version", values_of=lambda entry, facts: (entry.version,)),
    FilterKind("match", ("tools",)),
)
"""All filters; those by which a list is narrowed down in their order beside it. Other words with a colon are text."""

FILTERS: Mapping[str, Sequence[str]] = {kind.name: kind.values for kind in KINDS}

OR = "|"
"""Stands between the alternatives in the value of a filter: `auth:none|key`."""

MAX_ALTERNATIVES = 20
"""Alternatives in the value of a filter; further ones do not count."""

PIECE = re.compile(
    rf"""(?<!\S)-(?P<excluded>\w\S*) | (?<!\S)(?P<filter>{"|".join(FILTERS)}):(?P<value>"[^"]+"|[^\s"]+)"""
    r""" | "(?P<phrase>[^"]+)" """,
    re.VERBOSE | re.IGNORECASE,
)
"""What is not a word in search words: an exclusion, a filter, or an exact phrase."""


_PUNCTUATION = re.compile(r"[\W_]+")


@frozen
class Filter:
    """A filter in search words: its name and value, and its place in them."""

    name: str
    value: str
    start: int
    end: int

    def has_value(self, value: str) -> bool:
        """Return whether `value` is the value of the filter, however it is written."""
        return _folded(self.name, self.value) == _folded(self.name, value)


@frozen
class WrongFilter:
    """A filter with a value that it does not allow."""

    name: str
    value: str

    @property
    def allowed(self) -> Sequence[str]:
        """The values that the filter allows."""
        return FILTERS[self.name]


def filter_value(name: str, value: str) -> str:
    """Return the value of a filter in its canonical form: `rust` for `Rust`, `csharp` for `c#`."""
    value = value.strip('"')
    folded = value.casefold()
    if name == "language":
        return language_of(folded) or folded
    if name == "license" and folded not in FILTERS[name]:
        known = license_of(folded)
        return folded if known in ("other", UNKNOWN) else known
    if name == "kind":
        return value_of(folded) or folded
    if name == "transport":
        return folded.removeprefix("streamable-")
    return folded if FILTERS[name] else value


def filter_values(name: str, value: str) -> Sequence[str]:
    """Return the alternatives in the value of a filter, each in its canonical form."""
    parts = [part for part in value.strip('"').split(OR) if part.strip()]
    return [filter_value(name, part.strip()) for part in parts[:MAX_ALTERNATIVES]]


def wrong_filter(keywords: str) -> WrongFilter | None:
    """Return the first filter in `keywords` with a value that it does not allow, None if there is none."""
    for piece in PIECE.finditer(keywords):
        if piece["filter"]:
            name = piece["filter"].lower()
            values = filter_values(name, piece["value"])
            # Media types are for the API of ARD: people write the names of kinds.
            allowed = {*FILTERS[name], *(TYPES if name == "kind" else ())}
            if FILTERS[name] and not (values and allowed.issuperset(values)):
                return WrongFilter(name, piece["value"].strip('"')[:50])
    return None


_LIKE_A_FILTER = re.compile(r'(?<!\S)([a-z]{3,14}):("[^"]+"|[^\s"]+)', re.IGNORECASE)


def likely_keywords(keywords: str) -> str:
    """Return `keywords` with the filter that the first unknown one seems to be: `language:rust` for `lang:rust`.

    Return an empty text if there is none. The value must be one that the filter allows.
    """
    for piece in _LIKE_A_FILTER.finditer(keywords):
        word, value = piece[1].lower(), piece[2]
        if word in FILTERS:
            continue
        # Only few queries need it: it takes .7 MB.
        from difflib import get_close_matches

        for name in get_close_matches(word, [name for name, values in FILTERS.items() if values], 2):
            if wrong_filter(f"{name}:{value}") is None:
                return f"{keywords[: piece.start()]}{name}:{value}{keywords[piece.end() :]}"
    return ""


def check_filters(keywords: str) -> None:
    """Raise BadInput if a filter in `keywords` has a value that it does not allow."""
    wrong = wrong_filter(keywords)
    if wrong is not None:
        *others, last = wrong.allowed
        allowed = f"{', '.join(others)} or {last}" if others else last
        raise BadInput(f"keywords: {wrong.name}: must be {allowed}, not {wrong.value!r}.")


def filters_of(keywords: str) -> Sequence[Filter]:
    """Return the filters in `keywords`, in their order."""
    return [
        Filter(piece["filter"].lower(), piece["value"].strip('"'), piece.start(), piece.end())
        for piece in PIECE.finditer(keywords)
        if piece["filter"]
    ]


def words_beside_filters(keywords: str) -> str:
    return " ".join(PIECE.sub(lambda piece: " " if piece["filter"] else piece[0], keywords).split())


def with_filter(keywords: str, name: str, value: str) -> str:
    """Return `keywords` with one more filter. `value` has no quotation marks."""
    quoted = value if value and not any(map(str.isspace, value)) else f'"{value}"'
    return f"{keywords} {name}:{quoted}".strip()


def without_filter(keywords: str, filter: Filter) -> str:
    return " ".join(f"{keywords[: filter.start]} {keywords[filter.end :]}".split())


def _folded(name: str, value: str) -> str:
    return _PUNCTUATION.sub("", filter_value(name, value).casefold())
