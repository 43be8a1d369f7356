"""Account pages: sign-in, registration, API keys and editor configuration."""

from ._key_pages import ConnectPage, KeyPages, OwnRegistration, input_prefix
from ._limits import KEY_CHANGES, AttemptLimits, RegistrationLimits
from ._member_pages import Next, Sent, form, page, shown_once
from ._requests import CSRF, KEYS, OPERATORS, SIGN_IN, AccountRequests, Member, OwnRequests, local_path
from ._sessions import SessionCookies
from ._settings_pages import SessionPages, SettingsPages
from ._sign_in_pages import SIGN_IN_METHODS, SignInMethod, SignInPages
