"""Readers: the members of groups, as operators write and see them."""

from __future__ import annotations

from ...domain.entries import is_storable
from ...domain.errors import BadInput
from ...tables import Storage


async def reader_of(storage: Storage, text: str) -> str:
    """Return the id of the account with an e-mail address, or of a key or a token of the registry API with an id.

    A key that belongs to an account is none: it sees what its account sees. `storage` has the adapters of all ports.
    Raises BadInput.
    """
    text = text.strip()
    if "@" in text:
        account = await storage.people.accounts.find(text)
        if account is not None:
            return str(account.id)
    elif text and is_storable(text):
        listed = await storage.people.roster.key(text)
        if listed is not None and listed.key.owner is None:
            return text
        if any(token.id == text and token.revoked_at is None for token in await storage.people.registry_tokens.list()):
            return text
    raise BadInput(
        "members: must be the e-mail address of an account, or the id of a token, or of a key without an account.",
        code="member_unknown",
    )


async def name_of(storage: Storage, reader: str) -> str:
    """Return the e-mail address or the label of a reader; its id if there is none any more."""
    if (account := await storage.people.roster.account(reader)) is not None:
        return str(account.account.email)
    if (listed := await storage.people.roster.key(reader)) is not None:
        return f"{listed.key.label} ({reader})"
    return reader
