"""Identity of an entry: facts about who is behind it, each with its source and date."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from ..texts.sanitize import clean_line
from .check_views import PackageView
from .entries import Entry
from .limits import NAME, WORD
from .namespaces import is_proven
from .views import IdentityView

OFFICIAL_REGISTRY = "official registry"


def entry_identity(entry: Entry, *, is_vendor: bool) -> Sequence[IdentityView]:
    """Return the facts that the registries of `entry` state. `is_vendor` is whether its product is of its publisher."""
    published = entry.official.get("publishedAt")
    date = clean_line(published, WORD) if isinstance(published, str) else None
    namespace = clean_line(entry.name.rpartition("/")[0], NAME)
    found = []
    if is_proven(entry.name, entry.is_official):
        found.append(IdentityView("namespace_proven", OFFICIAL_REGISTRY, date, namespace))
    if is_vendor:
        found.append(IdentityView("vendor", OFFICIAL_REGISTRY, date, namespace))
    if any(label.casefold() == "archived" for label in entry.categories):
        found.append(IdentityView("archived", "lists of servers", None, ""))
    elif entry.is_retired and entry.status == "active":
        found.append(IdentityView("archived", "publisher", None, ""))
    return found


def package_identity(packages: Sequence[PackageView], repository: str) -> Sequence[IdentityView]:
    """Return the facts that checks of packages have found. `repository` is the URL that the entry states."""
    found = []
    for package in packages:
        name = f"{package.identifier} {package.version}".strip()
        facts: list[tuple[str, str | None, str]] = []
        if package.names_server is not None:
            mark = "package_names_server" if package.names_server else "package_names_other"
            facts.append((mark, package.checked_at, name))
        if package.provenance:
            is_same = repository_key(package.provenance) == repository_key(repository)
            mark = "provenance" if is_same or not repository else "provenance_of_other"
            facts.append((mark, package.checked_at, package.provenance))
        if package.deprecation:
            facts.append(("package_deprecated", package.checked_at, package.deprecation))
        if package.released_at is not None:
            facts.append(("released", package.released_at, f"{package.identifier} {package.latest_version}".strip()))
        found += [IdentityView(mark, package.registry_type, date, detail) for mark, date, detail in facts]
    return found


def repository_key(url: str) -> str:
    """Return host, owner and name of the repository at `url`, in lower case; empty if it is no URL of one."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return ""
    path = parts.path.strip("/").removesuffix(".git").split("/")
    return f"{parts.netloc}/{'/'.join(path[:2])}".lower() if len(path) >= 2 else ""
