"""Account pages: sign-in, registration, API keys and editor configuration."""

from ._limits import RegistrationPolicy
from ._pages import AccountPages, account_pages, session_cookies
from ._requests import SIGN_IN, PageLayout
from ._sessions import SessionCookies

__all__ = [
    "SIGN_IN",
    "AccountPages",
    "PageLayout",
    "RegistrationPolicy",
    "SessionCookies",
    "account_pages",
    "session_cookies",
]
