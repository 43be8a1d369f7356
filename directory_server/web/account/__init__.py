"""Account pages: sign-in, registration, API keys and editor configuration."""

from ._connect_page import input_prefix
from ._forms import CSRF
from ._limits import RegistrationPolicy
from ._pages import AccountPages, account_pages, session_cookies
from ._requests import SIGN_IN, AccountRequests, Member, PageLayout
from ._sessions import SessionCookies

__all__ = [
    "CSRF",
    "SIGN_IN",
    "AccountPages",
    "AccountRequests",
    "Member",
    "PageLayout",
    "RegistrationPolicy",
    "SessionCookies",
    "account_pages",
    "input_prefix",
    "session_cookies",
]
