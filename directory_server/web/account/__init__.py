"""Account pages: sign-in, registration, API keys and editor configuration."""

from ._cookies import SessionCookies
from ._pages import AccountPages, account_pages, session_cookies
from ._registrations import RegistrationPolicy
from ._requests import SIGN_IN, PageLayout

__all__ = [
    "SIGN_IN",
    "AccountPages",
    "PageLayout",
    "RegistrationPolicy",
    "SessionCookies",
    "account_pages",
    "session_cookies",
]
