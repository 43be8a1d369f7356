"""Rules of look-alikes, and the finder that applies them to all entries."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from directory_server.domain.entries import OFFICIAL, PUBLISHER, Entry
from directory_server.features.lookalikes.finder import COMMON, MAX_ALIKE, Finder
from directory_server.features.lookalikes.names import edit_keys, edit_lookups, fold, is_one_edit, name_of, skeleton
from directory_server.features.lookalikes.rules import POPULAR, subject_of


def entry(name: str, published: str = "", stars: int | None = None, **server: Any) -> Entry:
    """Return an entry, of the official registry if it has a date."""
    meta = {OFFICIAL: {"publishedAt": published}} if published else {}
    data = {} if stars is None else {"_meta": {PUBLISHER: {"stars": stars}}}
    return Entry({"name": name, "version": "1", "description": "", **data, **server}, meta, bool(published))


def found(*entries: Entry) -> Mapping[str, Mapping[str, str]]:
    finder = Finder()
    finder.put({each.name: subject_of(each) for each in entries})
    return {name: originals for name in finder if (originals := finder.originals(name))}


def npm(identifier: str) -> dict[str, Any]:
    return {"packages": [{"registryType": "npm", "identifier": identifier}]}


def remote(url: str) -> dict[str, Any]:
    return {"remotes": [{"type": "streamable-http", "url": url}]}


POSTGRES = "io.github.crystaldba/postgres-mcp"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("io.github.crystaldba/postgres_mcp", "duplicate_name"),
        ("io.github.CrystalDBA/PostgresMCP", "duplicate_name"),
        ("io.github.crystaldba/postgres.mcp", "duplicate_name"),
        ("io.github.crystal-dba/postgres-mcp", "same_name"),
        ("io.github.crystaldba/p0stgres-mcp", ""),
        ("io.github.crysta1dba/postgres-mcp", "same_name"),
        ("io.github.crуstaldba/postgres-mcp", "confusable"),  # Cyrillic у
        ("io.github.crystaldba/рostgres-mcp", "confusable"),  # Cyrillic р
        ("io.github.crystalddba/postgres-mcp", "misspelt_owner"),
        ("io.github.crsytaldba/postgres", "misspelt_owner"),
        ("io.github.somebody/postgers-mcp", "misspelt_product"),
        ("io.github.somebody/mcp-posgres", ""),  # shorter than MIN_PRODUCT
        ("io.github.crystaldba-official/postgres-mcp", "claims_publisher"),
        ("io.github.crystaldba/postgres-official-mcp", ""),  # the publisher itself
        ("io.github.somebody/postgres-mcp", ""),
        ("io.github.somebody/mysql-mcp", ""),
    ],
)
def test_a_newcomer_resembles_a_popular_entry(name: str, reason: str) -> None:
    original = entry(POSTGRES, "2025-01-01T00:00:00Z", stars=POPULAR)
    result = found(original, entry(name))
    assert result == ({name: {POSTGRES: reason}} if reason else {})


def test_a_product_with_many_owners_is_no_misspelling() -> None:
    original = entry("io.github.datalayer/jupyterlab-mcp", stars=5_000)
    copies = [entry(f"io.github.owner{each}/jupiterlab-mcp") for each in "abc"]
    assert found(original, *copies[:1]) == {copies[0].name: {original.name: "misspelt_product"}}
    assert found(original, *copies) == {}


def test_a_misspelling_is_not_the_name_of_its_owner() -> None:
    original = entry("io.github.pab1it0/prometheus-mcp", stars=5_000)
    assert found(original, entry("io.github.promptheus/promptheus-mcp")) == {}
    assert found(original, entry("io.github.somebody/promptheus-mcp")) != {}


def test_plurals_and_prefixes_are_no_misspellings() -> None:
    original = entry("io.github.xing5/google-spreadsheet", stars=5_000)
    for name in ("google-spreadsheets", "google-xspreadsheet", "google-spreadsheet2"):
        assert found(original, entry(f"io.github.somebody/{name}")) == {}


@pytest.mark.parametrize(
    ("original", "copy"),
    [
        # The namespace of the vendor, which says more than a date.
        (entry("com.bill/bill-mcp", "2026-06-01T00:00:00Z"), entry("com.bi1l/bill-mcp", "2025-01-01T00:00:00Z")),
        (entry("io.github.bill/x.mcp", "2025-06-01T00:00:00Z"), entry("io.github.bi1l/x.mcp", stars=9_000)),
    ],
)
def test_the_original_is_the_vendor_then_the_proven(original: Entry, copy: Entry) -> None:
    assert found(copy, original) == {copy.name: {original.name: "same_name"}}


def test_of_two_proven_entries_the_first_published_is_the_original() -> None:
    old, new = entry("io.bill/tool-x", "2025-01-01T00:00:00Z"), entry("io.bi11/toolx", "2025-02-01T00:00:00Z", stars=9)
    assert found(new, old) == {new.name: {old.name: "same_name"}}


def test_of_other_entries_the_one_with_more_stars_is_the_original() -> None:
    few, many = entry("io.bill/tool-x", stars=3), entry("io.bi11/toolx", stars=4)
    assert found(few, many) == {few.name: {many.name: "same_name"}}


DATE, LATER = "2025-01-01T00:00:00Z", "2025-02-01T00:00:00Z"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        # What an owner publishes under several names is neither a look-alike nor a duplicate.
        (entry("io.acme/mail-1", DATE), entry("io.acme/mail-l", LATER), {}),
        (entry("io.acme/git_hub", DATE), entry("io.Acme/git-hub", LATER), {}),
        (entry("io.github.Acme/x", DATE), entry("io.github.acme/x", LATER), {}),
        (entry("com.acme/mail-0", DATE), entry("com.acme.eu/mail-o", LATER), {}),
        # Lists of other sources have the same server again.
        (entry("app.linear/linear", DATE), entry("app.linear/Linear"), {"app.linear/Linear": "duplicate_name"}),
        (entry("io.a/tool-x", stars=4), entry("io.a/toolx", stars=3), {"io.a/toolx": "duplicate_name"}),
        (
            entry("io.github.PostHog/mcp", DATE),
            entry("io.github.posthog/m.c_p"),
            {"io.github.posthog/m.c_p": "duplicate_name"},
        ),
        (entry("io.a/mail-1", DATE), entry("io.a/mail-l"), {}),
        # Other owners.
        (entry("io.github.a-b/x", DATE), entry("io.github.ab/x", LATER), {"io.github.ab/x": "same_name"}),
        (entry("io.github.a1/x", DATE), entry("io.github.al/x", LATER), {"io.github.al/x": "same_name"}),
        (entry("io.github.k/x", DATE), entry("io.github.\u212a/x"), {"io.github.\u212a/x": "confusable"}),
    ],
)
def test_names_of_one_owner_are_no_lookalikes(one: Entry, other: Entry, expected: Mapping[str, str]) -> None:
    assert found(one, other) == {name: {one.name: reason} for name, reason in expected.items()}


def test_the_same_package_and_remote_of_another_publisher() -> None:
    old = entry("io.a/x", stars=5, **npm("the-tool"))
    assert found(old, entry("io.b/y", **npm("The-Tool"))) == {"io.b/y": {"io.a/x": "same_package"}}
    assert found(old, entry("io.a/y", **npm("the-tool"))) == {}
    assert found(old, entry("io.b/y", packages=[{"registryType": "pypi", "identifier": "the-tool"}])) == {}
    site = entry("io.a/x", stars=5, **remote("https://x.example/mcp/"))
    assert found(site, entry("io.b/y", **remote("https://X.example/mcp"))) == {"io.b/y": {"io.a/x": "same_remote"}}
    assert found(site, entry("io.b/y", **remote("https://x.example/mcp?user=2"))) == {}


def test_a_common_launcher_is_no_reason() -> None:
    entries = [entry(f"io.owner{number}/x{number}", **npm("mcp-remote")) for number in range(COMMON)]
    assert len(found(*entries[:-1])) == COMMON - 2
    assert found(*entries) == {}


def test_a_host_that_users_fill_in_is_no_reason() -> None:
    assert found(*(entry(f"io.{each}/x{each}", **remote("https://{host}/mcp")) for each in "ab")) == {}


def test_subdomains_of_one_domain_are_one_publisher() -> None:
    assert found(entry("aws.api.us-east-1.ecs-mcp/server"), entry("aws.api.us-east-1.eks-mcp/server")) == {}


def test_changes_find_the_same_as_all_entries() -> None:
    random = Random(7)
    words = ["postgres", "postgers", "slack", "github", "tool-x", "toolx", "ToolX", "official-tool-x", "xyzzyplugh"]
    owners = ["io.github.crystaldba", "io.github.crystalddba", "com.acme", "io.github.acme-official", "io.github.bob"]
    finder, known = Finder(), dict[str, Entry]()
    flags: dict[str, Mapping[str, str]] = {}
    for _ in range(300):
        name = f"{random.choice(owners)}/{random.choice(words)}"
        stars = random.choice([None, 5, 600, 90_000])
        if name in known and random.random() < 0.4:
            del known[name]
        else:
            known[name] = entry(name, random.choice(["", "2025-01-01T00:00:00Z"]), stars, **npm(random.choice("abc")))
        subject = subject_of(known[name]) if name in known else None
        for each in finder.update({name: subject}):
            flags[each] = finder.originals(each)
    assert {name: each for name, each in flags.items() if each} == found(*known.values())
    finder.update(dict.fromkeys(known))
    assert not finder._names
    assert len(finder) == 0


def test_names_of_a_crowded_key_cost_little() -> None:
    crowd = [entry(f"io.{number}/x{number}", **npm("one")) for number in range(2 * MAX_ALIKE)]
    finder = Finder()
    finder.put({each.name: subject_of(each) for each in crowd})
    assert len(finder.update({"io.1/x1": subject_of(crowd[1])})) == 1


def test_the_fold_is_that_of_pypi() -> None:
    assert fold("io.8Bit/Grok_MCP-1") == fold("lo.8blt/grokmcpI")
    assert skeleton("аррlе") == "apple"  # Cyrillic а and р
    assert skeleton("日本") == "日本"


def test_one_edit_and_its_keys() -> None:
    random, letters = Random(3), "abcd"
    for _ in range(3_000):
        word = "".join(random.choices(letters, k=random.randint(7, 12)))
        place, kind = random.randrange(len(word)), random.randrange(4)
        if kind == 3 and place + 1 < len(word):
            changed = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
        else:
            changed = word[:place] + ("", "z", "z" + word[place], "")[kind] + word[place + 1 :]
        assert is_one_edit(word, changed) is (word != changed)
        assert is_one_edit(changed, word) is (word != changed)
        assert set(edit_keys(word)).intersection(edit_lookups(changed))
    assert not is_one_edit("postgres", "postgr")
    assert not is_one_edit("abcd", "badc")


def test_parts_of_names() -> None:
    name = name_of("io.github.GoogleCloud/GithubMCPServer2")
    assert (name.owner, name.product) == ("googlecloud", "github2")
    assert name_of("com.stripe/mcp").product == ""
    assert name_of("com.stripe/mcp").owner == "stripe"
    assert name_of("nonamespace").product == "nonamespace"
