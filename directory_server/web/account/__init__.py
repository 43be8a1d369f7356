"""The pages of an account: sign-in, keys, what to paste into an editor."""

from ._pages import AccountPages, account_pages, session_cookies
from ._registrations import Opening
from ._requests import SIGN_IN, PageLayout

__all__ = ["SIGN_IN", "AccountPages", "Opening", "PageLayout", "account_pages", "session_cookies"]
