"""Accounts and keys as the operator pages and commands list them."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_lowercase, ascii_uppercase

from attrs import frozen

from .accounts import Account, AccountState
from .keys import ApiKey, KeyUse

MAX_TEXT = 100
"""The most characters of a searched text."""

MAX_COUNTED = 100_000
"""Accounts or keys up to which the operator pages count. More of them are "more than 100,000"."""

_FOLDED = str.maketrans(ascii_uppercase, ascii_lowercase)


@frozen
class ListedAccount:
    """An account and the number of its keys that are not revoked.

    In the list of all accounts, `number` is greater than those of all older accounts.
    """

    account: Account
    keys: int
    number: int = 0


@frozen
class ListedKey:
    """A key and the e-mail address of its owner, "" for a key without an owner.

    In the list of all keys, it has its last use, and `number` is greater than those of all older keys.
    """

    key: ApiKey
    email: str
    number: int = 0
    use: KeyUse | None = None


@frozen
class RosterCounts:
    """The number of all accounts, of disabled ones, and of keys that are not revoked.

    A number above the bound of the count stands for any larger one.
    """

    accounts: int
    disabled: int
    keys: int


@frozen
class RosterTotals:
    """The number of all keys, of those that are valid, and of accounts by their state, without states of no account."""

    keys: int
    valid_keys: int
    accounts: Mapping[AccountState, int]


def folded(text: str) -> str:
    """Return a text for comparisons without regard to the case of ASCII letters, which all databases fold alike."""
    return text.translate(_FOLDED)


def searched(text: str) -> str:
    """Return the text to search for, of at most MAX_TEXT characters, without NUL and surrogates."""
    storable = "".join(character for character in text if character != "\0" and not "\ud800" <= character <= "\udfff")
    return folded(storable.strip()[:MAX_TEXT])
