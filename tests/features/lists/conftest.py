"""A server with two lists and two readers: one of them may see an entry that the other may not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

from directory_server.domain.entries import Entry, mcp_id_of
from directory_server.domain.ports.requests import MAIL
from directory_server.features.lists.approvers import Approvers
from directory_server.features.lists.groups import Groups
from directory_server.features.lists.keeper import Keeper, RequestMails
from directory_server.features.lists.requests import ListRequests
from directory_server.features.lists.rules import new_list
from directory_server.features.lists.tables import Lists
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.search import percolate
from directory_server.services.follower import Follower

from ...web.conftest import Server, entry, open_server

SECRET = entry(
    "io.github.secret/vault",
    "Opens the zebra vault of postgres databases.",
    title="Zebra vault",
    remotes=[{"type": "streamable-http", "url": "https://zebra.example.org/mcp"}],
)
SECRET_ID = mcp_id_of(SECRET.name)

SETTINGS: dict[str, Any] = {
    "lists.enabled": True,
    "ard.access": "key",
    "managed_settings.enabled": True,
    "http.health": "full",
    "http.failed_keys": 10_000,
    "http.per_address": 50,
    "http.connections": 100,
    "registry.per_minute": 10_000,
    "streams.per_key": 10,
    "web.per_minute": 10_000,
    "web.url": "https://directory.example.org",
}


@frozen
class Listed:
    """A server with the lists `blue`, of the entries of every test server, and `red`, of SECRET.

    `ann` is in both groups, `bob` only in blue: values are the secrets of their keys. Pages know both by a cookie.
    """

    server: Server
    lists: Lists
    keeper: Follower
    ann: str
    bob: str

    def update(self) -> None:
        """Find the entries of lists, and update the index."""
        run_sync(self.keeper.update())
        self.server.application.feed.wake()
        self.server.clock.advance(0)

    def publish(self, *entries: Entry) -> None:
        self.server.publish(*entries)
        self.server.clock.advance(0)
        self.update()


@contextmanager
def open_listed(folder: Path, **settings: Any) -> Iterator[Listed]:
    """Open the server without SECRET."""
    folder.mkdir(exist_ok=True)
    with open_server(folder, {**SETTINGS, **settings}) as server:
        application = server.application
        storage = application.storage
        lists, groups = Lists(storage.tables), Groups(storage.tables)
        approvers = Approvers(storage.tables, storage)
        mails = RequestMails(storage, approvers, application.server.get(MAIL))
        keeper = Keeper(
            lists=lists,
            matching=percolate,
            offload=inline,
            requests=ListRequests(storage.tables),
            tell=mails.tell_waiting,
            now=server.clock.seconds,
        ).follower(storage, server.clock, application.feed.wake)
        secrets = {}
        for name, of in (("ann", ("red", "blue")), ("bob", ("blue",))):
            key, secrets[name] = run_sync(storage.people.keys.create(name, limit=None, expires_at=None))
            for group in of:
                run_sync(groups.add(group, 0.0))
                run_sync(groups.add_member(group, key.id))
                run_sync(groups.add_member(group, f"{name}@example.org"))
        for name, rule in (("red", "namespace:io.github.secret"), ("blue", "namespace:io.github.example")):
            put(lists, name, rule=rule, groups=[name])
        listed = Listed(server, lists, keeper, **secrets)
        listed.update()
        yield listed


def put(
    lists: Lists, name: str, *, rule: str = "", is_all: bool = False, is_open: bool = False, groups: Any = ()
) -> None:
    """Create or change a list."""
    run_sync(lists.put(new_list(name, name, is_all=is_all, is_open=is_open, rule=rule, now=0.0)))
    run_sync(lists.set_groups(name, groups))
