"""Handler of the notification stream, and what all pages share."""

from __future__ import annotations

from attrs import frozen

from ...http import Request
from ._access import AccessMode, PageAccess
from ._brand import Brand
from ._extension import Extension
from ._layout import Layout, compile_templates, templates
from ._notifications import NewEntriesNotifier
from ._translations import load


@frozen
class PageHandlers:
    """Handles `/news`."""

    layout: Layout
    notifier: NewEntriesNotifier
    access: PageAccess

    async def notifications(self, request: Request) -> bytes | None:
        """Open the stream of notifications about new entries."""
        await self.access.authenticate(request)
        return self.notifier.open(request, self.access.scope_of(request))


def preload(mode: AccessMode, sign_in: str, extensions: tuple[Extension, ...], brand: Brand) -> None:
    """Load the texts and compile the templates, which a `Layout` with the same arguments then finds."""
    load(extensions, brand)
    _, environment = templates(mode != "off", mode == "public", sign_in, extensions, brand)
    compile_templates(environment)
