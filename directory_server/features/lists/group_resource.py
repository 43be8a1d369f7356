"""Groups of readers for operators: the declaration of their pages and of `lists group`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from ...domain.scopes import MAX_LIST_NAME
from ...resource import MAX_ROWS, Action, Done, Facts, Field, Parts, Resource, Row
from .groups import Groups, name_of, reader_of
from .rules import MAX_NAMES, MAX_VALUE, Group


def _groups(parts: Parts) -> Groups:
    return Groups(parts.storage.tables)


async def _add_group(parts: Parts, name: str, members: Sequence[str], **claims: Any) -> Done:
    # First, so that a wrong member creates no group.
    readers = [await reader_of(parts.storage, member) for member in members]
    await _groups(parts).add(name, parts.now())
    await _join(parts, name, readers, **claims)
    return Done(name, line=f"Group {name} is stored.")


async def _join_members(parts: Parts, name: str, members: Sequence[str], **claims: Any) -> None:
    await _join(parts, name, [await reader_of(parts.storage, member) for member in members], **claims)


async def _join(parts: Parts, name: str, readers: Sequence[str], **claims: Any) -> None:
    for reader in readers:
        await _groups(parts).add_member(name, reader)
    await _change_claims(_groups(parts).add_claim, name, **claims)


async def _leave(parts: Parts, name: str, members: Sequence[str], **claims: Any) -> None:
    for member in members:
        # The account, key or token of an id may be deleted.
        await _groups(parts).remove_member(name, await reader_of(parts.storage, member) if "@" in member else member)
    await _change_claims(_groups(parts).remove_claim, name, **claims)


async def _change_claims(
    change: Callable[[str, str, str], Awaitable[None]], name: str, claims: Sequence[str], claim: str, issuer: str
) -> None:
    for value in (*claims, *filter(None, [claim])):
        await change(name, issuer, value)


async def _members(parts: Parts, name: str) -> Sequence[Row]:
    group = await _groups(parts).find(name)
    members = group.members[: MAX_ROWS + 1]
    return [
        *(Row(value, {"claim": value, "issuer": issuer}, issuer or "*") for issuer, value in group.claims),
        *[Row(await name_of(parts.storage, reader), {"members": reader}) for reader in members],
    ][: MAX_ROWS + 1]


def _of_group(claims: str) -> tuple[Field, ...]:
    return (
        Field("members", kind="words", longest=MAX_NAMES, is_argument=True),
        Field("claims", claims, "words", default=(), option="claim", place="command"),
        Field("claim", longest=MAX_VALUE, place="page"),
        Field("issuer", "URL of the issuer of the claims; by default any issuer.", longest=MAX_VALUE),
    )


def _facts_of_group(parts: Parts, group: Group) -> Facts:
    return {"id": group.name, "name": group.name, "members": list(group.members), "claims": list(group.claims)}


GROUPS = Resource(
    name="groups",
    command="lists group",
    noun="group",
    group="rules",
    about="Define groups of readers, who see lists and decide on requests for them.",
    texts="lists.group",
    list=lambda parts, asked: _groups(parts).all(),
    find=lambda parts, name: _groups(parts).find(name),
    facts=_facts_of_group,
    columns=("name", "members", "claims"),
    hidden=("id", "members", "claims"),
    is_named=True,
    add=Action(
        "add",
        "Create the group NAME, if there is none, and add MEMBERS to it: e-mail addresses of accounts, and ids of "
        "tokens, or of keys without an account.",
        _add_group,
        fields=(
            Field("name", longest=MAX_LIST_NAME, is_required=True, is_argument=True),
            *_of_group("Group of an issuer whose persons are members."),
        ),
    ),
    actions=(
        Action(
            "leave",
            "Remove MEMBERS from the group.",
            _leave,
            fields=_of_group("Group of an issuer whose persons are no longer members."),
            done="is changed",
            rows=_members,
        ),
        Action(
            "join",
            "Add MEMBERS to the group: e-mail addresses of accounts, and ids of tokens, or of keys without an account.",
            _join_members,
            fields=_of_group("Group of an issuer whose persons are members."),
            done="is changed",
        ),
        Action(
            "remove",
            "Remove the group. Its members no longer see the lists of it.",
            lambda parts, name: _groups(parts).remove(name),
            done="is removed",
            confirms=True,
            ends=True,
        ),
    ),
)
