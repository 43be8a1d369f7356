"""Groups of readers, in the tables of the database."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from ...domain.entries import is_storable
from ...domain.errors import BadInput
from ...tables import Rows, Storage, Tables, snapshot, transaction
from .rules import MAX_CLAIMS, MAX_GROUPS, MAX_MEMBERS, Group, check_claim, check_list_name, unknown_group
from .tables import GROUPS, LOCK, delete_named

_ADD_GROUP = "INSERT INTO reader_group (name, created_at) VALUES (:name, :now) ON CONFLICT DO NOTHING"

_DELETE_GROUP = (
    "DELETE FROM reader_group WHERE name = :name",
    "DELETE FROM group_member WHERE group_name = :name",
    "DELETE FROM group_claim WHERE group_name = :name",
    "DELETE FROM list_group WHERE group_name = :name",
    "DELETE FROM list_approver WHERE group_name = :name",
)

_MEMBERS = "SELECT reader FROM group_member WHERE group_name = :name ORDER BY reader"

_CLAIMS = "SELECT issuer, value FROM group_claim WHERE group_name = :name ORDER BY issuer, value"

_ADD_MEMBER = "INSERT INTO group_member (reader, group_name) VALUES (:reader, :name) ON CONFLICT DO NOTHING"

_DELETE_MEMBER = "DELETE FROM group_member WHERE reader = :reader AND group_name = :name"

_ADD_CLAIM = """
    INSERT INTO group_claim (issuer, value, group_name) VALUES (:issuer, :value, :name) ON CONFLICT DO NOTHING
"""

_DELETE_CLAIM = "DELETE FROM group_claim WHERE issuer = :issuer AND value = :value AND group_name = :name"


@frozen
class Groups:
    """The groups of a directory. All methods raise Unavailable."""

    _tables: Tables

    @snapshot
    def all(self, rows: Rows) -> Sequence[Group]:
        """Return all groups with their members and claims, by name."""
        return [_group(rows, name) for (name,) in rows.all(GROUPS)]

    @snapshot
    def find(self, rows: Rows, name: str) -> Group:
        """Return a group. Raises NotFound."""
        if (name,) not in rows.all(GROUPS):
            raise unknown_group(name)
        return _group(rows, name)

    @transaction
    def add(self, rows: Rows, name: str, now: float) -> None:
        """Create a group, unless there is one. Raises BadInput."""
        check_list_name(name)
        rows.lock(LOCK)
        if len(rows.all(GROUPS)) >= MAX_GROUPS:
            raise BadInput(f"A directory has at most {MAX_GROUPS} groups.", code="groups_full")
        rows.execute(_ADD_GROUP, name=name, now=now)

    async def remove(self, name: str) -> None:
        """Remove a group. Its members no longer see the lists of it. Raises NotFound."""
        await self._tables.write(lambda rows: delete_named(rows, _DELETE_GROUP, name, unknown_group(name)))

    async def add_member(self, group: str, reader: str) -> None:
        """Add the id of an account, of a key or of a token to a group. Raises NotFound, BadInput."""
        if len((await self.find(group)).members) >= MAX_MEMBERS:
            raise BadInput(f"A group has at most {MAX_MEMBERS:,} members.", code="members_full")
        await self._tables.write(lambda rows: rows.execute(_ADD_MEMBER, reader=reader, name=group))

    async def remove_member(self, group: str, reader: str) -> None:
        """Remove a member of a group. Raises NotFound."""
        await self.find(group)
        if is_storable(reader):
            await self._tables.write(lambda rows: rows.execute(_DELETE_MEMBER, reader=reader, name=group))

    async def add_claim(self, group: str, issuer: str, value: str) -> None:
        """Make the persons in the group `value` of an issuer, or of any, members of a group. Raises NotFound, BadInput.

        It counts from their next sign-in on, because the groups of a sign-in are stored.
        """
        check_claim(issuer, value)
        if len((await self.find(group)).claims) >= MAX_CLAIMS:
            raise BadInput(f"A group has at most {MAX_CLAIMS} groups of issuers.", code="claims_full")
        await self._tables.write(lambda rows: rows.execute(_ADD_CLAIM, issuer=issuer, value=value, name=group))

    async def remove_claim(self, group: str, issuer: str, value: str) -> None:
        """Undo `add_claim`. Raises NotFound, BadInput."""
        check_claim(issuer, value)
        await self.find(group)
        await self._tables.write(lambda rows: rows.execute(_DELETE_CLAIM, issuer=issuer, value=value, name=group))


def _group(rows: Rows, name: str) -> Group:
    """Return a group that is stored, with its members and claims."""
    members = tuple(reader for (reader,) in rows.all(_MEMBERS, name=name))
    return Group(name, members, tuple((issuer, value) for issuer, value in rows.all(_CLAIMS, name=name)))


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
