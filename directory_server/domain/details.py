"""Full views of entries, and what proves who publishes them."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from ..client_config import installations
from ..texts.sanitize import Cleaner, clean_line
from .check_views import PackageView
from .checks import VerifiedStatus
from .entries import Entry, as_mapping, as_mappings, as_text
from .facts import auth_of, facts_of, is_configurable, is_vendors_own, runs_of
from .licenses import UNKNOWN
from .limits import BRIEF, LONG, NAME, SERVER, TOOLS, WORD, DetailFields
from .namespaces import VERIFIED, is_proven
from .views import ACTIVE, Detail, IdentityView, Tool

OFFICIAL_REGISTRY = "official registry"


def entry_identity(entry: Entry, *, is_vendor: bool) -> Sequence[IdentityView]:
    """Return the facts that the registries of `entry` state. `is_vendor` is whether its product is of its publisher."""
    published = entry.official.get("publishedAt")
    date = clean_line(published, WORD) if isinstance(published, str) else None
    namespace = clean_line(entry.name.rpartition("/")[0], NAME)
    views = []
    if is_proven(entry.name, entry.is_official):
        views.append(IdentityView("namespace_proven", OFFICIAL_REGISTRY, date, namespace))
    if is_vendor:
        views.append(IdentityView("vendor", OFFICIAL_REGISTRY, date, namespace))
    if any(label.casefold() == "archived" for label in entry.categories):
        views.append(IdentityView("archived", "lists of servers", None, ""))
    elif entry.is_retired and entry.status == "active":
        views.append(IdentityView("archived", "publisher", None, ""))
    return views


def package_identity(packages: Sequence[PackageView], repository: str) -> Sequence[IdentityView]:
    """Return the facts that checks of packages have found. `repository` is the URL that the entry states."""
    views = []
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
        views += [IdentityView(mark, package.registry_type, date, detail) for mark, date, detail in facts]
    return views


def repository_key(url: str) -> str:
    """Return host, owner and name of the repository at `url`, in lower case; empty if it is no URL of one."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return ""
    path = parts.path.strip("/").removesuffix(".git").split("/")
    return f"{parts.netloc}/{'/'.join(path[:2])}".lower() if len(path) >= 2 else ""


def detail_of(entry: Entry) -> Detail:
    """Return the full view of `entry`."""
    cleaner = Cleaner(SERVER)
    try:
        document = cleaner.copy(entry.server)
    except OverflowError:
        document = None
    view = DetailFields(whole=document is not None)
    source = entry if document is None else Entry(document, entry.meta)
    official, facts = entry.official, facts_of(entry).bits
    hit = entry.hit()
    # An installation must match the published document, so an unsafe one is left out instead of sanitized.
    tools = (tool.name for tool in entry.tools)
    install = installations(entry.name, entry.mcp_id, entry.packages, entry.remotes, tools)
    if document is None or cleaner.changed:
        install = view.safe("install", install)
    return Detail(
        mcp_id=hit.mcp_id,
        name=hit.name,
        brief=hit.brief,
        summary=hit.summary,
        website_url=hit.website_url,
        server_name=hit.server_name,
        title=view.line("title", source.title, NAME),
        version=view.line("version", source.version),
        long_description=view.text("long_description", source.long_description, LONG),
        descriptions=view.texts("descriptions", source.descriptions),
        tags=view.lines("tags", source.tags),
        categories=view.lines("categories", source.categories),
        tools=tuple(
            Tool(view.line("tools", tool.name, NAME), view.description("tools", tool.description))
            for tool in view.first("tools", source.tools, TOOLS)
        ),
        repository=next(iter(view.objects("repository", [as_mapping(source.server.get("repository"))])), None) or None,
        packages=view.objects("packages", source.packages),
        remotes=view.objects("remotes", source.remotes),
        installable=is_configurable(facts),
        install=install,
        icons=view.objects("icons", as_mappings(source.server.get("icons"))),
        license=view.line("license", as_text(source.publisher.get("license"))),
        stars=entry.stars,
        status=view.line("status", entry.status) or ACTIVE,
        status_message=view.line("status_message", entry.status_message, BRIEF),
        official=entry.is_official,
        vendor=is_vendors_own(facts),
        publisher=VERIFIED if entry.is_proven else UNKNOWN,
        identity=entry_identity(entry, is_vendor=is_vendors_own(facts)),
        published_at=view.line("published_at", as_text(official.get("publishedAt"))) or None,
        updated_at=view.line("updated_at", as_text(official.get("updatedAt"))) or None,
        auth=auth_of(facts),
        runs=runs_of(facts),
        verified=VerifiedStatus.UNVERIFIED,
        verification=None,
        server=document or {},
        kind=entry.kind,
        uses=view.safe("uses", entry.uses),
        omitted=(*view.omitted, *(["server"] if document is None else [])),
    )
