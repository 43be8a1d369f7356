"""`directory-server import`: output, rejected entries and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

from directory_server.domain.entries import OFFICIAL, Entry, mcp_id_of
from directory_server.runtime.run_sync import run_sync

from .conftest import CommandLine, entry_line


def report(output: str) -> str:
    """Return the line with the numbers of entries."""
    return output.splitlines()[0]


def test_import_says_what_its_source_means(directory: CommandLine) -> None:
    entries = entry_line("a.example/one", "From a file.")
    run_sync(directory.store.publish("up", [Entry(json.loads(entry_line("a.example/one", "Mirrored.")))]))

    def shown() -> str:
        return str(json.loads(directory.succeed("entry", "show", "a.example/one"))["source"])

    output = directory.succeed("import", "-", stdin=entries)
    assert output.splitlines()[1].startswith("Source imported: entries of upstreams with the same names are shown")
    assert shown() == "up"
    output = directory.succeed("import", "--own", "-", stdin=entries)
    assert output.splitlines()[1].startswith("Source local: these entries are your own.")
    assert shown() == "local"
    directory.succeed("entry", "remove", "a.example/one")
    assert shown() == "up"
    # Without an entry there is nothing to say.
    assert len(directory.run("import", "-", stdin="[]").stdout.splitlines()) == 1


def test_import_counts_added_changed_and_unchanged_entries(directory: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "entries.jsonl"
    file.write_text(entry_line("a.example/one") + entry_line("a.example/two"))
    assert report(directory.succeed("import", str(file))) == "2 added, 0 changed, 0 unchanged, 0 rejected."
    changed = entry_line("a.example/one") + entry_line("a.example/two", "Another one.") + entry_line("a.example/three")
    assert report(directory.succeed("import", "-", stdin=changed)) == "1 added, 1 changed, 1 unchanged, 0 rejected."
    again = directory.succeed("import", str(file), "-", stdin=entry_line("a.example/two"))
    assert report(again) == "0 added, 1 changed, 2 unchanged, 0 rejected."
    assert report(directory.succeed("import", str(file))).endswith(" Nothing has changed.")
    assert directory.entries() == 3


def test_import_trusts_official_marks_only_with_the_option(directory: CommandLine, tmp_path: Path) -> None:
    server = json.loads(entry_line("x/a"))
    file = tmp_path / "list.json"
    file.write_text(json.dumps({"servers": [{"server": server, "_meta": {OFFICIAL: {"status": "active"}}}]}))
    for options, official in (((), False), (("--official",), True), ((), False)):
        directory.succeed("import", *options, str(file))
        entry = run_sync(directory.store.entry(mcp_id_of("x/a")))
        assert entry is not None
        assert entry.is_official == official


def test_rejected_entry_does_not_stop_the_import(directory: CommandLine) -> None:
    result = directory.run(
        "import", "-", stdin=entry_line("a.example/one") + '{"name": 1}\n' + entry_line("a.example/two")
    )
    assert result.exit_code == 0
    assert report(result.stdout) == "2 added, 0 changed, 0 unchanged, 1 rejected."
    assert result.stderr == "rejected -:2: server.name: must be a string.\n"


def test_parts_that_cannot_be_read_are_named(directory: CommandLine) -> None:
    package = {
        "registryType": "npm",
        "identifier": "a",
        "environmentVariables": [{"TRANSPORT": "stdio"}, "TOKEN", {"name": "A"}],
    }
    members = {"packages": [package], "remotes": [{"transportType": "sse", "url": "https://a.example"}], "icons": None}
    server = {"name": "a.example/one", "version": "1", "description": "d", **members}
    result = directory.run("import", "-", stdin=entry_line("a.example/two") + json.dumps(server) + "\n")
    assert report(result.stdout) == "2 added, 0 changed, 0 unchanged, 0 rejected."
    assert result.stderr.splitlines() == [
        f"warning -:2: a.example/one: {part}; this part cannot be read"
        for part in (
            "remotes[0] has no type",
            "packages[0].environmentVariables[0] has no name",
            "packages[0].environmentVariables[1] is of the wrong type",
        )
    ]


def test_import_fails_if_a_file_has_only_rejected_entries(directory: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "good.json").write_text(entry_line("a.example/one"))
    (tmp_path / "bad.json").write_text('{"name": 1}\n{"name": 2}\n')
    result = directory.run("import", "good.json", "bad.json")
    assert (result.exit_code, report(result.stdout)) == (1, "1 added, 0 changed, 0 unchanged, 2 rejected.")
    (tmp_path / "empty.json").write_text("[]")
    assert directory.run("import", "good.json", "empty.json").exit_code == 0


def test_unreadable_file_is_reported_and_others_are_imported(directory: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(entry_line("a.example/one"))
    result = directory.run("import", "missing.json", "one.json")
    assert result.exit_code == 1
    assert report(result.stdout) == "1 added, 0 changed, 0 unchanged, 1 rejected."
    assert result.stderr == "rejected missing.json: The file cannot be read: No such file or directory.\n"


def test_rejections_above_the_maximum_are_counted(directory: CommandLine) -> None:
    result = directory.run("import", "-", stdin='{"name": 1}\n' * 1001)
    assert len(result.stderr.splitlines()) == 1001
    assert result.stderr.splitlines()[-1] == "… and 1 more rejected"
    assert result.stdout == "0 added, 0 changed, 0 unchanged, 1,001 rejected. Nothing has changed.\n"
