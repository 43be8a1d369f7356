"""The pages of an account: sign-in, keys, what to paste into an editor."""

from ._pages import AccountPages, account_pages, session_cookies
from ._registrations import Opening
from ._visits import SIGN_IN, Frame

__all__ = ["SIGN_IN", "AccountPages", "Frame", "Opening", "account_pages", "session_cookies"]
