"""Accounts and their pages, and the search pages with the look that the settings describe.

`preload` loads the tables and templates that requests need: before processes are forked, or in a thread beside the
start.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from attrs import frozen

from ..config import Config, ConfigError, WebConfig
from ..domain.accounts import REGISTRATION
from ..domain.throttling import Limiter
from ..search import file_version, load_tables
from ..services.accounts import AccountService, FirstAccount
from ..services.user_keys import Pending, UserKeys
from ..tables import Requests
from ..web import account, mcp, pages
from ..web.pages import Brand
from ..web.routes import App
from ..web.throttling import AddressLimiter
from ._core import Core
from ._features import extensions
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
    server, runtime = core.server, core.runtime
    storage, web, limits = server.storage, server.config.web, server.config.accounts
    service = AccountService(
        storage.people.accounts,
        storage.people.sessions,
        runtime.passwords,
        limits.pending_total,
        limits.session_clients,
        limits.passwords,
    )
    cookies = account.SessionCookies(service, server.proxies, limits.absolute)
    layout = pages.Layout(
        server.proxies,
        searchable=web.search != "off",
        is_public=web.search == "public",
        sign_in=account.SIGN_IN,
        may_be_signed_in=cookies.is_present,
        hsts=int(web.hsts),
        url=web.url.rstrip("/"),
        extensions=extensions(),
        entry_image=server.get(pages.ENTRY_IMAGE),
        brand=brand_of(server.config),
    )
    rate, seconds = web.per_minute / 60, server.reactor.seconds
    access = pages.PageAccess(
        web.search,
        AddressLimiter(server.proxies, seconds, rate=rate, burst=web.per_minute),
        Limiter(seconds, rate=rate, burst=web.per_minute),
        runtime.wrap_viewer(cookies.account),
        account.SIGN_IN,
        core.search.catalogue.scopes,
    )
    notifier = pages.NewEntriesNotifier(publishers.page_hub, server.proxies)
    handlers = pages.PageHandlers(layout, notifier, access)
    return People(service, FirstAccount(storage.people.roster), cookies, handlers)


def account_pages(
    core: Core,
    people: People,
    endpoint: mcp.McpEndpoint,
) -> list[App]:
    async def read_parts(key_ids: Sequence[str]) -> pages.KeyPartValues:
        return await pages.read_key_parts(core.server.all(pages.KEY_PARTS), storage, core.runtime.now(), key_ids)

    storage, config, limits = core.server.storage, core.server.config, core.server.config.accounts
    user_keys = UserKeys(
        storage.people.keys,
        storage.people.quota,
        storage.people.new_secrets,
        storage.people.key_uses if config.keys.last_use else None,
        core.runtime.now,
        config.quota.limit,
        limits.keys,
        config.keys.grace,
        Pending(limits.pending_keys, limits.unused),
    )
    now, limit = core.runtime.now, account.KEY_CHANGES
    requests = account.AccountRequests(people.cookies, people.pages.layout)
    attempts = account.AttemptLimits(core.server.proxies, storage.people.attempts)
    registrations = account.RegistrationLimits(
        core.server.proxies,
        now,
        is_open=limits.registration == "open" and limits.passwords,
        per_address=limits.per_address,
        per_network=limits.per_network,
    )
    connect = account.ConnectPage(requests, endpoint, config.web.search == "public", registrations.is_open)
    changes = Limiter(now, rate=limit.rate, burst=limit.burst)
    methods = core.server.all(account.SIGN_IN_METHODS)
    registered = Requests(storage.tables, (REGISTRATION,))
    handlers = (
        account.SignInPages(requests, people.accounts, attempts, registrations, user_keys, people.first, methods),
        account.KeyPages(requests, user_keys, connect, changes, now, read_parts, registered),
        account.OwnRegistration(requests, registered, now, account.KEYS),
        connect,
        account.SessionPages(requests, storage.people.sessions, limits.session_clients),
        account.SettingsPages(requests, people.accounts, attempts, user_keys),
    )
    return [handler.app for handler in handlers]


def brand_of(config: Config) -> Brand:
    """Return the brand of the pages. Raises ConfigError for a logo that cannot be used."""
    return _brand(config.web)


# Before a fork and after it, the same logo is read.
@cache
def _brand(web: WebConfig) -> Brand:
    try:
        return Brand.of(web.name, web.about, web.logo, web.accent)
    except OSError as error:
        raise ConfigError(f"web.logo: cannot be read: {error.strerror}: {web.logo}") from None
    except ValueError as error:
        raise ConfigError(f"web.logo: {error}") from None


def preload(config: Config) -> None:
    """Load the tables of words, the texts and the templates. They are loaded once in a process."""
    load_tables()
    file_version()
    pages.preload(config.web.search, account.SIGN_IN, extensions(), brand_of(config))
