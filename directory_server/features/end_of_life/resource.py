"""Ends of life and moves for operators: the declarations of their pages and commands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from attrs import asdict, evolve

from ...domain.endings import MAX_MESSAGE, Ending, new_ending
from ...domain.entries import MAX_NAME, mcp_id_of
from ...domain.errors import NotFound
from ...domain.versions import PUBLISHED
from ...resource import Action, Asked, Done, Field, Parts, Resource
from ...services.moves import Moves
from ...tables import StoredEndings


async def _set(parts: Parts, name: str, date: str, replaced_by: str, message: str) -> Done:
    ending = new_ending(name, date, replaced_by, message, "operator")
    await StoredEndings(parts.storage.tables).put(ending)
    return Done(ending.mcp_id, line=f"{name} ends on {date}.")


def _moves(parts: Parts) -> Moves:
    store = parts.storage.store
    publish = partial(store.publish, PUBLISHED, new=True)
    return Moves(StoredEndings(parts.storage.tables), store, parts.storage.curation, parts.now, publish)


async def _move(parts: Parts, name: str, new_name: str, message: str) -> Done:
    moves = _moves(parts)
    moved = await moves.plan(name, new_name)
    await moves.move(moved, message, "operator")
    return Done(mcp_id_of(next(iter(moved))), line="\n".join(f"{old} is now {new}." for old, new in moved.items()))


async def _list(parts: Parts, asked: Asked, *, moved: bool) -> Sequence[Ending]:
    return await StoredEndings(parts.storage.tables).page(asked.limit, asked.after, moved=moved)


async def _find(parts: Parts, record_id: str) -> Ending:
    ending = await StoredEndings(parts.storage.tables).find(record_id)
    if ending is None:
        raise NotFound(f"No end of life of {record_id[:200]!r} is set.")
    return ending


async def _remove(parts: Parts, record_id: str) -> None:
    await _moves(parts).take_back((await _find(parts, record_id)).name, "operator")


def _argument(name: str, help: str) -> Field:
    return Field(name, help, longest=MAX_NAME, is_required=True, is_argument=True)


_MESSAGE = Field("message", "Reason and advice.", "long", MAX_MESSAGE)

ENDINGS = Resource(
    name="end-of-life",
    command="end-of-life",
    noun="end of life",
    group="entries",
    texts="end_of_life",
    list=partial(_list, moved=False),
    find=_find,
    facts=lambda parts, ending: {"id": ending.mcp_id, **asdict(ending)},
    columns=("name", "date", "replaced_by", "message", "setter"),
    links={"name": "/servers/{id}"},
    is_named=True,
    has_pages=True,
    add=Action(
        "set",
        "Set the end of life of an entry, in place of the present one.",
        _set,
        fields=(
            _argument("name", "Name of the entry."),
            Field("date", "The last day, such as 2027-01-31.", longest=10, is_required=True),
            Field("replaced_by", "Name of the entry that replaces it.", longest=MAX_NAME, option="replaced-by"),
            _MESSAGE,
        ),
    ),
    actions=(Action("remove", "Remove the end of life of an entry.", _remove, done="is removed", ends=True),),
)

MOVES = evolve(
    ENDINGS,
    name="moves",
    command="move",
    noun="move",
    texts="end_of_life.moves",
    list=partial(_list, moved=True),
    facts=lambda parts, ending: {"id": ending.mcp_id, **asdict(ending), "state": "active"},
    columns=("name", "replaced_by", "date", "message", "setter"),
    add=Action(
        "add",
        "Move an entry or a namespace to another name.",
        _move,
        fields=(
            _argument("name", "Name, or a namespace such as com.acme/*."),
            _argument("new_name", "The new name or namespace."),
            _MESSAGE,
        ),
    ),
    actions=(Action("remove", "Take a move back; the new entry stays.", _remove, done="is back", ends=True),),
)
