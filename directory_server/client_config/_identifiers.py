"""Names and exact versions of packages, as defined by each registry.

A name or version that a runner would treat as a path, URL, alias, range or tag is invalid.
"""

from __future__ import annotations

import re

from ..texts import hosts
from ._data import words
from ._notices import Unusable

_NPM = re.compile(r"(?:@[A-Za-z0-9][A-Za-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*")
"""validate-npm-package-name, older packages with capitals included; `_` and `~` at the start are left out."""

_PYPI = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
"""PEP 508, section "Names"."""

_NUGET = re.compile(r"[A-Za-z0-9_]+(?:[.-][A-Za-z0-9_]+)*")

_ARCHIVE = re.compile(r".*\.(?:whl|egg|pyw?|zip|7z|tar|t(?:ar\.)?(?:gz|bz2?|lz|lzma|xz|zst)|tbz|txz)", re.IGNORECASE)
"""Suffixes for which npm and uv treat a name or a version as a file."""

_PYTHON = re.compile(r"(?:c?python|pypy|graalpy|pyodide)[0-9.]*[a-z]{0,2}", re.IGNORECASE)
"""Names that `uvx` treats as an interpreter instead of a package."""

_SEMVER = re.compile(
    r"(?:0|[1-9][0-9]{0,14})\.(?:0|[1-9][0-9]{0,14})\.(?:0|[1-9][0-9]{0,14})"
    r"(?:-(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*)?"
    r"(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
"""Semantic Versioning 2.0.0."""

_PEP440 = re.compile(
    r"v?(?:[0-9]+!)?[0-9]+(?:\.[0-9]+)*(?:[-_.]?(?:a|b|c|rc|alpha|beta|pre|preview)[-_.]?[0-9]*)?"
    r"(?:-[0-9]+|[-_.]?(?:post|rev|r)[-_.]?[0-9]*)?(?:[-_.]?dev[-_.]?[0-9]*)?(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?",
    re.IGNORECASE,
)
"""PEP 440, appendix B."""

_NUGET_VERSION = re.compile(
    r"[0-9]+(?:\.[0-9]+){1,3}(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)

_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"

_IMAGE = re.compile(
    rf"(?:(?P<domain>[A-Za-z0-9.-]+\.[A-Za-z0-9.-]+(?::[0-9]{{1,5}})?)/)?(?P<path>{_COMPONENT}(?:/{_COMPONENT})*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)
"""A reference of the OCI distribution specification, in Docker's notation."""

_RUNNERS = words("runners")


def npm_name(name: str) -> str:
    """Return the name of an npm package."""
    if len(name) > 214 or not _NPM.fullmatch(name) or name.lower() in ("node_modules", "favicon.ico"):
        raise Unusable("name", name)
    return _package(name)


def pypi_name(name: str) -> str:
    """Return the name of a project on PyPI, not normalised: `uvx` runs a command of the same spelling."""
    if len(name) > 214 or not _PYPI.fullmatch(name):
        raise Unusable("name", name)
    if _PYTHON.fullmatch(name):
        raise Unusable("runner", name)
    return _package(name)


def nuget_name(name: str) -> str:
    """Return the id of a NuGet package."""
    if len(name) > 100 or not _NUGET.fullmatch(name):
        raise Unusable("name", name)
    return _package(name)


def image(reference: str) -> re.Match[str]:
    """Return the parts of an image reference: domain, path, tag, digest."""
    found = _IMAGE.fullmatch(reference) if len(reference) <= 300 else None
    if not found:
        raise Unusable("name", reference)
    if found["path"].removeprefix("library/") in _RUNNERS:
        raise Unusable("runner", reference)
    if found["path"].startswith("localhost/") and not found["domain"]:
        # Docker treats the first part as a registry.
        raise Unusable("registry", "localhost")
    if found["domain"]:
        try:
            local = hosts.read(found["domain"].partition(":")[0]).scope == "local"
        except ValueError:
            local = True
        if local:
            raise Unusable("registry", found["domain"])
    return found


def semver(version: str) -> bool:
    """Return whether `version` is one exact version of an npm package."""
    return bool(_SEMVER.fullmatch(version)) and not _ARCHIVE.fullmatch(version)


def pep440(version: str) -> bool:
    """Return whether `version` is one exact version of a Python package."""
    return bool(_PEP440.fullmatch(version))


def nuget_version(version: str) -> bool:
    """Return whether `version` is one exact version of a NuGet package."""
    return bool(_NUGET_VERSION.fullmatch(version))


def image_tag(version: str) -> bool:
    """Return whether `version` can be the image tag of one version."""
    return bool(re.fullmatch(r"v?[0-9][A-Za-z0-9_.-]{0,127}", version))


def _package(name: str) -> str:
    if _ARCHIVE.fullmatch(name):
        raise Unusable("name", name)
    # Names that differ in these separators are one project on PyPI (PEP 503).
    if re.sub(r"[-_.]+", "-", name.lower()) in _RUNNERS:
        raise Unusable("runner", name)
    return name
