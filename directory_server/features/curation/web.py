"""The web part of curation: handlers, tab, and the bar on the page of an entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args
from urllib.parse import urlencode

from attrs import asdict, frozen

from ... import serialization
from ...domain.accounts import Account
from ...domain.entries import Entry, mcp_id_of
from ...domain.errors import BadInput, NotFound
from ...domain.versions import LOCAL
from ...domain.visibility import CuratedName, Mark
from ...feature.parts import WebPart
from ...feature.server import Server
from ...http import Request
from ...tables import StoredCuration
from ...web.account import Next, Sent, SessionCookies, form, page
from ...web.audit import Values, changing
from ...web.operator_requests import ADMIN, PER_PAGE, OperatorRequests, next_url, page_of
from ...web.pages import ENTRY_BARS, EntryBar
from ...web.routes import APPS, App

ENTRIES = f"{ADMIN}/entries"
ENTRY = f"{ADMIN}/entry"

MARKS: tuple[Mark, ...] = get_args(Mark)

FIELDS = {"title": 100, "description": 1_000, "websiteUrl": 300}
"""The fields that the form edits, and the most characters of each."""


def _url(name: str) -> str:
    return f"{ENTRY}?{urlencode({'name': name}, errors='replace')}"


def _page_of_entry(fields: Mapping[str, str]) -> str:
    return _url(fields.get("name", ""))


@frozen
class CurationBar:
    """The bar with curation forms that operators see on the page of an entry."""

    _cookies: SessionCookies
    _curation: StoredCuration

    async def read(self, request: Request, viewer: object, name: str) -> Mapping[str, Any] | None:
        """Return the values of the bar on the page of the entry `name`; None for other viewers."""
        if not isinstance(viewer, Account) or not viewer.is_operator:
            return None
        session = await self._cookies.load(request)
        if session is None:
            return None
        return {"csrf": session.csrf, "name": name, "flags": await self._curation.find(name), "marks": MARKS}


@frozen
class EntryPages:
    """Handles the list of curated entries, the page of an entry, and its forms."""

    app = App()

    _requests: OperatorRequests
    _server: Server
    _curation: StoredCuration

    @app.get(ENTRIES)
    @page("list")
    async def get(self, sent: Sent) -> Values:
        """Return a page of the names with the text `q` that are curated or have an entry of the operator."""
        text = sent.text("q")
        found = await self._curation.curated(sent.fields.get("after", ""), PER_PAGE + 1, text)
        rows = [(each, _url(each.name)) for each in page_of(found)]
        url = next_url(ENTRIES, found, rows[-1][0].name if rows else "", q=text)
        return {"rows": rows, "text": text, "next_url": url}

    @app.get(ENTRY)
    @page("entry")
    async def get_one(self, sent: Sent) -> Values:
        """Return the page of the entry `name` with its flags and the form that edits it."""
        name = sent.fields.get("name", "")
        entry, flags = await self._find(name), await self._curation.find(name)
        return {
            "name": name,
            "flags": flags,
            "marks": MARKS,
            "fields": {field: str(entry.server.get(field) or "") for field in FIELDS} if entry else {},
            "lengths": FIELDS,
            "entry_url": "" if entry is None or flags.hidden or flags.rule else f"/servers/{mcp_id_of(name)}",
            "is_known": entry is not None,
        }

    @app.post(f"{ENTRY}/mark")
    @form(_page_of_entry)
    async def mark(self, sent: Sent) -> Next:
        name, mark, on = (sent.fields.get(field, "") for field in ("name", "mark", "on"))
        if mark not in MARKS or on not in ("yes", "no"):
            raise BadInput(f"mark: must be one of {', '.join(MARKS)}, and on: yes or no.", code="form_wrong")
        await self._find(name)
        async with changing(sent.request, lambda: self._flags(name)):
            await self._curation.mark(name, mark, on == "yes")
        self._server.bus.announce()
        return Next(_url(name), f"{mark}_{on}")

    @app.post(f"{ENTRY}/edit")
    @form(_page_of_entry)
    async def edit(self, sent: Sent) -> Next:
        """Publish an edited entry as the operator's own, and go to its page."""
        name = sent.fields.get("name", "")
        entry = await self._find(name)
        if entry is None:
            raise NotFound("The entry does not exist.")
        edited = serialization.edited(entry, {field: _checked(field, sent.fields.get(field, "")) for field in FIELDS})
        # A copy without changes would hide later versions of the upstream.
        if edited.server == entry.server:
            return Next(_url(name), "entry_unchanged")
        if sent.request.audit is not None:
            sent.request.audit.set_values(_fields(entry), _fields(edited))
        await self._server.directory.publish(LOCAL, [edited])
        return Next(_url(name), "entry_edited")

    @app.get(f"{ENTRY}/disown")
    @page("disown")
    async def get_disown(self, sent: Sent) -> Values:
        name = sent.fields.get("name", "")
        await self._find(name)
        return {"name": name, "back_url": _url(name)}

    @app.post(f"{ENTRY}/disown")
    @form(ENTRIES)
    async def disown(self, sent: Sent) -> Next:
        name = sent.fields.get("name", "")
        async with changing(sent.request, lambda: self._flags(name)):
            await self._curation.disown(name)
        self._server.bus.announce()
        return Next(ENTRIES, "entry_removed")

    async def _flags(self, name: str) -> Values:
        """Return the curation flags of a name for the audit log."""
        return asdict(await self._curation.find(name))

    async def _find(self, name: str) -> Entry | None:
        """Return the latest version of an entry, hidden or not; None for a curated name without one.

        Raises NotFound for other names.
        """
        version = await self._server.storage.store.version(name, "latest", include_hidden=True)
        if version is not None and not version.deleted:
            return serialization.restore_entry(version.body)
        if _is_curated(await self._curation.find(name)):
            return None
        raise NotFound("No entry has this name.")


def _is_curated(flags: CuratedName) -> bool:
    return flags.local or flags.hidden or flags.pinned or flags.allowed


def _checked(field: str, text: str) -> str:
    """Return the text of a field. Raises BadInput if it is too long."""
    if len(text) > FIELDS[field]:
        raise BadInput(f"{field}: must have at most {FIELDS[field]:,} characters.", code="field_long")
    return " ".join(text.split())


def _fields(entry: Entry) -> Values:
    return {"name": entry.name, **{field: entry.server.get(field) for field in FIELDS}}


NAME = "curation"


def _serve(server: Server) -> None:
    curation = server.storage.curation
    pages = EntryPages(server.operators.of_folder(NAME), server, curation)
    bar = CurationBar(server.operators.cookies, curation)
    server.add(APPS, pages.app)
    server.add(ENTRY_BARS, EntryBar(f"{NAME}/bar.html", bar.read))


PART = WebPart(
    serve=_serve,
    tabs=(("entries", ENTRIES, f"{NAME}.curation"),),
)
