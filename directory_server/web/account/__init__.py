"""Account pages: sign-in, registration, API keys and editor configuration."""

from ._connect_page import ConnectPage, input_prefix
from ._forms import CSRF, local_path
from ._key_pages import KeyPages
from ._limits import KEY_CHANGES, AttemptLimits, RegistrationLimits
from ._methods import SignInMethod
from ._pages import AccountPages
from ._requests import KEYS, SIGN_IN, AccountRequests, Member
from ._session_pages import SessionPages
from ._sessions import SessionCookies
from ._settings_pages import SettingsPages
from ._sign_in_pages import SignInPages
