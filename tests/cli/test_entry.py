"""`directory-server entry`: output and effect of each command; syncs do not revert them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from attrs import frozen
from click.testing import CliRunner

from directory_server.command_line import main
from directory_server.domain.entries import OFFICIAL, Entry, mcp_id_of
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.search import TextAnalysis
from directory_server.sqlite import Database, sqlite_store
from directory_server.tables import StoredEntries

from ..contract.store import entry

NAME = "com.example/mail"


@frozen
class Directory:
    """A data directory with one upstream, and the command on it."""

    data: Path
    store: StoredEntries

    def run(self, *arguments: str, stdin: str | None = None) -> str:
        result = CliRunner().invoke(main, ["--data-dir", str(self.data), "entry", *arguments], input=stdin)
        assert result.exit_code == 0, result.output
        return result.stdout

    def fail(self, *arguments: str, stdin: str | None = None) -> str:
        result = CliRunner().invoke(main, ["--data-dir", str(self.data), "entry", *arguments], input=stdin)
        assert result.exit_code in (1, 2)
        assert isinstance(result.exception, SystemExit), result.exception
        return result.stderr.splitlines()[-1]

    def sync(self, *entries: Entry) -> None:
        """Store `entries` as a sync run of the upstream does."""
        run_sync(self.store.publish("official", entries))

    def visible(self, name: str = NAME) -> Entry | None:
        """Return the visible entry called `name`."""
        return run_sync(self.store.entry(mcp_id_of(name)))


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Directory]:
    with closing(Database(tmp_path / "data", "directory")) as database:
        yield Directory(tmp_path / "data", sqlite_store(database, inline, TextAnalysis(), ["official"]))


def flags(directory: Directory) -> dict[str, str]:
    """Return the flags of each name in the list."""
    _, *rows = directory.run("list").splitlines()
    return dict(row.split(maxsplit=1) for row in rows)


def server(name: str = NAME, **more: object) -> str:
    return json.dumps({"name": name, "version": "1.0.0", "description": "Local.", **more})


def test_local_entry_overrides_the_upstream_entry(directory: Directory) -> None:
    directory.sync(entry(NAME, "9.0.0"))
    assert directory.run("add", "-", stdin=server()) == f"{NAME} 1.0.0: added\n"
    directory.sync(entry(NAME, "10.0.0", "Upstream."))
    found = directory.visible()
    assert found is not None
    assert (found.version, found.brief) == ("1.0.0", "Local.")
    assert flags(directory) == {NAME: "local"}
    assert directory.run("remove", NAME) == f"{NAME}: removed\n"
    assert directory.visible() == entry(NAME, "10.0.0", "Upstream.")
    assert directory.fail("remove", NAME) == f"Error: There is no local entry called '{NAME}'."


def test_edited_entry_stays_official_or_unofficial(directory: Directory) -> None:
    for is_official in (False, True):
        directory.sync(Entry(entry(NAME).server, {OFFICIAL: {"status": "active"}}, is_official))
        directory.run("edit", NAME, "--set=title=Mail")
        found = directory.visible()
        assert found is not None
        assert (found.title, found.is_official) == ("Mail", is_official)
        directory.run("remove", NAME)


def test_edit_sets_and_removes_fields(directory: Directory) -> None:
    directory.sync(Entry({"name": NAME, "version": "1.0.0", "description": "", "websiteUrl": "x"}, {"a/b": {"c": 1}}))
    output = directory.run(
        "edit",
        NAME,
        "--set=title=Mail",
        "--set=websiteUrl=",
        "--set=repository.url=https://a.example/?a=b",
        '--set=remotes=[{"type": "sse"}]',
    )
    assert output == f"{NAME} 1.0.0: added\n"
    directory.sync(entry(NAME, "2.0.0"))
    found = directory.visible()
    assert found is not None
    assert found.server == {
        "name": NAME,
        "version": "1.0.0",
        "description": "",
        "title": "Mail",
        "repository": {"url": "https://a.example/?a=b"},
        "remotes": [{"type": "sse"}],
    }
    assert found.meta == {"a/b": {"c": 1}}


def test_edit_replaces_an_entry_by_a_file(directory: Directory) -> None:
    directory.sync(entry(NAME, isLatest=True))
    assert directory.run("edit", NAME, "-", stdin=server(title="Mail")) == f"{NAME} 1.0.0: added\n"
    found = directory.visible()
    assert found is not None
    assert (found.title, OFFICIAL in found.meta) == ("Mail", False)


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (["edit", NAME], None, "Error: Give either a FILE or --set."),
        (["edit", NAME, "-", "--set=a=b"], None, "Error: Give either a FILE or --set."),
        (["edit", "x/none", "--set=a=b"], None, "Error: No entry is called 'x/none'."),
        (["edit", NAME, "--set=title"], None, "Error: 'title': must be FIELD=VALUE."),
        (["edit", NAME, "--set=version.a=b"], None, "Error: version.a: version is not an object."),
        (["edit", NAME, "--set=version="], None, "Error: server.version: is required."),
        (["edit", NAME, "--set=remotes=[1"], None, "Error: remotes: '[1' begins like JSON but is not valid JSON."),
        (["edit", NAME, "--set=name=x/b"], None, "Error: name: cannot be changed; add a new entry instead."),
        (
            ["edit", NAME, "-"],
            server("x/b"),
            f"Error: The file must contain exactly one entry, called '{NAME}'.",
        ),
        (["add", "-"], '{"name": "x/b"}', "Error: -:1: server.version: is required."),
        (["add", "none.json"], None, "Error: none.json: The file cannot be read: No such file or directory."),
    ],
)
def test_invalid_arguments_are_reported(
    directory: Directory, arguments: list[str], stdin: str | None, message: str
) -> None:
    directory.sync(entry(NAME))
    assert directory.fail(*arguments, stdin=stdin).startswith(message)
    assert directory.visible() == entry(NAME)


def test_hidden_entry_stays_hidden_until_it_is_shown(directory: Directory) -> None:
    directory.sync(entry(NAME))
    assert directory.run("hide", NAME, "x/other") == (
        f"{NAME}: hidden\nx/other: hidden (no entry has this name at the moment)\n"
    )
    assert directory.run("hide", NAME) == f"{NAME}: unchanged\n"
    directory.sync(entry(NAME, "2.0.0"), entry("x/other"))
    assert (directory.visible(), directory.visible("x/other")) == (None, None)
    assert flags(directory) == {NAME: "hidden", "x/other": "hidden"}
    assert directory.run("unhide", NAME) == f"{NAME}: not hidden\n"
    assert directory.visible() == entry(NAME, "2.0.0")


def test_curation_flags_are_set_and_cleared(directory: Directory) -> None:
    directory.sync(entry(NAME))
    assert directory.run("pin", NAME) == f"{NAME}: pinned\n"
    assert directory.run("allow", NAME) == f"{NAME}: allowed\n"
    directory.sync(entry(NAME, "2.0.0"))
    assert flags(directory) == {NAME: "pinned, allowed"}
    assert directory.run("unpin", NAME) == f"{NAME}: not pinned\n"
    assert directory.run("disallow", NAME) == f"{NAME}: not allowed\n"
    assert flags(directory) == {}


def test_list_is_a_table_or_json(directory: Directory) -> None:
    directory.sync(Entry(entry("com.example/other").server))
    directory.run("add", "-", stdin=server())
    directory.run("pin", NAME)
    directory.run("hide", "com.example/other")
    assert [line.split(maxsplit=1) for line in directory.run("list").splitlines()] == [
        ["NAME", "FLAGS"],
        [NAME, "local, pinned"],
        ["com.example/other", "hidden"],
    ]
    none = {"local": False, "published": False, "hidden": False, "pinned": False, "allowed": False, "rule": ""}
    assert json.loads(directory.run("list", "--json")) == [
        {"name": NAME, **none, "local": True, "pinned": True},
        {"name": "com.example/other", **none, "hidden": True},
    ]


def test_show_prints_the_detail_of_a_name_or_an_id(directory: Directory) -> None:
    directory.run("add", "-", stdin=server())
    by_name = json.loads(directory.run("show", NAME))
    assert by_name["source"] == "local"
    assert (by_name["server_name"], by_name["brief"]) == (NAME, "Local.")
    assert json.loads(directory.run("show", mcp_id_of(NAME))) == by_name
    assert directory.fail("show", "com.example/none") == "Error: No visible entry is called 'com.example/none'."
    directory.run("hide", NAME)
    assert directory.fail("show", NAME) == f"Error: No visible entry is called '{NAME}'."


def test_search_prints_the_hits_that_clients_get(directory: Directory) -> None:
    directory.sync(
        Entry(entry("com.example/mail", description="Reads mail.").server),
        Entry(entry("com.example/maps", description="Shows maps.").server),
    )
    found = json.loads(directory.run("search", "--json", "read", "mail"))
    assert found[0]["mcp_id"] == mcp_id_of("com.example/mail")
    assert set(found[0]) == {"mcp_id", "name", "brief", "website_url"}
    assert directory.run("search", "mail", "--limit", "1").splitlines()[0].split() == ["NAME", "BRIEF", "MCP_ID"]
    assert directory.run("search", "zzzqqq").splitlines() == ["NAME  BRIEF  MCP_ID"]
    nothing = CliRunner().invoke(main, ["--data-dir", str(directory.data), "entry", "search", "zzzqqq"])
    assert nothing.stderr == "No entry matches.\n"
    assert directory.fail("search", "x" * 4_097).startswith("Error: keywords: ")


def test_a_word_with_a_hyphen_is_excluded_after_two_hyphens(directory: Directory) -> None:
    for name, description in (("com.example/mail", "Postgres backups."), ("com.example/maps", "Postgres maps.")):
        directory.run("add", "-", stdin=server(name, description=description))
    found = json.loads(directory.run("search", "--json", "--", "postgres", "-maps"))
    assert [each["mcp_id"] for each in found] == [mcp_id_of("com.example/mail")]
    assert "Write -- before them" in " ".join(directory.run("search", "--help").split())
