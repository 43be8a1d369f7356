"""Contract of Index."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from directory_server.domain.changes import Change
from directory_server.domain.entries import Entry, mcp_id_of
from directory_server.domain.notes import CHECKS, TEXTS, Note
from directory_server.domain.ports.search import Index
from directory_server.domain.search import Page, Position, Query
from directory_server.domain.views import Hit
from directory_server.search import TextAnalysis
from directory_server.serialization import encode_entry, encode_hit, hits_of

from . import awaited

HOSTILE = [
    "a" * 256,
    "word " * 200,
    " ".join("abcdefghijklmnopqrstuvwxyz" * 9),
    "".join(chr(0x4E00 + 7 * n) for n in range(256)),
    "🙂🔎👩‍👩‍👧‍👦",
    "mail AND calendar OR NOT (",
    "name:mail* ~2 ^9 +x -y [a TO b] {c}",
    "\"unclosed 'quotes` \\",
    "..*+?|^$()[]{}\\d",
    "nul\x00 and \x1b[31m control \x7f",
    "lone \ud800 surrogates \udfff",
    "مرحبا بالعالم \u202e שלום",
    "e\u0301" + "\u0301" * 200,
    "ﷺ" * 50,
    "a-" * 128,
    "/" * 256,
]

some_words = st.lists(st.sampled_from(["mail", "mailbox", "mai", "letter", "lettre", "parcel", "邮件"]), max_size=4)


analysis = TextAnalysis()


def make_entry(name: str, description: str = "", **more: Any) -> Entry:
    return Entry({"name": name, "description": description, "version": "1.0.0", **more})


def additions(*entries: Entry) -> list[Change]:
    return [
        Change(seq, "added", entry.mcp_id, encode_entry(entry), analysis(entry)) for seq, entry in enumerate(entries, 1)
    ]


def removals(*names: str) -> list[Change]:
    return [Change(seq, "removed", mcp_id_of(name), None, None) for seq, name in enumerate(names, 1)]


async def search_names(index: Index, keywords: str) -> list[str]:
    """Return the names of the hits for `keywords`."""
    return [hit.name for hit in (await index.search(Query(keywords))).hits]


async def all_hits(index: Index, keywords: str, limit: int) -> list[Hit]:
    """Return the hits of all pages, each of at most `limit`."""
    hits: list[Hit] = []
    after: Position | None = None
    while True:
        page = await index.search(Query(keywords, limit, after))
        assert len(page.hits) == limit or page.next is None
        hits += page.hits
        if page.next is None:
            return hits
        assert page.hits
        after = page.next


class IndexContract:
    """Subclasses define how to open an index."""

    async def open(self) -> Index:
        """Return an empty index."""
        raise NotImplementedError

    @awaited
    async def test_empty_index_finds_nothing(self) -> None:
        index = await self.open()
        assert len(index) == 0
        assert await index.search(Query("mail")) == Page(hits_of(()))

    @awaited
    async def test_added_entry_is_found(self) -> None:
        index = await self.open()
        site = "https://mail.example"
        await index.apply(additions(make_entry("org.example/mail", "Reads letters", title="The Mail", websiteUrl=site)))
        assert len(index) == 1
        hit = Hit(mcp_id_of("org.example/mail"), "The Mail", "Reads letters", site, "org.example/mail")
        assert await index.search(Query("letters")) == Page(hits_of([encode_hit(hit, hit.server_name)]))

    @awaited
    async def test_changed_entry_is_found_by_its_new_words_only(self) -> None:
        index = await self.open()
        await index.apply(additions(make_entry("org.example/post", "Reads letters"), make_entry("org.example/other")))
        await index.apply(additions(make_entry("org.example/post", "Sends parcels")))
        assert len(index) == 2
        assert await search_names(index, "letters") == []
        assert [hit.brief for hit in (await index.search(Query("parcels"))).hits] == ["Sends parcels"]

    @awaited
    async def test_removed_entry_is_not_found(self) -> None:
        index = await self.open()
        await index.apply(additions(make_entry("org.example/one", "letters"), make_entry("org.example/two", "letters")))
        await index.apply(removals("org.example/one"))
        assert len(index) == 1
        assert await search_names(index, "letters") == ["org.example/two"]

    @awaited
    async def test_removed_entry_can_be_added_again(self) -> None:
        index = await self.open()
        await index.apply(additions(make_entry("org.example/one", "letters")))
        await index.apply(removals("org.example/one"))
        assert len(index) == 0
        await index.apply(additions(make_entry("org.example/two", "parcels"), make_entry("org.example/one", "letters")))
        assert await search_names(index, "letters") == ["org.example/one"]
        assert await search_names(index, "parcels") == ["org.example/two"]

    @awaited
    async def test_changes_may_be_applied_again(self) -> None:
        index = await self.open()
        changes = [*additions(make_entry("org.example/mail", "letters")), *removals("org.example/unknown")]
        await index.apply(changes)
        await index.apply(changes)
        assert len(index) == 1
        assert await search_names(index, "letters") == ["org.example/mail"]

    @awaited
    async def test_the_last_of_several_changes_of_an_entry_counts(self) -> None:
        index = await self.open()
        one, two = make_entry("org.example/one", "letters"), make_entry("org.example/two", "parcels")
        changed = make_entry("org.example/two", "letters")
        await index.apply([*additions(one, two), *removals("org.example/one"), *additions(changed)])
        assert len(index) == 1
        assert await search_names(index, "letters") == ["org.example/two"]
        assert await search_names(index, "parcels") == []

    @awaited
    async def test_pinned_entries_are_the_first_hits(self) -> None:
        index = await self.open()
        names = [f"org.example/mail-{number}" for number in range(9)]
        changes = additions(
            *(make_entry(name, "letters " * number) for number, name in enumerate(names)), make_entry("x/other")
        )
        await index.apply([evolve(each, pinned=each.mcp_id == mcp_id_of(names[4])) for each in changes])
        plain = [name for name in await search_names(index, "letters") if name != names[4]]
        assert await search_names(index, "letters") == [names[4], *plain]
        assert await search_names(index, "other") == ["x/other"]
        # The order is the same page by page, in the base and in the delta of the index.
        await index.apply([evolve(changes[7], pinned=True)])
        page = await index.search(Query("letters", 1))
        paged: list[Hit] = []
        paged += page.hits
        while page.next:
            page = await index.search(Query("letters", 1, page.next))
            paged += page.hits
        assert {hit.name for hit in paged[:2]} == {names[4], names[7]}
        assert len({hit.name for hit in paged}) == len(paged) == len(plain) + 1
        await index.apply([evolve(each, pinned=False) for each in changes])
        assert set(await search_names(index, "letters")) == {*plain, names[4]}
        assert (await index.search(Query("letters"))).hits[0].name == plain[0]

    @awaited
    async def test_names_are_case_sensitive(self) -> None:
        index = await self.open()
        await index.apply(additions(make_entry("org.example/Mail"), make_entry("org.example/mail")))
        assert len(index) == 2
        assert await search_names(index, "mail") == ["org.example/Mail", "org.example/mail"]
        await index.apply(removals("org.example/Mail"))
        assert await search_names(index, "mail") == ["org.example/mail"]

    @awaited
    async def test_each_change_is_a_new_generation(self) -> None:
        index = await self.open()
        generations = [index.generation]
        for changes in (additions(make_entry("org.example/mail")), removals("org.example/mail")):
            await index.apply(changes)
            generations.append(index.generation)
        assert generations == sorted(set(generations))

    @awaited
    async def test_no_changes_change_nothing(self) -> None:
        index = await self.open()
        await index.apply(additions(make_entry("org.example/mail")))
        await index.apply([])
        assert await search_names(index, "mail") == ["org.example/mail"]

    @awaited
    async def test_keywords_without_a_word_find_nothing(self) -> None:
        index = await self.open()
        await index.apply(additions(make_entry("org.example/mail", "-._/ !? 🙂 \x00")))
        for keywords in ("", " \t\n", "-._/", "!?…。、", "\x00", "\ud800", "🙂"):
            assert await index.search(Query(keywords)) == Page(hits_of(()))

    @awaited
    async def test_hostile_keywords_raise_no_error(self) -> None:
        index = await self.open()
        # No entry holds a lone surrogate: it is not JSON (RFC 7493).
        texts = (words.replace("\ud800", "?").replace("\udfff", "?") for words in HOSTILE)
        await index.apply(additions(*(make_entry(f"org.example/{n}", text) for n, text in enumerate(texts))))
        for keywords in HOSTILE:
            await index.search(Query(keywords))

    @settings(max_examples=50, deadline=None, derandomize=True)
    @given(text=st.text(st.characters(), max_size=256))  # type: ignore[arg-type]  # pytest-twisted awaits it
    @awaited
    async def test_any_text_is_indexed_and_searched(self, text: str) -> None:
        index = await self.open()
        await index.apply(additions(make_entry("org.example/mail", text)))
        await index.search(Query(text))
        assert await search_names(index, "mail") == ["org.example/mail"]

    @awaited
    async def test_equal_scores_come_in_the_order_of_their_names(self) -> None:
        index = await self.open()
        names = [f"org.example/{letter}" for letter in "dbaecf"]
        for name in names:
            await index.apply(additions(make_entry(name, "letters", title="Mail")))
        ids = [hit.mcp_id for hit in (await index.search(Query("letters"))).hits]
        assert ids == [mcp_id_of(name) for name in sorted(names)]

    @awaited
    async def test_pages_of_equal_scores_are_contiguous(self) -> None:
        index = await self.open()
        names = [f"org.example/{n * 77 % 200:03}" for n in range(200)]
        for batch in (names[:70], names[70:140], names[140:]):
            await index.apply(additions(*(make_entry(name, "letters", title="Mail") for name in batch)))
        in_order = [mcp_id_of(name) for name in sorted(names)]
        for limit in (1, 7, 50, 199, 200, 201):
            assert [hit.mcp_id for hit in await all_hits(index, "letters", limit)] == in_order

    @settings(max_examples=30, deadline=None, derandomize=True)
    @given(  # type: ignore[arg-type]  # pytest-twisted awaits it
        briefs=st.lists(some_words.map(" ".join), min_size=1, max_size=60),
        keywords=some_words.map(" ".join),
        limit=st.integers(1, 20),
    )
    @awaited
    async def test_pages_are_contiguous(self, briefs: list[str], keywords: str, limit: int) -> None:
        index = await self.open()
        entries = [make_entry(f"org.example/{n * 77 % 101:03}", brief) for n, brief in enumerate(briefs)]
        for start in range(0, len(entries), 25):
            await index.apply(additions(*entries[start : start + 25]))
        await index.apply(removals(*(entry.name for entry in entries[::9])))
        whole = await index.search(Query(keywords, 1000))
        assert whole.next is None
        assert len({hit.mcp_id for hit in whole.hits}) == len(whole.hits)
        assert await all_hits(index, keywords, limit) == list(whole.hits)

    @awaited
    async def test_the_last_full_page_has_no_next(self) -> None:
        index = await self.open()
        await index.apply(additions(*(make_entry(f"org.example/{n}", "letters") for n in range(4))))
        first = await index.search(Query("letters", 2))
        assert first.next is not None
        assert (await index.search(Query("letters", 2, first.next))).next is None
        assert (await index.search(Query("letters", 4))).next is None

    @awaited
    async def test_nothing_follows_the_last_position(self) -> None:
        index = await self.open()
        await index.apply(additions(make_entry("org.example/mail", "letters")))
        assert await index.search(Query("letters", 2, Position(0.0, ""))) == Page(hits_of(()))
        assert len((await index.search(Query("letters", 2, Position(1e9, "")))).hits) == 1


def notes_of(verified: bytes | None = None, texts: bytes | None = None, flags: Iterable[str] = ()) -> tuple[Note, ...]:
    """Return the notes of an entry with these encoded checks and texts, and with flags of these kinds."""
    bodies = {CHECKS: verified, TEXTS: texts}
    return (
        *(Note(kind, body=body) for kind, body in bodies.items() if body is not None),
        *(Note(kind, "same_name") for kind in flags),
    )
