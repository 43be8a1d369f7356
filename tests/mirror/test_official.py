"""Which upstreams are believed about what the official registry lists."""

from __future__ import annotations

from typing import Any

from directory_server.domain.entries import OFFICIAL, mcp_id_of
from directory_server.serialization import decode_entry

from ..contract import awaited
from .conftest import World
from .registry import served

OWN = "io.github.mcp-directory-server/entry"


async def is_official(world: World, name: str) -> bool:
    entry = await world.store.entry(mcp_id_of(name))
    assert entry is not None
    assert entry.detail().official == entry.is_official
    return entry.is_official


@awaited
async def test_an_upstream_is_not_believed_unless_the_operator_says_so(world: World) -> None:
    world.registry.entries = [served("x/a"), {**served("x/b"), "official": True}]
    await world.mirror.sync(world.upstream())
    assert not await is_official(world, "x/a")
    assert not await is_official(world, "x/b")
    # Its own status and dates hold all the same.
    world.registry.changed = [served("x/a", status="deleted")]
    await world.mirror.sync(world.upstream())
    assert world.names() == ["x/b"]


@awaited
async def test_the_word_of_an_official_upstream_is_taken_and_given_back(world: World) -> None:
    unlisted: dict[str, Any] = {"server": served("x/b")["server"]}
    world.registry.entries = [served("x/a"), unlisted]
    for official in (False, True, False):
        report = await world.mirror.sync(world.upstream(official=official))
        # Another word of the operator's is followed from the beginning.
        assert report.full
        assert await is_official(world, "x/a") == official
        assert not await is_official(world, "x/b")
    vanished = await world.mirror.sync(world.upstream(official=True))
    assert vanished.changed == 1


@awaited
async def test_a_directory_server_as_upstream_says_itself_which_are_official(world: World) -> None:
    ours, listed = served("x/ours"), served("x/listed")
    ours["_meta"][OWN] = {"official": False}
    listed["_meta"][OWN] = {"official": True}
    world.registry.entries = [ours, listed]
    await world.mirror.sync(world.upstream(official=True))
    assert not await is_official(world, "x/ours")
    assert await is_official(world, "x/listed")
    await world.mirror.sync(world.upstream())
    assert not await is_official(world, "x/listed")


@awaited
async def test_one_that_is_taken_back_and_comes_again_is_as_it_was(world: World) -> None:
    world.registry.entries = [served("x/a"), served("x/b")]
    await world.mirror.sync(world.upstream(official=True, floor=0.1))
    world.registry.entries = [served("x/b")]
    await world.mirror.sync(world.upstream(official=True, floor=0.1), full=True)
    assert world.names() == ["x/b"]
    world.registry.entries = [served("x/a"), served("x/b")]
    await world.mirror.sync(world.upstream(official=True, floor=0.1), full=True)
    assert await is_official(world, "x/a")


def test_an_entry_cannot_say_it_of_itself() -> None:
    said = {**served("x/a"), "official": True, "is_official": True}
    assert not decode_entry(said).is_official
    assert OFFICIAL in decode_entry(said).meta
