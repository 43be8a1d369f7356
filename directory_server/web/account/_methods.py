"""Other ways to sign in than a password."""

from __future__ import annotations

from typing import Protocol

from ...domain.accounts import Account


class SignInMethod(Protocol):
    """A button on the sign-in page."""

    @property
    def title(self) -> str:
        """With what people sign in, in the text of the button."""

    @property
    def path(self) -> str:
        """The path that starts a sign-in. Its parameter `next` is the path of the page that follows."""

    async def signed_out(self, account: Account) -> str:
        """Return the path of the page for somebody who has signed out of `account`; "" for the sign-in page."""
