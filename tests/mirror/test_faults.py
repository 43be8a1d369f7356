"""Faults of upstreams: the error, and the entries that stay."""

from __future__ import annotations

from typing import Any

import pytest

from directory_server.mirror import UpstreamFailed

from ..contract import awaited
from .conftest import World
from .registry import faults, served

REFUSED = {
    "garbage": r"It sent invalid JSON: ",
    "half": r"It sent invalid JSON: ",
    "broken-off": r"Its answer broke off: ",
    "wrong-types": r"It did not send a registry page: an object with a list of entries in 'servers'\.",
    "wrong-metadata": r"It sent a page whose 'metadata' is not an object\.",
    "wrong-cursor": r"It sent a page whose 'nextCursor' is not a string of at most 4,096 characters\.",
    "cursor-loop": r"Its pages do not end: page 3 repeats an earlier one or exceeds the limit\.",
    "repeated-page": r"Its pages do not end: page 2 repeats an earlier one or exceeds the limit\.",
    "large": r"It sent more than 4,000,000 bytes\.",
    "many-values": r"It sent a page of more than 250,000 JSON values\.",
    "many-entries": r"It sent a page of 1,001 entries; at most 1,000 are allowed\.",
    "headers": r"It sent more than 65,536 bytes of headers\.",
    "early-hints": r"It sent more than 65,536 bytes of headers\.",
    "trailers": r"Its answer broke off: Chunked decoder in 'TRAILER' state",
    "bomb": r"It sent more than 4,000,000 bytes\.",
    "gzip-half": r"It sent truncated gzip data\.",
    "gzip-garbage": r"It sent invalid gzip data\.",
    "brotli": r"It sent a body in an encoding that was not requested: b'br'\.",
    "elsewhere": r"It redirects to another host, which is not followed\. Set url to the target\.",
    "other-port": r"It redirects to another host, which is not followed\.",
    "scheme": r"It redirects to an invalid URL\.",
    "odd-address": r"It redirects to an invalid URL\.",
    "circle": r"It redirects more than 3 times\.",
    "down": r"It answered 503\.",
    "down-until": r"It answered 429\.",
    "missing": r"It answered 404\.",
    "unasked": r"It answered 304 to a request without validators\.",
}


@pytest.mark.parametrize("fault", sorted(REFUSED))
@awaited
async def test_a_fault_is_an_error_and_entries_stay(world: World, fault: str) -> None:
    world.registry.entries = [served("x/a"), served("x/b"), served("x/c")]
    await world.mirror.sync(world.upstream())
    before, head = world.state(), await world.store.head()
    for _ in range(2):
        with pytest.raises(UpstreamFailed, match=REFUSED[fault]) as caught:
            await world.mirror.sync(world.upstream(fault), full=True)
    assert {"x/a", "x/b", "x/c"} <= set(world.names())
    assert fault in ("cursor-loop", "repeated-page") or await world.store.head() == head
    after = world.state()
    assert after.error == caught.value.message
    assert (after.failures, after.last_success, after.walked) == (2, before.last_success, 3)
    assert [line for line in world.logged if line.startswith("error")] == [f"error: Upstream official: {after.error}"]
    await world.mirror.sync(world.upstream())
    assert (world.state().error, world.state().failures) == ("", 0)


def test_every_fault_is_tried() -> None:
    others = {"bad-entry", "endless", "unique", "gzip", "moved", "silent", "drip", "file"}
    assert {*REFUSED, *others} == set(faults())


@awaited
async def test_an_entry_that_cannot_be_read_stops_no_others(world: World) -> None:
    report = await world.mirror.sync(world.upstream("bad-entry"))
    assert world.names() == ["x/good"]
    assert report.rejected == 2
    assert report.reasons == [
        "x/bad: server.version: is required.",
        "entry 3 of a page: An entry must be an object: a server.json, or one with the members 'server' and '_meta'.",
    ]


@awaited
async def test_an_entry_that_cannot_be_read_has_not_vanished(world: World) -> None:
    world.registry.entries = [served(f"x/{each}") for each in range(10)]
    await world.mirror.sync(world.upstream())
    del world.registry.entries[8]["server"]["version"]
    del world.registry.entries[9]
    report = await world.mirror.sync(world.upstream(), full=True)
    assert (report.rejected, report.removed) == (1, 1)
    assert "x/8" in world.names()
    assert "x/9" not in world.names()


@awaited
async def test_nothing_is_taken_back_where_a_name_cannot_be_read(world: World) -> None:
    world.registry.entries = [served(f"x/{each}") for each in range(10)]
    await world.mirror.sync(world.upstream())
    world.registry.entries[9] = {"server": 7}
    report = await world.mirror.sync(world.upstream(), full=True)
    assert (report.nameless, report.removed, len(world.names())) == (1, 0, 10)


@awaited
async def test_a_walk_that_leads_nowhere_comes_to_an_end(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.mirror._sync_run.MAX_PAGES", 20)
    with pytest.raises(UpstreamFailed, match=r"Its pages do not end: page 21 "):
        await world.mirror.sync(world.upstream("endless"))


@awaited
async def test_a_page_may_be_compressed(world: World) -> None:
    await world.mirror.sync(world.upstream("gzip"))
    assert world.names() == ["x/gzip"]


@awaited
async def test_a_redirect_on_the_same_host_is_followed(world: World) -> None:
    world.registry.entries = [served("x/a"), served("x/b"), served("x/c")]
    await world.mirror.sync(world.upstream("moved"))
    assert world.names() == ["x/a", "x/b", "x/c"]


@pytest.mark.parametrize("fault", ["silent", "drip"])
@awaited
async def test_a_page_has_to_be_here_in_time(world: World, fault: str) -> None:
    world.registry.stalled.addCallback(lambda _: _later(world.clock.advance, 30.0))
    with pytest.raises(UpstreamFailed, match=r"It did not answer within 30 seconds\."):
        await world.mirror.sync(world.upstream(fault))


@awaited
async def test_a_refused_connection_is_an_error(world: World) -> None:
    world.port = 1
    with pytest.raises(UpstreamFailed, match=r"It cannot be reached: Connection was refused by other side"):
        await world.mirror.sync(world.upstream())
    world.port = 0
    world.logged.clear()


@pytest.mark.parametrize(("fault", "seconds"), [("down", 7_200), ("down-until", 10_800)])
@awaited
async def test_upstream_is_asked_again_when_it_says(world: World, fault: str, seconds: int) -> None:
    with pytest.raises(UpstreamFailed):
        await world.mirror.sync(world.upstream(fault))
    assert seconds <= world.state().next_round - world.clock.seconds() <= seconds * 1.1


@awaited
async def test_a_failure_is_logged_once_per_process(world: World) -> None:
    for mirror in (world.mirror, world.mirror, world.follower("other"), world.mirror):
        with pytest.raises(UpstreamFailed):
            await mirror.sync(world.upstream("missing"))
    assert world.logged == ["error: Upstream official: It answered 404."] * 2


@awaited
async def test_retry_delays_double(world: World) -> None:
    waits = []
    for _ in range(12):
        with pytest.raises(UpstreamFailed):
            await world.mirror.sync(world.upstream("missing"))
        waits.append(world.state().next_round - world.clock.seconds())
    for number, wait in enumerate(waits):
        expected = min(60 * 2**number, 21_600)
        assert expected <= wait <= expected * 1.1


def _later(function: Any, *args: Any) -> None:
    from twisted.internet import reactor

    reactor.callLater(0.05, function, *args)
