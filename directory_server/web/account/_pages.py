"""The handlers of the account pages."""

from __future__ import annotations

from attrs import frozen

from ._connect_page import ConnectPage
from ._key_pages import KeyPages
from ._session_pages import SessionPages
from ._settings_pages import SettingsPages
from ._sign_in_pages import SignInPages


@frozen
class AccountPages:
    """The handlers of the account pages."""

    sign_in: SignInPages
    keys: KeyPages
    connect: ConnectPage
    sessions: SessionPages
    settings: SettingsPages
