"""Listings of the Store, and the StoredCuration."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from directory_server.domain.entries import mcp_id_of
from directory_server.domain.errors import BadInput
from directory_server.domain.versions import Version, VersionFilter
from directory_server.domain.visibility import CuratedName
from directory_server.serialization import restore_entry

from ..contract import awaited
from ..contract.store import NAME, ODD_NAMES, ODD_VERSIONS, entry, kinds
from .conftest import WithStore


def names_and_versions(versions: Sequence[Version]) -> list[str]:
    return [f"{each.name} {each.version}" for each in versions]


def names(versions: Sequence[Version]) -> list[str]:
    return [each.name for each in versions]


class TestListing(WithStore):
    @awaited
    async def test_lists_the_latest_of_each_name_in_order_and_in_pages(self) -> None:
        store = await self.store()
        await store.publish("a", [entry(f"x/{name}", version) for name in "dbca" for version in ("1.0.0", "2.0.0")])
        page = await store.listing(("", ""), 3)
        assert names_and_versions(page) == ["x/a 2.0.0", "x/b 2.0.0", "x/c 2.0.0"]
        assert names_and_versions(await store.listing((page[-1].name, page[-1].version), 3)) == ["x/d 2.0.0"]
        assert all(each.latest and not each.deleted for each in page)

    @awaited
    async def test_lists_all_versions_in_order_and_in_pages(self) -> None:
        store = await self.store()
        await store.publish(
            "a", [entry(f"x/{name}", version) for name in "ba" for version in ("2.0.0", "1.0.0", "3.0.0")]
        )
        found: list[Version] = []
        after = ("", "")
        while page := await store.listing(after, 4, versions="all"):
            found += page
            after = (page[-1].name, page[-1].version)
        assert names_and_versions(found) == [f"x/{name} {version}.0.0" for name in "ab" for version in (1, 2, 3)]
        assert [each.latest for each in found] == [False, False, True] * 2

    @awaited
    async def test_stops_listing_at_a_number_of_bytes(self) -> None:
        store = await self.store()
        await store.publish("a", [entry(f"x/{name}", brief="x" * 1_000) for name in "abcde"])
        (size,) = {len(each.body) for each in await store.listing(("", ""), 9)}
        ids = [mcp_id_of(f"x/{name}") for name in "edcba"]
        for most, count in ((1, 1), (size, 1), (size + 1, 2), (9 * size, 5)):
            for versions in ("latest", "all", "1.0.0"):
                listed = await store.listing(("", ""), 9, versions=versions, most=most)
                assert names(listed) == [f"x/{name}" for name in "abcde"][:count]
            assert names(await store.latest(ids, most)) == [f"x/{name}" for name in "edcba"][:count]

    @awaited
    async def test_lists_an_exact_version(self) -> None:
        store = await self.store()
        await store.publish(
            "a", [entry("x/a", "1.0.0"), entry("x/a", "2.0.0"), entry("x/b", "1.0.0"), entry("x/c", "2.0.0")]
        )
        assert names_and_versions(await store.listing(("", ""), 9, versions="1.0.0")) == ["x/a 1.0.0", "x/b 1.0.0"]
        assert names_and_versions(await store.listing(("x/a", "1.0.0"), 9, versions="1.0.0")) == ["x/b 1.0.0"]
        assert list(await store.listing(("", ""), 9, versions="9.9.9")) == []

    @awaited
    async def test_returns_the_versions_of_a_name_newest_first(self) -> None:
        store = await self.store()
        await store.publish("a", [entry(version="1.0.0"), entry(version="2.0.0"), entry(version="3.0.0"), entry("x/b")])
        assert names_and_versions(await store.versions(NAME)) == [f"{NAME} 3.0.0", f"{NAME} 2.0.0", f"{NAME} 1.0.0"]
        assert list(await store.versions("x/none")) == []
        assert names_and_versions(await store.versions(NAME, "3.0.0")) == [f"{NAME} 2.0.0", f"{NAME} 1.0.0"]
        assert names_and_versions(await store.versions(NAME, "3.0.0", 1)) == [f"{NAME} 2.0.0"]
        assert names_and_versions(await store.versions(NAME, most=1)) == [f"{NAME} 3.0.0"]
        assert list(await store.versions(NAME, "none")) == []
        one, latest = await store.version(NAME, "1.0.0"), await store.version(NAME, "latest")
        assert one is not None
        assert latest is not None
        assert (one.version, one.latest, latest.version, latest.latest) == ("1.0.0", False, "3.0.0", True)
        assert restore_entry(one.body) == entry(version="1.0.0")
        assert await store.version(NAME, "9.9.9") is None
        assert await store.version("x/none", "latest") is None

    @awaited
    async def test_versions_of_a_name_are_in_the_order_of_their_dates(self) -> None:
        store = await self.store()
        dated = {"2.0.0": "2026-01-02T00:00:00Z", "1.1.0": "2026-01-03T00:00:00Z", "1.0.0": "2026-01-01T00:00:00Z"}
        await store.publish("a", [entry(version=version, publishedAt=date) for version, date in dated.items()])
        assert [each.version for each in await store.versions(NAME)] == ["1.1.0", "2.0.0", "1.0.0"]
        assert [each.latest for each in await store.versions(NAME)] == [False, True, False]

    @awaited
    async def test_returns_a_version_of_several_entries(self) -> None:
        store = await self.store(["a", "b"])
        await store.publish("a", [entry(f"x/{name}", "2.0.0") for name in "abcd"])
        await store.publish("a", [entry("x/a", "1.0.0"), entry("x/b", "1.0.0", status="deleted")])
        # A version of another source than that of the entry is not found, nor one of an entry that is not visible.
        await store.publish("b", [entry("x/c", "1.0.0")])
        await store.publish("a", [entry("x/e", "1.0.0"), entry("x/e", "2.0.0", status="deleted")])
        ids = [mcp_id_of(f"x/{name}") for name in "edcba"]
        found = await store.latest(ids, wanted=VersionFilter("1.0.0"))
        assert names_and_versions(found) == ["x/b 1.0.0", "x/a 1.0.0"]
        assert [(each.latest, each.deleted) for each in found] == [(False, True), (False, False)]
        assert names(await store.latest(ids, 1, wanted=VersionFilter("1.0.0"))) == ["x/b"]
        assert list(await store.latest(ids, wanted=VersionFilter("\0"))) == []

    @awaited
    async def test_returns_versions_of_the_preferred_source_only(self) -> None:
        store = await self.store(["a", "b"])
        await store.publish("b", [entry(version="9.0.0", brief="b"), entry(version="1.0.0", brief="b")])
        await store.publish("a", [entry(version="1.0.0", brief="a")])
        assert names_and_versions(await store.versions(NAME)) == [f"{NAME} 1.0.0"]
        assert await store.version(NAME, "9.0.0") is None
        (only,) = await store.listing(("", ""), 9, versions="all")
        assert restore_entry(only.body).brief == "a"

    @awaited
    async def test_lists_deleted_versions_on_request(self) -> None:
        store = await self.store()
        await store.publish(
            "a", [entry("x/a"), entry("x/b", "1.0.0"), entry("x/b", "2.0.0"), entry("x/c", status="deleted")]
        )
        await store.publish("a", [entry("x/a", status="deleted"), entry("x/b", "1.0.0", status="deleted")])
        assert names_and_versions(await store.listing(("", ""), 9)) == ["x/b 2.0.0"]
        everything = await store.listing(("", ""), 9, include_deleted=True)
        assert [(each.name, each.deleted) for each in everything] == [("x/a", True), ("x/b", False), ("x/c", True)]
        assert names_and_versions(await store.listing(("", ""), 9, versions="all")) == ["x/b 2.0.0"]
        assert len(await store.listing(("", ""), 9, versions="all", include_deleted=True)) == 4
        deleted_version = await store.version("x/a", "latest")
        assert deleted_version is not None
        assert deleted_version.deleted

    @awaited
    async def test_lists_versions_updated_since_a_time(self) -> None:
        store = await self.store()
        await store.publish("a", [entry("x/a"), entry("x/b"), entry("x/c", "1.0.0")])
        await store.publish("a", [entry("x/b", brief="It snows.")])
        everything = await store.listing(("", ""), 9)
        changed = max(each.updated_at for each in everything)
        assert {each.name: each.updated_at for each in everything}["x/b"] == changed
        assert "x/b" in names(await store.listing(("", ""), 9, updated_since=changed))
        assert list(await store.listing(("", ""), 9, updated_since=changed + 1)) == []
        assert names(await store.listing(("", ""), 9, versions="all", updated_since=everything[0].updated_at))

    @awaited
    async def test_returns_when_a_version_was_published_and_updated(self) -> None:
        store = await self.store()
        await store.publish("a", [entry("x/a", publishedAt="1970-01-01T00:00:05Z"), entry("x/b")])
        dated, other = await store.listing(("", ""), 9)
        assert dated.published_at == 5.0
        assert 5.0 < other.published_at <= other.updated_at
        await store.publish("a", [entry("x/b", brief="It snows.")])
        again = await store.version("x/b", "latest")
        assert again is not None
        assert again.published_at == other.published_at
        assert again.updated_at >= other.updated_at

    @awaited
    async def test_keeps_one_latest_version_of_a_source(self) -> None:
        store = await self.store()
        await store.publish("a", [entry(version="2.0.0", isLatest=True)])
        await store.publish("a", [entry(version="1.9.0", isLatest=True)])
        assert await store.entry(mcp_id_of(NAME)) == entry(version="1.9.0", isLatest=True)
        await store.publish("a", [entry(version="2.0.0", isLatest=True)])
        assert await store.entry(mcp_id_of(NAME)) == entry(version="2.0.0", isLatest=True)

    @awaited
    async def test_hides_and_unhides_a_name(self) -> None:
        store, curation = await self.store(), await self.curation()
        await store.publish("a", [entry(), entry("x/b")])
        assert await curation.mark(NAME, "hidden", True)
        assert not await curation.mark(NAME, "hidden", True)
        assert await store.entry(mcp_id_of(NAME)) is None
        assert await store.count() == 1
        for versions in ("latest", "all", "1.0.0"):
            assert names(await store.listing(("", ""), 9, versions=versions, include_deleted=True)) == ["x/b"]
        assert list(await store.versions(NAME)) == []
        assert await store.version(NAME, "latest") is None
        assert await store.version(NAME, "1.0.0") is None
        for version in ("latest", "1.0.0"):
            hidden = await store.version(NAME, version, include_hidden=True)
            assert hidden is not None
            assert (hidden.name, hidden.version) == (NAME, "1.0.0")
        await store.publish("a", [entry(brief="It snows.")])
        assert await store.entry(mcp_id_of(NAME)) is None
        assert await curation.mark(NAME, "hidden", False)
        assert await store.entry(mcp_id_of(NAME)) == entry(brief="It snows.")
        assert kinds(await store.changes(0, 9)) == ["added", "added", "removed", "added"]

    @awaited
    async def test_pinning_is_logged_as_a_change(self) -> None:
        store, curation = await self.store(), await self.curation()
        await store.publish("a", [entry(), entry("x/b")])
        assert await curation.mark(NAME, "pinned", True)
        *_, last = await store.changes(0, 9)
        assert (last.kind, last.mcp_id, last.pinned) == ("changed", mcp_id_of(NAME), True)
        assert {each.mcp_id: each.pinned for each in await store.current("", 9)}[mcp_id_of(NAME)]
        assert await curation.mark(NAME, "pinned", False)
        *_, last = await store.changes(0, 9)
        assert not last.pinned

    @awaited
    async def test_sets_flags_of_unpublished_names(self) -> None:
        store, curation = await self.store(), await self.curation()
        assert await curation.mark(NAME, "pinned", True)
        assert not await curation.mark("x/b", "pinned", False)
        assert await store.head() == 0
        assert list(await store.listing(("", ""), 9, include_deleted=True)) == []
        await store.publish("a", [entry(), entry("x/b")])
        assert [change.pinned for change in await store.changes(0, 9)] == [True, False]

    @pytest.mark.parametrize("name", ["", "a\0b", "a\udc80b", "x" * 201])
    @awaited
    async def test_rejects_flags_of_invalid_names(self, name: str) -> None:
        curation = await self.curation()
        with pytest.raises(BadInput, match=r"server\.name: must be 1 to 200 printable characters"):
            await curation.mark(name, "hidden", True)
        with pytest.raises(BadInput, match=r"server\.name: must be 1 to 200 printable characters"):
            await curation.disown(name)
        assert list(await curation.curated()) == []

    @awaited
    async def test_lists_only_curated_names_on_request(self) -> None:
        store, curation = await self.store(), await self.curation()
        await store.publish("a", [entry(f"x/{name}") for name in "abcd"])
        await store.publish("local", [entry("x/b", brief="Local.")])
        await curation.mark("x/c", "pinned", True)
        await curation.mark("x/d", "allowed", True)
        for versions in ("latest", "all", "1.0.0"):
            assert names(await store.listing(("", ""), 9, versions=versions, curated=True)) == ["x/b", "x/c", "x/d"]
        assert [each.curated for each in await store.listing(("", ""), 9)] == [False, True, True, True]
        before = (await store.listing(("x/c", ""), 1))[0].updated_at
        await curation.mark("x/d", "allowed", False)
        after = await store.version("x/d", "latest")
        assert after is not None
        assert not after.curated
        assert after.updated_at >= before
        assert await store.head() == 6

    @awaited
    async def test_returns_curated_names(self) -> None:
        store, curation = await self.store(), await self.curation()
        await store.publish("a", [entry("x/a"), entry("x/b")])
        await store.publish("local", [entry("x/c")])
        assert list(await curation.curated()) == [CuratedName("x/c", local=True)]
        assert await curation.find("x/c") == CuratedName("x/c", local=True)
        await curation.mark("x/b", "hidden", True)
        await curation.mark("x/c", "pinned", True)
        await curation.mark("x/d", "allowed", True)
        assert list(await curation.curated()) == [
            CuratedName("x/b", False, False, True, False, False),
            CuratedName("x/c", True, False, False, True, False),
            CuratedName("x/d", False, False, False, False, True),
        ]
        assert [each.name for each in await curation.curated(limit=2)] == ["x/b", "x/c"]
        assert [each.name for each in await curation.curated("x/b", 1)] == ["x/c"]
        assert [each.name for each in await curation.curated("x/bb\udc80\0")] == ["x/c", "x/d"]
        assert await curation.find("x/c") == CuratedName("x/c", local=True, pinned=True)
        for unknown in ("x/a", "x/z", "\0", "\udc80"):
            assert await curation.find(unknown) == CuratedName(unknown)

    @awaited
    async def test_returns_curated_names_with_a_text(self) -> None:
        curation = await self.curation()
        for name in ("X/Mail", "x/100%", "x/a_b", "x/mail-É", "x/other"):
            await curation.mark(name, "pinned", True)

        async def found(text: str, after: str = "", limit: int | None = None) -> list[str]:
            return [each.name for each in await curation.curated(after, limit, text)]

        assert await found("mAIL") == ["X/Mail", "x/mail-É"]
        assert await found("mail", limit=1) == ["X/Mail"]
        assert await found("mail", "X/Mail") == ["x/mail-É"]
        # They have no meaning of patterns, and only ASCII letters have two cases.
        assert await found("%") == ["x/100%"]
        assert await found("_") == ["x/a_b"]
        assert await found("é") == []
        for odd in ("\0", "\udc80", "x" * 5_000):
            assert await found(odd) == []

    @awaited
    async def test_published_names_are_curated(self) -> None:
        store, curation = await self.store(["a"]), await self.curation(["a"])
        await store.publish("a", [entry("x/a"), entry("x/b")])
        await store.publish("published", [entry("x/b", "2.0.0")], new=True)
        assert list(await curation.curated()) == [CuratedName("x/b", False, True, False, False, False)]
        assert names(await store.listing(("", ""), 9, curated=True)) == ["x/b"]
        await curation.mark("x/b", "hidden", True)
        assert names(await store.listing(("", ""), 9)) == ["x/a"]

    @awaited
    async def test_orders_names_and_versions_by_code_points(self) -> None:
        store, curation = await self.store(), await self.curation()
        await store.publish("a", [entry(name) for name in reversed(ODD_NAMES)])
        listed: list[str] = []
        while page := names(await store.listing((listed[-1] if listed else "", ""), 5)):
            listed += page
        assert listed == list(ODD_NAMES)
        for name in ODD_NAMES[:6]:
            await curation.mark(name, "hidden", True)
        assert [each.name for each in await curation.curated()] == list(ODD_NAMES[:6])
        await store.publish("a", [entry("y/y", version) for version in reversed(ODD_VERSIONS)])
        versions: list[str] = []
        while found := await store.listing(("y/y", versions[-1] if versions else ""), 2, versions="all"):
            versions += [each.version for each in found]
        assert versions == list(ODD_VERSIONS)
