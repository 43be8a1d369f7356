"""Accounts and their pages, and the search pages."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from ..services.accounts import AccountService, FirstAccount
from ..services.user_keys import Pending, UserKeys
from ..web import account, mcp, pages
from ..web.parts import Endpoints
from ._brand import brand_of
from ._core import Core
from ._features import entry_image, extensions
from ._publishers import Publishers


@frozen
class People:
    """Accounts with their session cookies, and the pages that do not need the MCP endpoint."""

    accounts: AccountService
    first: FirstAccount
    cookies: account.SessionCookies
    pages: pages.PageHandlers


def build_people(core: Core, publishers: Publishers) -> People:
    """Return the accounts and the search pages."""
    storage, runtime, web, limits = core.storage, core.runtime, core.config.web, core.config.accounts
    service = AccountService(
        storage.accounts,
        storage.sessions,
        runtime.passwords,
        limits.pending_total,
        limits.session_clients,
        limits.passwords,
    )
    cookies = account.session_cookies(service, core.proxies, limits.absolute)
    handlers = pages.page_handlers(
        publishers.page_hub,
        core.proxies,
        core.reactor.seconds,
        web.search,
        web.per_minute,
        viewer=runtime.wrap_viewer(cookies.account),
        sign_in=account.SIGN_IN,
        may_be_signed_in=cookies.is_present,
        hsts=int(web.hsts),
        url=web.url,
        extensions=extensions(),
        entry_image=entry_image(core.running),
        brand=brand_of(core.config),
    )
    return People(service, FirstAccount(storage.roster), cookies, handlers)


def account_pages(
    core: Core,
    people: People,
    endpoint: mcp.McpEndpoint,
    key_parts: Sequence[pages.KeyPart],
    endpoints: Sequence[Endpoints],
) -> account.AccountPages:
    """Return the pages of an account."""

    async def read_parts(key_ids: Sequence[str]) -> pages.KeyPartValues:
        return await pages.read_key_parts(key_parts, storage, core.runtime.now(), key_ids)

    storage, config, limits = core.storage, core.config, core.config.accounts
    user_keys = UserKeys(
        storage.keys,
        storage.quota,
        storage.new_secrets,
        storage.key_uses if config.keys.last_use else None,
        core.runtime.now,
        config.quota.limit,
        limits.keys,
        config.keys.grace,
        Pending(limits.pending_keys, limits.unused),
    )
    return account.account_pages(
        people.pages.layout,
        people.cookies,
        people.accounts,
        people.first,
        user_keys,
        endpoint,
        core.proxies,
        storage.attempts,
        core.runtime.now,
        read_key_parts=read_parts,
        registration=account.RegistrationPolicy(
            limits.registration == "open" and limits.passwords, limits.per_address, limits.per_network
        ),
        is_public=config.web.search == "public",
        methods=[method for served in endpoints for method in served.sign_in_methods],
    )
