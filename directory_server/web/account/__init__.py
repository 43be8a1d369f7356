"""Account pages: sign-in, registration, API keys and editor configuration."""

from ._connect_page import input_prefix
from ._forms import CSRF, local_path
from ._limits import RegistrationPolicy
from ._methods import SignInMethod
from ._pages import AccountPages, account_pages, session_cookies
from ._requests import KEYS, SIGN_IN, AccountRequests, Member
from ._sessions import SessionCookies
