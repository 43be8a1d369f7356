"""All pages of accounts, put together."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from ...membership import Membership
from ...own_keys import OwnKeys
from ..addresses import Limiter, Proxies
from ..mcp import Mcp
from ._attempts import Attempts
from ._connect import Connect
from ._cookies import Cookies
from ._keys import Keys
from ._registrations import Opening, Registrations
from ._session import SessionStore
from ._sign_in import SignIn
from ._visits import Frame, Visits

MINUTE = 60.0


@frozen
class AccountPages:
    """The rooms of those pages."""

    sign_in: SignIn
    keys: Keys
    connect: Connect


def session_cookies(membership: Membership, proxies: Proxies, longest: float) -> Cookies:
    """Return what knows the members who visit; their sessions last `longest` seconds at most."""
    return Cookies(SessionStore(membership), proxies, longest)


def account_pages(
    frame: Frame,
    cookies: Cookies,
    membership: Membership,
    own_keys: OwnKeys,
    mcp: Mcp,
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
    visits = Visits(cookies, frame)
    changes = Limiter(now, rate=20 / (60 * MINUTE), burst=10)
    connect = Connect(visits, mcp, proxies, url)
    return AccountPages(
        SignIn(
            visits,
            membership,
            Attempts(proxies, now),
            Registrations(proxies, now, opening),
            own_keys,
        ),
        Keys(visits, own_keys, connect, changes, now),
        connect,
    )
