"""Downloads of the dump and of its checksum."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from pathlib import Path
from typing import Any, cast

import pytest
from twisted.internet.error import ConnectionDone
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure

from directory_server.features.dump.builder import open_draft
from directory_server.features.dump.download import Download
from directory_server.runtime.run_sync import inline, run_sync

from ...web.conftest import MAIL, POSTGRES, Response, Server, entry, parse_response

PATH = "/v0.1/dump.jsonl.gz"


def lines(response: Response) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(response.body).splitlines()]


def files(server: Server) -> list[str]:
    return sorted(each.name for each in (server.folder / "dump").iterdir())


def test_the_dump_has_what_the_registry_api_serves(server: Server) -> None:
    server.publish(entry("x/b", version="2.0.0"), entry("x/a", _meta={"com.acme/x": {"y": 1}}))
    server.publish(entry("x/b", version="1.0.0"))
    served = server.get("/v0.1/servers?include_deleted=true&limit=100", key=None).json["servers"]
    response = server.get(PATH, key=None)
    assert lines(response) == served
    assert [each["server"]["version"] for each in served if each["server"]["name"] == "x/b"] == ["1.0.0", "2.0.0"]
    assert response.headers["Content-Length"] == str(len(response.body))
    assert response.headers["Content-Type"] == "application/gzip"


def test_the_checksum_and_the_tag_are_those_of_the_file(server: Server) -> None:
    response = server.get(PATH, key=None)
    sha256 = hashlib.sha256(response.body).hexdigest()
    assert response.headers["ETag"] == f'"{sha256}"'
    assert server.get(f"{PATH}.sha256", key=None).body.decode() == f"{sha256}  dump.jsonl.gz\n"
    # The date is in the header of gzip too: another directory continues from there.
    assert int.from_bytes(response.body[4:8], "little") == server.clock.seconds()
    assert response.headers["Last-Modified"] == "Fri, 15 Jan 2027 08:00:00 GMT"


def test_head_has_the_size(server: Server) -> None:
    whole, head = server.get(PATH, key=None), server.request("HEAD", PATH, key=None)
    assert (head.status, head.body) == (200, b"")
    for name in ("Content-Length", "ETag", "Last-Modified", "Accept-Ranges"):
        assert head.headers[name] == whole.headers[name]


@pytest.mark.parametrize("field", ["If-None-Match", "If-Modified-Since"])
def test_a_client_that_has_the_dump_gets_no_body(server: Server, field: str) -> None:
    head = server.request("HEAD", PATH, key=None)
    known = head.headers["ETag" if field == "If-None-Match" else "Last-Modified"]
    assert server.get(PATH, key=None, headers={field: known}).status == 304
    assert server.get(PATH, key=None, headers={"If-None-Match": '"other"', field: known}).status in (200, 304)


@pytest.mark.parametrize(
    ("asked", "start", "end"), [("bytes=10-19", 10, 20), ("bytes=10-", 10, None), ("bytes=-7", -7, None)]
)
def test_a_download_is_resumed(server: Server, asked: str, start: int, end: int | None) -> None:
    whole = server.get(PATH, key=None)
    part = server.get(PATH, key=None, headers={"Range": asked, "If-Range": whole.headers["ETag"] or ""})
    assert (part.status, part.body) == (206, whole.body[start:end])
    size, begin = len(whole.body), start % len(whole.body)
    assert part.headers["Content-Range"] == f"bytes {begin}-{begin + len(part.body) - 1}/{size}"


@pytest.mark.parametrize("asked", ["bytes=0-1,5-6", "bytes=-", "bytes=9-3", "lines=1-2", "bytes=x-"])
def test_other_ranges_are_ignored(server: Server, asked: str) -> None:
    assert server.get(PATH, key=None, headers={"Range": asked}).status == 200


def test_a_range_of_an_earlier_dump_or_outside_is_not_sent(server: Server) -> None:
    whole = server.get(PATH, key=None)
    assert server.get(PATH, key=None, headers={"Range": "bytes=5-", "If-Range": '"old"'}).body == whole.body
    outside = server.get(PATH, key=None, headers={"Range": "bytes=9999999-"})
    assert (outside.status, outside.headers["Content-Range"]) == (416, f"bytes */{len(whole.body)}")


def test_a_new_dump_is_made_for_changes_once_the_last_one_is_old(server: Server) -> None:
    first = server.get(PATH, key=None).headers["ETag"]
    server.clock.advance(3_600)
    assert server.get(PATH, key=None).headers["ETag"] == first, "nothing has changed"
    server.publish(entry("x/a"))
    response = server.get(PATH, key=None)
    assert len(lines(response)) == 3
    server.publish(entry("x/b"))
    assert server.get(PATH, key=None).headers["ETag"] == response.headers["ETag"], "it is young"
    assert len(files(server)) == 1


def test_drafts_of_ended_processes_are_overwritten(server: Server) -> None:
    (server.folder / "dump").mkdir()
    (server.folder / "dump" / "draft").write_bytes(b"x" * 100_000)
    assert [each["server"]["name"] for each in lines(server.get(PATH, key=None))] == [MAIL.name, POSTGRES.name]
    assert len(files(server)) == 1


def test_while_another_process_makes_the_dump_requests_wait(server: Server) -> None:
    now = int(server.clock.seconds())
    draft = open_draft(server.folder / "dump", now, 1_000_000)
    assert draft is not None
    waiting = server.open("GET", PATH, key=None)
    assert waiting.received() == b""
    server.clock.pump([1.0] * 20)
    late = parse_response(waiting.received())
    assert (late.status, late.headers["Retry-After"]) == (503, "30")
    waiting = server.open("GET", PATH, key=None)
    store = server.application.storage.store
    draft.finish(run_sync(store.log_id()), run_sync(store.head()))
    server.clock.advance(0.5)
    assert gzip.decompress(parse_response(waiting.received()).body) == b""


@pytest.mark.slow
@pytest.mark.parametrize("server", [{"dump.max_bytes": 1_000_000}], indirect=True)
def test_the_size_is_bounded(server: Server) -> None:
    for number in range(12):
        noise = [hashlib.sha512(f"{number}.{each}".encode()).hexdigest() for each in range(1_500)]
        server.publish(entry(f"y/{number}", _meta={"com.acme/x": {"noise": noise}}))
    assert server.get(PATH, key=None).status == 503
    assert files(server) == []


class SlowTransport(StringTransport):
    """A transport whose client reads nothing."""

    def write(self, data: bytes) -> None:
        super().write(data)
        cast(Any, self.producer).pauseProducing()


def begin_download(tmp_path: Path, transport: StringTransport, clock: Clock, ended: list[str]) -> Download:
    (tmp_path / "file").write_bytes(b"x" * 300_000)
    file = os.open(tmp_path / "file", os.O_RDONLY)

    def end() -> None:
        os.close(file)
        ended.append("ended")

    download = Download(file, 0, 300_000, inline, clock, end)
    download.makeConnection(transport)
    download.begin(b"head ")
    return download


def test_the_file_is_read_as_the_client_reads(tmp_path: Path) -> None:
    transport, ended = SlowTransport(), list[str]()
    download = begin_download(tmp_path, transport, Clock(), ended)
    assert len(transport.value()) == 5 + 65_536
    for _ in range(4):
        download.resumeProducing()
    assert (len(transport.value()), ended) == (5 + 300_000, [])
    download.resumeProducing()
    assert (transport.disconnecting, ended) == (True, ["ended"])


@pytest.mark.parametrize("pieces", [0, 5])
def test_a_client_that_stops_reading_is_disconnected(tmp_path: Path, pieces: int) -> None:
    transport, clock, ended = SlowTransport(), Clock(), list[str]()
    download = begin_download(tmp_path, transport, clock, ended)
    for _ in range(pieces):
        clock.advance(29)
        download.resumeProducing()
    assert not transport.disconnected
    clock.advance(31)
    assert (transport.disconnected, ended) == (True, ["ended"])


def test_a_client_that_reads_too_slowly_is_disconnected(tmp_path: Path) -> None:
    transport, clock, ended = SlowTransport(), Clock(), list[str]()
    download = begin_download(tmp_path, transport, clock, ended)
    clock.rightNow += 3_601
    download.resumeProducing()
    assert (transport.disconnected, ended) == (True, ["ended"])


def test_a_client_that_leaves_ends_the_reading(tmp_path: Path) -> None:
    ended = list[str]()
    download = begin_download(tmp_path, SlowTransport(), Clock(), ended)
    download.connectionLost(Failure(ConnectionDone()))
    assert ended == ["ended"]


def test_the_number_of_downloads_is_bounded(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.get(PATH, key=None)
    monkeypatch.setattr(Download, "begin", lambda self, head: None)
    for _ in range(4):
        server.open("GET", PATH, key=None).received()
    busy = server.get(PATH, key=None)
    assert (busy.status, busy.headers["Retry-After"]) == (503, "60")
    # Another client.
    assert server.open("GET", PATH, key=None, address="192.0.2.1").received() == b""


@pytest.mark.registry("key", False)
def test_it_needs_what_the_registry_api_needs(server: Server) -> None:
    assert server.get(PATH, key=None).status == 401
    assert server.get(f"{PATH}.sha256", key=None).status == 401
    response = server.get(PATH)
    assert (response.status, response.headers["Cache-Control"]) == (200, "private, no-cache")


@pytest.mark.registry("secret-path", False)
def test_it_is_below_the_secret_path(server: Server) -> None:
    _, secret = run_sync(server.application.storage.people.registry_tokens.create("x"))
    assert server.get(f"/r/{secret}{PATH}", key=None).status == 200
    assert server.get(f"/r/{'x' * 32}{PATH}", key=None).status == 404
    assert server.get(PATH, key=None).status == 404


@pytest.mark.registry("public", True)
def test_it_has_curated_entries_only_if_these_are_listed(server: Server) -> None:
    run_sync(server.directory.publish("other", [entry("x/a")]))
    names = [each["server"]["name"] for each in lines(server.get(PATH, key=None))]
    assert names == [each["server"]["name"] for each in server.get("/v0.1/servers", key=None).json["servers"]]
    assert "x/a" not in names
