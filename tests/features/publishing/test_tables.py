"""Publisher tokens and their log on both databases, and the names that a token permits."""

from __future__ import annotations

import pytest
from attrs import evolve

from directory_server.domain.errors import BadInput, InvalidToken, NotFound
from directory_server.features.publishing.tables import PublicationLog, PublisherTokens
from directory_server.features.publishing.tokens import (
    LOG_PAGE,
    LOGIN_LIFETIME,
    MAX_NAMESPACES,
    Proven,
    Publication,
    PublisherToken,
    new_publisher_token,
)
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import Tables

from ...contract import ContractWithClock, awaited
from ...sqlite.conftest import run_concurrently
from ...tables.conftest import OpenTables, TablesTest, rows_of

SIZE = 5
"""Records of the log under test."""

RECORD = Publication(1_000.0, "abc", "ci", "publish", "io.acme/tool", "1.0.0", "192.0.2.0/24", "started")


class TestPublisherTokens(TablesTest, ContractWithClock):
    def open(self) -> PublisherTokens:
        return PublisherTokens(self.open_tables(), self.clock.seconds)

    @awaited
    async def test_a_secret_finds_its_token_in_every_process(self) -> None:
        one, other = self.open(), self.open()
        token, secret = await one.create("ci", ["io.acme/*", "io.acme/*", "io.acme.lab/x"], expires_at=1_000_060.0)
        namespaces = ("io.acme/*", "io.acme.lab/x")
        assert token == PublisherToken(token.id, "ci", namespaces, secret[-4:], 1_000_000.0, 1_000_060.0)
        assert await one.find(secret) == await other.find(secret) == token

    @awaited
    async def test_finds_nothing_by_an_invalid_secret(self) -> None:
        tokens = self.open()
        token, secret = await tokens.create("ci", ["io.acme/*"], expires_at=None)
        key = "mcpd_" + secret.removeprefix("mcpp_")
        for wrong in ("", secret[:-1], f"{secret}x", secret.upper(), f" {secret}", key, token.id, "é", "\udcff", "\0"):
            assert await tokens.find(wrong) is None

    @awaited
    async def test_ends_a_revoked_token_in_every_process(self) -> None:
        one, other = self.open(), self.open()
        ended, secret = await one.create("ci", ["io.acme/*"], expires_at=None)
        kept, kept_secret = await one.create("other", ["io.acme/*"], expires_at=None)
        for _ in range(2):
            self.clock.advance(5)
            await other.revoke(ended.id)
        assert await one.find(secret) is None
        assert await one.find(kept_secret) == kept
        assert list(await one.list()) == [evolve(ended, revoked_at=1_000_005.0), kept]

    @awaited
    async def test_ends_an_expired_token(self) -> None:
        tokens = self.open()
        token, secret = await tokens.create("ci", ["io.acme/*"], expires_at=1_000_060.0)
        self.clock.advance(59)
        assert await tokens.find(secret) == token
        self.clock.advance(1)
        assert await tokens.find(secret) is None
        assert [each.state(self.clock.seconds()) for each in await tokens.list()] == ["expired"]

    @awaited
    async def test_raises_not_found_for_an_unknown_token(self) -> None:
        for token_id in ("abc", "a\0b"):
            with pytest.raises(NotFound, match="No publisher token has the id"):
                await self.open().revoke(token_id)

    @pytest.mark.parametrize(
        ("label", "namespaces", "expires_at"),
        [
            ("", ["io.acme/*"], None),
            ("ci", [], None),
            ("ci", [f"io.acme{number}/*" for number in range(MAX_NAMESPACES + 1)], None),
            ("ci", ["*"], None),
            ("ci", ["io.acme/*"], 1_000_000.0),
        ],
    )
    @awaited
    async def test_rejects_invalid_input_and_stores_nothing(
        self, label: str, namespaces: list[str], expires_at: float | None
    ) -> None:
        tokens = self.open()
        with pytest.raises(BadInput):
            await tokens.create(label, namespaces, expires_at=expires_at)
        assert list(await tokens.list()) == []

    @awaited
    async def test_a_proof_is_used_once_in_all_processes(self) -> None:
        one, other = self.open(), self.open()
        proven = Proven("dns", "acme.io", ("io.acme/*", "io.acme.*/*"), b"use")
        token, secret = await one.grant(proven, ["io.acme/*"])
        assert (token.label, token.namespaces) == ("dns: acme.io", ("io.acme/*",))
        assert token.expires_at == 1_000_000 + LOGIN_LIFETIME
        assert await other.find(secret) == token
        for tokens in (one, other):
            with pytest.raises(InvalidToken):
                await tokens.grant(proven, ["io.acme/*"])
        assert list(await one.list()) == [token]
        # Others are not affected, and neither is a proof that may be used again.
        await other.grant(evolve(proven, use=b"other"), ["io.acme/*"])
        for _ in range(2):
            await other.grant(evolve(proven, use=None), ["io.acme/*"])

    @awaited
    async def test_deletes_ended_tokens_of_logins_only(self) -> None:
        tokens = self.open()
        kept, _ = await tokens.create("ci", ["io.acme/*"], expires_at=1_000_060.0)
        await tokens.grant(Proven("oidc", "x", ("io.acme/*",)), ["io.acme/*"])
        self.clock.advance(LOGIN_LIFETIME)
        last, _ = await tokens.grant(Proven("oidc", "x" * 2_000, ("io.acme/*",)), ["io.acme/*"])
        assert list(await tokens.list()) == [kept, last]


class TestPublicationLog(TablesTest):
    def log(self) -> PublicationLog:
        return PublicationLog(self.open_tables(), SIZE)

    @awaited
    async def test_every_process_reads_the_records_the_newest_first(self) -> None:
        one, other = self.log(), self.log()
        first = await one.add(RECORD)
        second = await other.add(evolve(RECORD, version="1.1.0"))
        assert first < second
        await other.finish(first, "done")
        expected = [(second, evolve(RECORD, version="1.1.0")), (first, evolve(RECORD, outcome="done"))]
        assert list(await one.newest()) == list(await other.newest()) == expected

    @awaited
    async def test_reads_pages(self) -> None:
        log = self.log()
        numbers = [await log.add(RECORD) for _ in range(SIZE)]
        assert [number for number, _ in await log.newest(2)] == numbers[:-3:-1]
        assert [number for number, _ in await log.newest(LOG_PAGE + 1, before=numbers[2])] == numbers[1::-1]

    @awaited
    async def test_keeps_the_newest_records(self) -> None:
        log = self.log()
        numbers = [await log.add(RECORD) for _ in range(SIZE + 3)]
        assert [number for number, _ in await log.newest()] == numbers[:2:-1]
        await log.finish(numbers[0], "done")

    @awaited
    async def test_forgets_old_records(self) -> None:
        log = self.log()
        for at in (1_000.0, 2_000.0, 3_000.0):
            await log.add(evolve(RECORD, at=at))
        await log.forget(2_000.0)
        assert [each.at for _, each in await log.newest()] == [3_000.0]
        await log.forget(2_000.0)
        assert len(await log.newest()) == 1


def test_the_secret_is_not_stored(tables: Tables) -> None:
    _, secret = run_sync(PublisherTokens(tables, lambda: 0.0).create("ci", ["io.acme/*"], expires_at=None))
    stored = str(rows_of(tables, "SELECT * FROM publisher_token"))
    assert "io.acme" in stored
    assert secret not in stored


def test_processes_that_log_together_do_not_block_each_other(open_tables: OpenTables) -> None:
    processes = [PublicationLog(open_tables(), SIZE) for _ in range(4)]

    def write(number: int) -> None:
        for _ in range(10):
            run_sync(processes[number].add(RECORD))

    run_concurrently(write, 4)
    assert len(run_sync(processes[0].newest())) >= SIZE


def token(*namespaces: str) -> PublisherToken:
    return new_publisher_token("ci", namespaces, 0.0, None)[0]


@pytest.mark.parametrize(
    ("pattern", "permitted", "rejected"),
    [
        ("io.acme/*", ["io.acme/tool", "io.acme/a.b_c-D"], ["io.acme.lab/tool", "io.acmee/tool", "xio.acme/tool"]),
        ("io.acme/tool", ["io.acme/tool"], ["io.acme/tool2", "io.acme/too", "io.acme/Tool"]),
        ("io.acme.*/*", ["io.acme.lab/tool", "io.acme.a.b/tool"], ["io.acme/tool", "io.acmex/tool", "io.acme./tool"]),
        ("acme/*", ["acme/tool"], ["io.acme/tool"]),
    ],
)
def test_patterns_permit_names(pattern: str, permitted: list[str], rejected: list[str]) -> None:
    assert all(token(pattern).permits(name) for name in permitted)
    assert not any(token(pattern).permits(name) for name in rejected)


@pytest.mark.parametrize(
    "pattern",
    [
        *("", "*", "*/*", "io.acme", "io.acme/", "/*", "io.*/*/*", "io.*/*", "i*/*", "io.acme/t*", "io.acme*/*"),
        *(
            "io..acme/*",
            ".acme/*",
            "io.acme./*",
            "io.acme/* ",
            "io.acme/*\n",
            "io.\u0430cme/*",
            "-a/*",
            "a" * 200 + "/*",
        ),
    ],
)
def test_other_patterns_are_rejected(pattern: str) -> None:
    with pytest.raises(BadInput, match="namespace: "):
        token(pattern)


def test_patterns_are_deduplicated_in_order() -> None:
    assert token("b/*", "a/*", "b/*").namespaces == ("b/*", "a/*")
