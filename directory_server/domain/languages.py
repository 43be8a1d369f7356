"""Programming languages of entries: their names, and the signs that an entry is written in one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

WORD = re.compile(r"[^\W_]+(?:\+\+|#)?")
"""A word of a text in lower case. Words of scripts without spaces are not separated."""

NAMES: Mapping[str, Sequence[str]] = {
    "typescript": ("typescript",),
    "javascript": ("javascript", "node js", "nodejs"),
    "python": ("python", "fastmcp"),
    "go": ("golang",),
    "rust": ("rust",),
    "java": ("java", "spring boot", "quarkus"),
    "kotlin": ("kotlin",),
    "csharp": ("c#", "csharp", "dotnet", "net core", "asp net"),
    "cpp": ("c++",),
    "c": (),
    "ruby": ("ruby",),
    "php": ("php",),
    "swift": ("swift",),
    "dart": ("dart",),
    "elixir": ("elixir",),
    "scala": ("scala",),
    "lua": ("lua",),
    "r": (),
    "julia": ("julia",),
    "haskell": ("haskell",),
    "clojure": ("clojure",),
    "perl": ("perl",),
    "zig": ("zig",),
    "shell": ("bash",),
    "powershell": ("powershell",),
    "ocaml": ("ocaml",),
    "erlang": ("erlang",),
}
"""For each programming language its names in texts, beside its own."""

TOPICAL = frozenset(
    {"go", "c", "r", "swift", "dart", "shell", "bash", "perl", "julia", "zig", "erlang", "lua", "scala"}
)
"""Names of languages that have other meanings."""

LANGUAGES = tuple(NAMES)
"""The languages that are recognised."""

_OF_PACKAGES = {"npm": ("typescript", "javascript"), "pypi": ("python",), "nuget": ("csharp",)}

_OF_NAMES = {"rs": "rust", "py": "python", "ts": "typescript", "js": "javascript", "go": "go", "net": "csharp"}
"""Languages by the last part of a name, such as that of `weather-rs`."""

_AFTER_LANGUAGE = {"based", "implementation", "server", "mcp", "powered", "binary", "codebase", "sdk"}

_BEFORE_LANGUAGE = {"in", "with", "using", "a"}


def language_of(name: str) -> str:
    """Return the language with this name in any letter case, an empty text for others."""
    name = name.casefold()
    return _LANGUAGE_NAMES.get(name, name if name in LANGUAGES else "")


_LANGUAGE_NAMES = {
    **{"c#": "csharp", "f#": "csharp", ".net": "csharp", "dotnet": "csharp", "c++": "cpp", "golang": "go"},
    **{"ts": "typescript", "js": "javascript", "node": "javascript", "nodejs": "javascript", "py": "python"},
    **{"rs": "rust", "rb": "ruby", "jupyter notebook": "python", "bash": "shell"},
}


def _table() -> Mapping[str, Sequence[tuple[Sequence[str], str]]]:
    found: dict[str, list[tuple[Sequence[str], str]]] = {}
    for language, names in NAMES.items():
        for name in (*names, language):
            words = tuple(WORD.findall(name))
            found.setdefault(words[0], []).append((words, language))
    return found


_BY_FIRST_WORD = _table()


def languages_said(words: Sequence[str]) -> Iterator[str]:
    """Yield the languages that an entry is said to be written in: "in Rust", "a Go server", "TypeScript-based"."""
    for place, word in enumerate(words):
        for expression, language in _BY_FIRST_WORD.get(word, ()):
            end = place + len(expression)
            if tuple(words[place:end]) != expression:
                continue
            before = words[place - 1] if place else ""
            after = words[end] if end < len(words) else ""
            if after in _AFTER_LANGUAGE or before in _BEFORE_LANGUAGE or place == 0:
                yield language


def languages_of_packages(kinds: Iterable[str]) -> Sequence[str]:
    """Return the languages of packages of these types."""
    return [language for kind in kinds for language in _OF_PACKAGES.get(kind, ())]


def languages_of_name(name: str) -> Sequence[str]:
    """Return the language that the last part of a server's name states."""
    parts = WORD.findall(name.rpartition("/")[2].casefold())
    return [_OF_NAMES[parts[-1]]] if len(parts) > 1 and parts[-1] in _OF_NAMES else []
