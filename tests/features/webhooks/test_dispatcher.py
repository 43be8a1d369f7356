"""The dispatcher: what webhooks get, in order and at least once, and what happens when a receiver fails."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import pytest_twisted  # type: ignore[import-untyped]
from twisted.internet.task import Clock

from directory_server.domain.entries import mcp_id_of
from directory_server.domain.errors import BadInput
from directory_server.features.lists.rules import new_list
from directory_server.features.lists.tables import Lists
from directory_server.runtime.run_sync import run_sync
from directory_server.services.follower import LeasedTimer

from ...tables.conftest import OpenTables
from .stubs import NOW, Directory, StubSender, entry, items

URL, OTHER = "https://a.example/", "https://b.example/"


@pytest.fixture
def directory(open_tables: OpenTables) -> Iterator[Directory]:
    clock = Clock()
    clock.advance(NOW)
    opened = Directory.of(open_tables, clock)
    yield opened
    for process in opened.processes:
        if process.dispatcher.running:
            pytest_twisted.blockon(process.dispatcher.stopService())


def test_a_webhook_gets_later_changes_in_their_order(directory: Directory) -> None:
    directory.publish(entry("x/old"), entry("x/gone"), entry("x/dep"))
    added = directory.add()
    process = directory.start()
    process.run()
    assert process.messages() == []
    directory.publish(entry("x/new"), entry("x/old", "2.0.0"))
    directory.publish(entry("x/gone", status="deleted"), entry("x/dep", status="deprecated"))
    process.run()
    assert process.kinds() == [
        ("x/new", ("added",)),
        ("x/old", ("changed",)),
        ("x/gone", ("deleted",)),
        ("x/dep", ("changed", "deprecated")),
    ]
    (message,) = process.messages()
    assert (message.type, message.changes) == ("changes", 4)
    assert items(message)[1] == {
        **{"seq": 5, "kinds": ("changed",), "mcp_id": mcp_id_of("x/old"), "name": "x/old", "title": "x/old"},
        **{"version": "2.0.0", "brief": "Reads mail.", "website_url": "", "status": "active"},
    }
    process.run(20)
    assert len(process.messages()) == 1
    assert directory.state(added).seq == 7


def test_changes_between_the_webhook_and_the_first_look_are_sent(directory: Directory) -> None:
    directory.publish(entry("x/a"))
    directory.add()
    directory.publish(entry("x/b"), entry("x/a", "2.0.0"))
    process = directory.start()
    assert process.kinds() == [("x/b", ("added",)), ("x/a", ("changed",))]


def test_filters(directory: Directory) -> None:
    directory.publish(entry("x/gone"), entry("y/gone"))
    directory.add(URL, kinds=("deleted",), namespaces=("x/*",))
    process = directory.start()
    directory.publish(entry("x/new"), entry("y/new"))
    directory.publish(entry("x/gone", status="deleted"), entry("y/gone", status="deleted"))
    process.run()
    assert process.kinds(URL) == [("x/gone", ("deleted",))]
    # What no filter selects is not read again.
    directory.publish(entry("y/newer"))
    process.run()
    assert run_sync(directory.store.head()) == run_sync(directory.webhooks.list())[0].seq


def test_a_webhook_of_a_list_gets_changes_of_its_entries_and_of_their_joining_and_leaving(
    directory: Directory,
) -> None:
    lists = Lists(directory.tables)
    for name in ("team", "other"):
        run_sync(lists.put(new_list(name, "", is_all=False, is_open=False, rule="", now=NOW)))
    directory.publish(entry("x/in"), entry("x/joins"), entry("x/leaves"), entry("x/out"))
    for name in ("x/in", "x/leaves"):
        run_sync(lists.pick("team", name))
    directory.add(list_name="team")
    directory.add(OTHER)
    process = directory.start()
    process.run()
    run_sync(lists.pick("other", "x/in"))
    run_sync(lists.pick("team", "x/joins"))
    run_sync(lists.unpick("team", "x/leaves"))
    process.run()
    directory.publish(*(entry(f"x/{name}", "2.0.0") for name in ("in", "leaves", "out")))
    directory.publish(entry("x/joins", status="deleted"), entry("x/out", "2.0.0", status="deleted"))
    process.run()
    assert process.kinds() == [
        ("x/joins", ("added",)),
        ("x/leaves", ("deleted",)),
        ("x/in", ("changed",)),
        ("x/joins", ("deleted",)),
    ]
    (_, left) = items(process.messages()[0])
    assert left.keys() == {"seq", "kinds", "mcp_id", "name"}, "what its entry is now is not for this receiver"
    # Another receiver is not told of lists.
    assert [kinds for _, kinds in process.kinds(OTHER)] == [("changed",)] * 2 + [("deleted",)] * 2


def test_a_list_of_all_entries_has_their_changes(directory: Directory) -> None:
    lists = Lists(directory.tables)
    run_sync(lists.put(new_list("all", "", is_all=True, is_open=False, rule="", now=NOW)))
    directory.add(list_name="all")
    process = directory.start()
    directory.publish(entry("x/a"))
    process.run()
    assert process.kinds() == [("x/a", ("added",))]
    with pytest.raises(BadInput, match="no list 'none'"):
        directory.add(list_name="none")


def test_a_failed_message_is_repeated_until_it_is_accepted_and_nothing_overtakes_it(
    directory: Directory,
) -> None:
    directory.add(URL)
    directory.add(OTHER)
    process = directory.start()
    process.sender.answers[URL] = 503
    directory.publish(entry("x/a"))
    process.run()
    directory.publish(entry("x/b"))
    process.run(8)
    assert len(process.messages(URL)) == 1
    assert process.kinds(OTHER) == [("x/a", ("added",)), ("x/b", ("added",))], "another receiver does not wait"
    process.run(64)
    assert len(process.messages(URL)) == 3
    assert {each.id for each in process.messages(URL)} == {process.messages(URL)[0].id}
    assert all(len(items(each)) == 1 for each in process.messages(URL))
    process.sender.answers[URL] = 200
    process.run(300)
    assert [name for name, _ in process.kinds(URL)[3:]] == ["x/a", "x/b"]
    assert process.counts.count(False) == 3
    (webhook, _) = run_sync(directory.webhooks.list())
    assert (webhook.state(directory.clock.seconds()), webhook.failures, webhook.error) == ("active", 0, "")


def test_a_receiver_that_is_down_for_a_day_is_paused_and_catches_up(directory: Directory) -> None:
    added = directory.add()
    process = directory.start()
    process.sender.answers[URL] = 500
    directory.publish(entry("x/a"))
    process.run(86_400 + 11_000)
    assert directory.state(added).state(directory.clock.seconds()) == "paused"
    attempts = len(process.messages())
    process.run(21_600)
    assert len(process.messages()) == attempts + 1
    directory.publish(*(entry(f"x/{number:03}") for number in range(150)))
    process.sender.answers[URL] = 200
    process.run(21_600)
    accepted = process.messages()[attempts + 1 :]
    assert [each.changes for each in accepted] == [1, 100, 50]
    assert directory.state(added).state(directory.clock.seconds()) == "active"


def test_a_receiver_can_ask_for_a_longer_pause(directory: Directory) -> None:
    added = directory.add()
    process = directory.start()
    process.sender.answers[URL], process.sender.retry_after = 429, 5_000.0
    directory.publish(entry("x/a"))
    process.run()
    assert directory.state(added).next_at - directory.clock.seconds() == 5_000


def test_a_message_whose_process_dies_is_sent_again_by_another_one(directory: Directory) -> None:
    directory.add()
    first = directory.start(StubSender(directory.clock.seconds, {URL: None}))
    directory.publish(entry("x/a"))
    first.run()
    assert len(first.messages()) == 1
    # It ends without releasing the lease, and its message has no result.
    first.dispatcher._loop.stop()
    run_sync(LeasedTimer.release(first.dispatcher))
    directory.publish(entry("x/b"), entry("x/c"))
    second = directory.start()
    second.run()
    # Receivers drop it by its id, although there are later changes.
    assert [message.id for message in second.messages()][:1] == [message.id for message in first.messages()]
    assert items(second.messages()[0]) == items(first.messages()[0])
    assert second.kinds() == [("x/a", ("added",)), ("x/b", ("added",)), ("x/c", ("added",))]
    assert len(second.messages()) == 2


def test_a_reset_whose_process_dies_has_the_same_id(directory: Directory) -> None:
    directory.add()
    run_sync(directory.tables.run("UPDATE webhook SET was_reset = 1"))
    first = directory.start(StubSender(directory.clock.seconds, {URL: None}))
    directory.publish(entry("x/a"))
    first.run()
    first.dispatcher._loop.stop()
    run_sync(LeasedTimer.release(first.dispatcher))
    second = directory.start()
    second.run()
    assert second.messages()[0].id == first.messages()[0].id
    assert [message.type for message in second.messages()] == ["reset", "changes"]


def test_a_slow_receiver_gets_one_message_at_a_time(directory: Directory) -> None:
    directory.add(URL)
    directory.add(OTHER)
    process = directory.start()
    process.sender.answers[URL] = None
    for number in range(3):
        directory.publish(entry(f"x/{number}"))
        process.run(10)
    assert len(process.messages(URL)) == 1
    assert len(process.messages(OTHER)) == 3


def test_after_a_restored_backup_a_message_says_that_changes_were_lost(directory: Directory) -> None:
    added = directory.add()
    process = directory.start()
    directory.publish(entry("x/a"))
    process.run()
    run_sync(directory.tables.run("UPDATE log SET id = 'abcdefabcdef'"))
    directory.publish(entry("x/b"))
    restarted = directory.start()
    process.dispatcher.stopService()
    restarted.run(4)
    (message,) = restarted.messages()
    assert (message.type, directory.state(added).was_reset) == ("reset", False)
    directory.publish(entry("x/b", "2.0.0"))
    restarted.run(4)
    assert restarted.kinds() == [("x/b", ("changed",))]


def test_without_webhooks_nothing_is_read(directory: Directory) -> None:
    process = directory.start()
    directory.publish(entry("x/a"))
    process.run()
    assert run_sync(directory.tables.all("SELECT * FROM follower")) == []
