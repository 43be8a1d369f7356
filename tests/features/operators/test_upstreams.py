"""Operator pages of upstreams."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import field, frozen

from directory_server.domain.upstreams import FinishedRun, UpstreamState
from directory_server.domain.work import BACKUP, IMPORT, STALE, VERIFY, sync_of
from directory_server.feature.parts import UPSTREAMS
from directory_server.runtime.run_sync import run_sync

from ...web.browsers import Browser
from ...web.conftest import Server
from ._pages import HOSTILE


@frozen
class FakeUpstream:
    """An upstream that records requested sync runs."""

    state: UpstreamState
    is_syncing: bool = False
    requested: list[bool] = field(factory=list)

    def sync_now(self) -> bool:
        self.requested.append(True)
        return not self.is_syncing


def test_shows_upstreams_and_syncs_on_request(server: Server, operator: Browser) -> None:
    registered = server.application.server
    failing = UpstreamState("a/b é", entries=1_234, last_run=1_700_000_000.0, error=HOSTILE, failures=2)
    upstream = FakeUpstream(failing)
    run_sync(
        registered.storage.mirrors.put(
            failing, run=FinishedRun(1_700_000_000.0, 1_700_000_065.0, True, 4_321, error=HOSTILE)
        )
    )
    note = "Our clock is 300 seconds behind that of the upstream."
    run_sync(
        registered.storage.mirrors.put(failing, run=FinishedRun(1_700_003_600.0, 1_700_003_601.0, False, note=note))
    )
    registered.add(UPSTREAMS, upstream)
    operator.get("/admin")
    assert "The upstream a/b é fails." in operator.text
    assert note in operator.text
    operator.get("/admin/upstreams")
    assert "1,234" in operator.text
    assert "2023-11-14 22:13 UTC" in operator.text
    assert "<script>alert" not in operator.page
    rows = [row.partition("</tr>")[0] for row in operator.page.split("<tr>")[2:]]
    assert len(rows) == 2
    assert "2023-11-14 23:13 UTC" in rows[0]
    assert "<td>Done <bdi>Our clock" in rows[0]
    assert "<td>65</td><td>Yes</td><td>4,321</td>" in rows[1]
    operator.follow(operator.post("/admin/upstreams/sync", {"name": "a/b é"}))
    assert "Sync run started." in operator.text
    assert upstream.requested == [True]
    operator.follow(operator.post("/admin/upstreams/sync", {"name": "unknown"}))
    assert "no longer configured" in operator.text


def test_errors_of_upstreams_are_translated(server: Server, operator: Browser) -> None:
    registered = server.application.server
    state = UpstreamState("a", error="It cannot be reached (<b>{n1}: refused).", failures=1)
    run = FinishedRun(1_700_000_000.0, 1_700_000_065.0, True, error="It answered 503.")
    run_sync(registered.storage.mirrors.put(state, run=run))
    registered.add(UPSTREAMS, FakeUpstream(state))
    for path in ("/admin?lang=zh", "/admin/upstreams?lang=zh"):
        operator.get(path)
        assert "无法连接上游：&lt;b&gt;{n1}: refused。" in operator.page
    assert "上游返回了状态码 503。" in operator.page
    operator.get("/admin/upstreams?lang=en")
    assert "It answered 503." in operator.text


def report(server: Server, name: str, **values: Any) -> None:
    run_sync(server.application.server.storage.work.put(name, **{"seconds": 60, "done": 250, "total": 1_000, **values}))


def test_the_progress_of_a_sync_run_is_live(server: Server, operator: Browser) -> None:
    """It is that of any process, also of a command."""
    server.application.server.add(UPSTREAMS, FakeUpstream(UpstreamState("a")))
    report(server, sync_of("a"))
    operator.get("/admin/upstreams")
    assert "250 of 1,000 done. About 3 min left." in " ".join(operator.text.split())
    assert '<progress max="1000" value="250"' in operator.page
    assert "data-live" in operator.page


def test_what_has_ended_or_died_is_not_loaded_again(server: Server, operator: Browser) -> None:
    server.application.server.add(UPSTREAMS, FakeUpstream(UpstreamState("a")), FakeUpstream(UpstreamState("died")))
    report(server, sync_of("died"))
    server.clock.advance(STALE)
    report(server, sync_of("a"), has_ended=True)
    operator.get("/admin/upstreams")
    assert "data-live" not in operator.page
    assert "250 of" not in operator.page


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (sync_of("a"), "a is being synced."),
        (IMPORT, "Files are being imported."),
        (VERIFY, "Remotes and packages are being checked."),
        ("follow flags", "All entries are being analysed again: flags."),
    ],
)
def test_the_overview_shows_all_work(server: Server, operator: Browser, name: str, text: str) -> None:
    report(server, name)
    operator.get("/admin")
    assert f"{text} 250 of 1,000 done." in " ".join(operator.text.split())


def test_the_overview_says_how_old_all_data_is(server: Server, operator: Browser) -> None:
    registered = server.application.server
    registered.add(UPSTREAMS, FakeUpstream(UpstreamState("official", last_success=1_700_000_000.0)))
    operator.get("/admin")
    text = " ".join(operator.text.split())
    assert "official 2023-11-14 22:13 UTC" in text
    assert "Last backup None known" in text
    report(server, BACKUP, has_ended=True)
    operator.get("/admin")
    assert "Last backup 2027-01-15 08:00 UTC" in " ".join(operator.text.split())
