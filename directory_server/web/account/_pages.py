"""All pages of accounts, put together."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from ...http.proxies import Proxies
from ...services.accounts import AccountService
from ...services.user_keys import UserKeys
from ..mcp import McpEndpoint
from ..rate_limit import Limiter
from ._attempts import Attempts
from ._connect_page import ConnectPage
from ._cookies import Cookies
from ._key_pages import KeyPages
from ._registrations import Opening, Registrations
from ._requests import AccountRequests, PageLayout
from ._session import SessionStore
from ._sign_in_pages import SignInPages

MINUTE = 60.0


@frozen
class AccountPages:
    """The rooms of those pages."""

    sign_in: SignInPages
    keys: KeyPages
    connect: ConnectPage


def session_cookies(membership: AccountService, proxies: Proxies, longest: float) -> Cookies:
    """Return what knows the members who visit; their sessions last `longest` seconds at most."""
    return Cookies(SessionStore(membership), proxies, longest)


def account_pages(
    frame: PageLayout,
    cookies: Cookies,
    membership: AccountService,
    own_keys: UserKeys,
    mcp: McpEndpoint,
    proxies: Proxies,
    now: Callable[[], float],
    *,
    url: str,
    opening: Opening,
) -> AccountPages:
    """Return the pages; `url` is where people reach the server, `opening` says who may register.

    An address may try passwords and links 10 times at once and 10 times a minute, whoever it tries to be; an account
    may be tried 10 times at once and once a minute. A member may make or rotate keys 10 times at once, and 20 an hour.
    """
    visits = AccountRequests(cookies, frame)
    changes = Limiter(now, rate=20 / (60 * MINUTE), burst=10)
    connect = ConnectPage(visits, mcp, proxies, url)
    return AccountPages(
        SignInPages(
            visits,
            membership,
            Attempts(proxies, now),
            Registrations(proxies, now, opening),
            own_keys,
        ),
        KeyPages(visits, own_keys, connect, changes, now),
        connect,
    )
