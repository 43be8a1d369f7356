"""Ends of life for operators: the declaration of their pages and of `directory-server end-of-life`."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import asdict

from ...domain.endings import MAX_MESSAGE, Ending, new_ending
from ...domain.entries import MAX_NAME
from ...domain.errors import NotFound
from ...resource import Action, Asked, Done, Field, Parts, Resource
from ...tables import StoredEndings


async def _set(parts: Parts, name: str, date: str, replaced_by: str, message: str) -> Done:
    ending = new_ending(name, date, replaced_by, message, "operator")
    await StoredEndings(parts.storage.tables).put(ending)
    return Done(ending.mcp_id, line=f"{name} ends on {date}.")


async def _list(parts: Parts, asked: Asked) -> Sequence[Ending]:
    return await StoredEndings(parts.storage.tables).list()


async def _find(parts: Parts, record_id: str) -> Ending:
    endings = await StoredEndings(parts.storage.tables).list()
    named = [ending for ending in endings if record_id in (ending.mcp_id, ending.name)]
    if not named:
        raise NotFound(f"No end of life of {record_id[:200]!r} is set.")
    return named[0]


async def _remove(parts: Parts, record_id: str) -> None:
    await StoredEndings(parts.storage.tables).remove((await _find(parts, record_id)).name)


ENDINGS = Resource(
    name="end-of-life",
    command="end-of-life",
    noun="end of life",
    group="entries",
    about="Set, list and remove the ends of life of entries.",
    texts="end_of_life",
    list=_list,
    find=_find,
    facts=lambda parts, ending: {"id": ending.mcp_id, **asdict(ending)},
    columns=("name", "date", "replaced_by", "message", "setter"),
    links={"name": "/servers/{id}"},
    is_named=True,
    add=Action(
        "set",
        "Set the end of life of an entry, in place of the present one.",
        _set,
        fields=(
            Field("name", "Name of the entry.", longest=MAX_NAME, is_required=True, is_argument=True),
            Field("date", "The last day, such as 2027-01-31.", longest=10, is_required=True),
            Field("replaced_by", "Name of the entry that replaces it.", longest=MAX_NAME, option="replaced-by"),
            Field("message", "Reason and advice.", "long", MAX_MESSAGE),
        ),
    ),
    actions=(Action("remove", "Remove the end of life of an entry.", _remove, done="is removed", ends=True),),
)
