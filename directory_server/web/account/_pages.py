"""Composition of the account pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from ...domain.ports.access import Attempts
from ...domain.throttling import Limiter
from ...http.proxies import Proxies
from ...services.accounts import AccountService, FirstAccount
from ...services.user_keys import UserKeys
from ..mcp import McpEndpoint
from ._connect_page import ConnectPage
from ._key_pages import KeyPages, ReadKeyParts
from ._limits import MINUTE, AttemptLimits, RegistrationLimits, RegistrationPolicy
from ._methods import SignInMethod
from ._requests import AccountRequests, PageLayout
from ._session_pages import SessionPages
from ._sessions import SessionCookies
from ._settings_pages import SettingsPages
from ._sign_in_pages import SignInPages


@frozen
class AccountPages:
    """The handlers of the account pages."""

    sign_in: SignInPages
    keys: KeyPages
    connect: ConnectPage
    sessions: SessionPages
    settings: SettingsPages


def session_cookies(accounts: AccountService, proxies: Proxies, max_age: float) -> SessionCookies:
    """Return the session cookies; `max_age` is the maximum lifetime of a session in seconds."""
    return SessionCookies(accounts, proxies, max_age)


def account_pages(
    layout: PageLayout,
    cookies: SessionCookies,
    accounts: AccountService,
    first: FirstAccount,
    user_keys: UserKeys,
    mcp: McpEndpoint,
    proxies: Proxies,
    attempts: Attempts,
    now: Callable[[], float],
    *,
    read_key_parts: ReadKeyParts,
    registration: RegistrationPolicy,
    is_public: bool,
    methods: Sequence[SignInMethod] = (),
) -> AccountPages:
    """Return the account pages. Everybody may read the page that connects an editor if `is_public`.

    An address may try passwords and links 10 times at once and 10 times a minute. A network may try one account 10
    times at once and once a minute. A member may create, rotate or rename keys 10 times
    at once and 20 times an hour.
    """
    requests = AccountRequests(cookies, layout)
    changes = Limiter(now, rate=20 / (60 * MINUTE), burst=10)
    connect = ConnectPage(requests, mcp, is_public, registration.is_open)
    limits = AttemptLimits(proxies, attempts)
    return AccountPages(
        SignInPages(
            requests,
            accounts,
            limits,
            RegistrationLimits(proxies, now, registration),
            user_keys,
            first,
            methods,
        ),
        KeyPages(requests, user_keys, connect, changes, now, read_key_parts),
        connect,
        SessionPages(requests, accounts),
        SettingsPages(requests, accounts, limits, user_keys),
    )
