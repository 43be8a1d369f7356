"""Full views of entries."""

from __future__ import annotations

from ..client_config import installations
from ..texts.sanitize import Cleaner
from .checks import VerifiedStatus
from .entries import Entry, as_mapping, as_mappings, as_text
from .facts import auth_of, facts_of, is_configurable, is_vendors_own, runs_of
from .identity import entry_identity
from .licenses import UNKNOWN
from .limits import BRIEF, LONG, NAME, SERVER, TOOLS, DetailFields
from .namespaces import VERIFIED
from .views import ACTIVE, Detail, Tool


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
