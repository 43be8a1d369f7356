"""Each fault of an upstream is an error, and published entries stay."""

from __future__ import annotations

import re
from typing import Any

import pytest

from directory_server.mirror import UpstreamFailed

from ..contract import awaited
from .conftest import Harness
from .registry import faults, registry_entry

ERRORS = {
    "html": r"It sent invalid JSON: ",
    "truncated-json": r"It sent invalid JSON: ",
    "truncated-body": r"Its response broke off: ",
    "wrong-types": r"It did not send a registry page: an object with a list of entries in 'servers'\.",
    "wrong-metadata": r"It sent a page whose 'metadata' is not an object\.",
    "wrong-cursor": r"It sent a page whose 'nextCursor' is not a string of at most 4,096 characters\.",
    "cursor-loop": r"Its pages do not end: page 3 repeats an earlier one or exceeds the limit\.",
    "repeated-page": r"Its pages do not end: page 2 repeats an earlier one or exceeds the limit\.",
    "large-body": r"It sent more than 4,000,000 bytes\.",
    "many-values": r"It sent a page of more than 250,000 JSON values\.",
    "many-entries": r"It sent a page of 1,001 entries; at most 1,000 are allowed\.",
    "headers": r"It sent more than 65,536 bytes of headers\.",
    "early-hints": r"It sent more than 65,536 bytes of headers\.",
    "trailers": r"Its response broke off: Chunked decoder in 'TRAILER' state",
    "small-chunks": r"It sent a body in too many small chunks\.",
    "gzip-bomb": r"It sent more than 4,000,000 bytes\.",
    "gzip-truncated": r"It sent truncated gzip data\.",
    "gzip-invalid": r"It sent invalid gzip data\.",
    "brotli": r"It sent a body in an encoding that was not requested: b'br'\.",
    "redirect-to-other-host": r"It redirects to another host, which is not followed\. Set url to the target\.",
    "redirect-to-other-port": r"It redirects to another host, which is not followed\.",
    "redirect-to-file": r"It redirects to an invalid URL\.",
    "redirect-to-invalid-url": r"It redirects to an invalid URL\.",
    "redirect-loop": r"It redirects more than 3 times\.",
    "unavailable": r"It answered 503\.",
    "too-many-requests": r"It answered 429\.",
    "not-found": r"It answered 404\.",
    "unrequested-304": r"It answered 304 to a request without validators\.",
}


@pytest.mark.parametrize("fault", sorted(ERRORS))
@awaited
async def test_a_fault_is_an_error_and_entries_stay(harness: Harness, fault: str) -> None:
    harness.registry.entries = [registry_entry("x/a"), registry_entry("x/b"), registry_entry("x/c")]
    await harness.mirror.sync(harness.upstream())
    before, head = harness.state(), await harness.store.head()
    for _ in range(2):
        with pytest.raises(UpstreamFailed, match=ERRORS[fault]) as caught:
            await harness.mirror.sync(harness.upstream(fault), full=True)
    assert {"x/a", "x/b", "x/c"} <= set(harness.names())
    assert fault in ("cursor-loop", "repeated-page") or await harness.store.head() == head
    after = harness.state()
    assert after.error == caught.value.message
    assert (after.failures, after.last_success, after.full_sync_names) == (2, before.last_success, 3)
    (line,) = [line for line in harness.logged if line.startswith("error")]
    assert re.fullmatch(rf"error: Upstream official: {re.escape(after.error)} Trying again in \d+ minutes?\.", line)
    await harness.mirror.sync(harness.upstream())
    assert (harness.state().error, harness.state().failures) == ("", 0)


def test_every_fault_has_a_test() -> None:
    without_error = {
        "invalid-entries",
        "cookies",
        "endless-cursors",
        "endless-names",
        "gzip",
        "redirect",
        "no-response",
        "stalled-body",
        "file",
    }
    assert {*ERRORS, *without_error} == set(faults())


@awaited
async def test_an_invalid_entry_is_rejected_alone(harness: Harness) -> None:
    report = await harness.mirror.sync(harness.upstream("invalid-entries"))
    assert harness.names() == ["x/good"]
    assert report.rejected == 2
    assert report.reasons == [
        "x/bad: server.version: is required.",
        "entry 3 of a page: An entry must be an object: a server.json, or one with the members 'server' and '_meta'.",
    ]


@awaited
async def test_an_invalid_entry_is_not_removed(harness: Harness) -> None:
    harness.registry.entries = [registry_entry(f"x/{each}") for each in range(10)]
    await harness.mirror.sync(harness.upstream())
    del harness.registry.entries[8]["server"]["version"]
    del harness.registry.entries[9]
    report = await harness.mirror.sync(harness.upstream(), full=True)
    assert (report.rejected, report.removed) == (1, 1)
    assert "x/8" in harness.names()
    assert "x/9" not in harness.names()


@awaited
async def test_nothing_is_removed_if_an_entry_has_no_valid_name(harness: Harness) -> None:
    harness.registry.entries = [registry_entry(f"x/{each}") for each in range(10)]
    await harness.mirror.sync(harness.upstream())
    harness.registry.entries[9] = {"server": 7}
    report = await harness.mirror.sync(harness.upstream(), full=True)
    assert (report.nameless, report.removed, len(harness.names())) == (1, 0, 10)


@awaited
async def test_the_number_of_pages_is_limited(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("directory_server.mirror._sync_run.MAX_PAGES", 20)
    with pytest.raises(UpstreamFailed, match=r"Its pages do not end: page 21 "):
        await harness.mirror.sync(harness.upstream("endless-cursors"))


@awaited
async def test_a_page_may_be_compressed(harness: Harness) -> None:
    await harness.mirror.sync(harness.upstream("gzip"))
    assert harness.names() == ["x/gzip"]


@awaited
async def test_cookies_are_not_sent_back(harness: Harness) -> None:
    """Cookies of all pages, sent with each request, grew to megabytes within minutes."""
    harness.registry.entries = [registry_entry("x/a"), registry_entry("x/b"), registry_entry("x/c")]
    harness.registry.page_size = 1
    await harness.mirror.sync(harness.upstream("cookies"))
    assert harness.names() == ["x/a", "x/b", "x/c"]
    assert len(harness.registry.headers) == 3
    assert not [each for each in harness.registry.headers if "cookie" in each]


@awaited
async def test_a_redirect_on_the_same_host_is_followed(harness: Harness) -> None:
    harness.registry.entries = [registry_entry("x/a"), registry_entry("x/b"), registry_entry("x/c")]
    await harness.mirror.sync(harness.upstream("redirect"))
    assert harness.names() == ["x/a", "x/b", "x/c"]


@pytest.mark.parametrize("fault", ["no-response", "stalled-body"])
@awaited
async def test_a_response_has_a_deadline(harness: Harness, fault: str) -> None:
    harness.registry.stalled.addCallback(lambda _: _later(harness.clock.advance, 30.0))
    with pytest.raises(UpstreamFailed, match=r"It did not answer within 30 seconds\."):
        await harness.mirror.sync(harness.upstream(fault))


@awaited
async def test_a_refused_connection_is_an_error(harness: Harness) -> None:
    harness.port = 1
    with pytest.raises(UpstreamFailed, match=r"It cannot be reached \(connection refused\)\."):
        await harness.mirror.sync(harness.upstream())
    harness.port = 0
    harness.logged.clear()


@pytest.mark.parametrize(("fault", "seconds"), [("unavailable", 7_200), ("too-many-requests", 10_800)])
@awaited
async def test_retry_after_delays_the_next_sync(harness: Harness, fault: str, seconds: int) -> None:
    with pytest.raises(UpstreamFailed):
        await harness.mirror.sync(harness.upstream(fault))
    assert seconds <= harness.state().next_run - harness.clock.seconds() <= seconds * 1.1


@awaited
async def test_a_failure_is_logged_once_per_process(harness: Harness) -> None:
    for mirror in (harness.mirror, harness.mirror, harness.other_mirror("other"), harness.mirror):
        with pytest.raises(UpstreamFailed):
            await mirror.sync(harness.upstream("not-found"))
    assert harness.logged == [
        f"error: Upstream official: It answered 404. Trying again in {wait}." for wait in ("1 minute", "4 minutes")
    ]


@awaited
async def test_retry_delays_double(harness: Harness) -> None:
    delays = []
    for _ in range(12):
        with pytest.raises(UpstreamFailed):
            await harness.mirror.sync(harness.upstream("not-found"))
        delays.append(harness.state().next_run - harness.clock.seconds())
    for number, delay in enumerate(delays):
        expected = min(60 * 2**number, 21_600)
        assert expected <= delay <= expected * 1.1


def _later(function: Any, *args: Any) -> None:
    from twisted.internet import reactor

    reactor.callLater(0.05, function, *args)
