"""Pages for people: the search pages, accounts and sessions."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from ..config import Config
from ..http.proxies import Proxies
from ..services.accounts import AccountService
from ..services.user_keys import Pending, UserKeys
from ..web import account, mcp, pages
from ._publishers import Publishers
from ._runtime import Runtime
from ._search import Search
from ._storage import Storage


@frozen
class People:
    """Accounts with their session cookies, and the pages that do not need the MCP endpoint."""

    accounts: AccountService
    cookies: account.SessionCookies
    pages: pages.PageHandlers


def build_people(
    config: Config,
    reactor: Any,
    runtime: Runtime,
    storage: Storage,
    search: Search,
    publishers: Publishers,
    proxies: Proxies,
) -> People:
    """Return the accounts and the search pages."""
    web, limits = config.web, config.accounts
    service = AccountService(storage.accounts, storage.sessions, runtime.passwords, limits.pending_total)
    cookies = account.session_cookies(service, proxies, limits.absolute)
    handlers = pages.page_handlers(
        search.directory,
        storage.store,
        search.index.__len__,
        publishers.page_hub,
        proxies,
        reactor.seconds,
        web.search,
        web.per_minute,
        viewer=runtime.wrap_viewer(cookies.account),
        sign_in=account.SIGN_IN,
        hsts=web.hsts,
    )
    return People(service, cookies, handlers)


def account_pages(
    config: Config, runtime: Runtime, storage: Storage, people: People, endpoint: mcp.McpEndpoint, proxies: Proxies
) -> account.AccountPages:
    """Return the pages of an account."""
    limits = config.accounts
    user_keys = UserKeys(
        storage.keys,
        storage.quota,
        storage.new_secrets,
        config.quota.limit,
        limits.keys,
        config.keys.grace,
        Pending(limits.pending_keys, limits.unused),
    )
    return account.account_pages(
        people.pages.layout,
        people.cookies,
        people.accounts,
        user_keys,
        endpoint,
        proxies,
        runtime.now,
        url=config.web.url,
        registration=account.RegistrationPolicy(limits.registration == "open", limits.per_address, limits.per_network),
    )
