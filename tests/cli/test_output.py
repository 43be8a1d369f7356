"""Lists in the output of the commands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from weakref import ref

import pytest
from twisted.internet.task import Clock

from directory_server.cli import output, resource_command
from directory_server.cli.output import Record, print_listing

from .conftest import CommandLine


@pytest.mark.parametrize("command", [["key", "list"], ["account", "list"]])
def test_long_lists_are_read_in_pages(
    directory: CommandLine, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    names = [f"user{number}@{'a' * number}.example" for number in range(1, 8)]
    for name in names:
        directory.succeed("account", "add", name)
        directory.succeed("key", "create", "--label", name)
    whole, whole_json = directory.succeed(*command), directory.succeed(*command, "--json")
    monkeypatch.setattr(resource_command, "PAGE", 3)
    monkeypatch.setattr(output, "SPOOLED", 100)
    assert (directory.succeed(*command), directory.succeed(*command, "--json")) == (whole, whole_json)
    assert json.dumps(json.loads(whole_json), indent=2) + "\n" == whole_json
    label = "label" if command[0] == "key" else "email"
    assert [record[label] for record in json.loads(whole_json)] == names
    lines = whole.splitlines()
    assert [next(name for name in names if f"{name} " in line) for line in lines[1:]] == names


class ListedText(dict[str, str]):
    """A record that weak references can refer to."""


@pytest.mark.parametrize("as_json", [False, True])
def test_records_of_a_list_are_not_kept(capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    listed: list[ref[ListedText]] = []

    def records() -> Iterator[Record]:
        for number in range(20):
            record = ListedText(text=f"record {number}")
            listed.append(ref(record))
            yield record
            assert sum(each() is not None for each in listed) <= 2

    print_listing(records(), {"TEXT": lambda record: record["text"]}, as_json)
    assert capsys.readouterr().out.count("record") == len(listed) == 20


def test_an_empty_list_is_an_empty_array(directory: CommandLine) -> None:
    assert directory.succeed("key", "list", "--json") == "[]\n"


def test_progress_without_a_terminal_is_a_line_every_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    show = output._progress_lines("Importing", 200, clock.seconds)
    for position in range(0, 200, 10):
        show(position, label=f"Importing, {position} entries")
        clock.advance(1.5)
    assert capsys.readouterr().err == (
        "Importing, 70 entries: 35%, about 20 seconds left\nImporting, 140 entries: 70%, about 9 seconds left\n"
    )
    clock.advance(10)
    show(7, label="first: 7 entries", length=None)
    assert capsys.readouterr().err == "first: 7 entries\n"
