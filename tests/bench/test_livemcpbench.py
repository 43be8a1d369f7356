"""The relevance sets of LiveMCPBench, from made-up files of its form."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from bench import livemcpbench
from bench.catalogue.files import read_entries
from directory_server.domain.entries import PUBLISHER

GITHUB = "https://github.com"


def record(name: str, web: str, command: str, *args: str, tools: Sequence[str]) -> Mapping[str, Any]:
    listing = {"tools": [{"name": tool, "description": f"Does {tool}"} for tool in tools]}
    config = {"mcpServers": {name: {"command": command, "args": args}}}
    return {"name": name, "description": f"About {name}", "web": web, "config": config, "tools": {name: listing}}


def task(question: str, steps: str, tools: str, queries: Sequence[str] = ()) -> Mapping[str, Any]:
    calls = [{"function": {"name": "route", "arguments": json.dumps({"query": query})}} for query in queries]
    calls.append({"function": {"name": "execute-tool", "arguments": "{}"}})
    messages = [{"role": "user", "content": question}, {"role": "assistant", "tool_calls": calls}]
    return {"Question": question, "Annotator Metadata": {"Steps": steps, "Tools": tools}, "messages": messages}


def entry(name: str, url: str, subfolder: str = "", npm: str = "") -> Mapping[str, Any]:
    packages = [{"registryType": "npm", "identifier": npm}] if npm else []
    repository = {"url": url, "source": "github", "subfolder": subfolder}
    text = f"Text of {name}"
    return {
        "server": {
            **{"name": name, "description": text, "version": "1.0.0", "repository": repository, "packages": packages},
            "_meta": {PUBLISHER: {"tools": [{"name": "old"}], "stars": 7}},
        }
    }


SERVERS = [
    record("Maps", f"{GITHUB}/Ann/Maps", "npx", "-y", "@ann/maps@latest", tools=["find_place", "read_file"]),
    record("Files", f"{GITHUB}/org/servers/tree/main/src/files", "uvx", "--from", "x", "files", tools=["read_file"]),
    record("Git", f"{GITHUB}/org/servers/tree/main/src/git", "uvx", "mcp-git==1.0", tools=["git_log"]),
]

TASKS = [
    task(
        "Where is the file?", "1. Read the file \n2. find the place", "1. read_file\n2. find_place", ["places", "maps"]
    ),
    task("Who wrote it?", "1. read the log\n2. answer", "1. git_log", ["log"]),
    task("Read the file again", "1. Read the file", "1. find_place", ["places"]),
    task("Nobody knows", "1. ask", "1. unknown_tool", ["nothing"]),
]

ENTRIES = [
    entry("com.other/fork", f"{GITHUB}/other/fork", npm="@ann/maps"),
    entry("io.github.ann/maps", f"{GITHUB}/ann/maps.git", npm="@ann/maps"),
    entry("io.github.org/all", f"{GITHUB}/org/servers"),
    entry("io.github.org/git", f"{GITHUB}/org/servers", "src/git"),
    entry("com.no/repository", ""),
]

KINDS = {"tasks": "3", "steps": "2", "routes": "3"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    for name, value in {livemcpbench.TASKS: TASKS, livemcpbench.TOOLS: SERVERS, livemcpbench.RUN: TASKS}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(value))
    return folder


def test_sets_have_the_servers_of_the_annotated_tools(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    entries, out = tmp_path / "entries.jsonl.gz", tmp_path / "sets" / "lm"
    entries.write_bytes(gzip.compress("\n".join(map(json.dumps, ENTRIES)).encode()))
    monkeypatch.setattr("sys.argv", ["livemcpbench", str(checkout), "--entries", str(entries), "--out", str(out)])
    livemcpbench.main()
    printed = capsys.readouterr().out
    assert "2 of 3 servers" in printed
    counts = dict(line.split()[:2] for line in printed.splitlines() if "_" in line)
    assert counts == {f"{kind}_{form}": n for form in ("whole", "own") for kind, n in KINDS.items()}

    maps, git = {"com.other/fork", "io.github.ann/maps"}, {"io.github.org/git"}
    tasks = {"Where is the file?": maps, "Who wrote it?": git, "Read the file again": maps}
    assert names_of(out / "tasks_whole.jsonl") == tasks
    assert names_of(out / "steps_whole.jsonl") == {"Read the file": maps, "find the place": maps}
    assert names_of(out / "routes_whole.jsonl") == {"places": maps, "maps": maps, "log": git}
    own_maps, files = {"io.github.ann/maps"}, {"io.github.org/servers-files"}
    assert names_of(out / "steps_own.jsonl") == {"Read the file": own_maps | files, "find the place": own_maps}

    own = {entry.name: entry for entry in read_entries(out / "own_catalogue.json")}
    assert set(own) == own_maps | files | git
    assert [tool.name for tool in own["io.github.ann/maps"].tools] == ["find_place", "read_file"]
    assert own["io.github.ann/maps"].publisher["stars"] == 7
    assert own["io.github.org/servers-files"].brief == "About Files"


def test_a_missing_file_is_named(checkout: Path) -> None:
    (checkout / livemcpbench.RUN).unlink()
    with pytest.raises(SystemExit, match=f"has no file {livemcpbench.RUN}"):
        livemcpbench.read_json(checkout, livemcpbench.RUN)


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_a_git_directory_is_read(checkout: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    author = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    for arguments in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "files"]):
        subprocess.run(["git", *arguments], cwd=checkout, check=True)
    subprocess.run(["git", "clone", "-q", "--bare", str(checkout), str(bare)], check=True)
    assert livemcpbench.read_json(bare, livemcpbench.TOOLS)[0]["name"] == "Maps"


def names_of(path: Path) -> Mapping[str, set[str]]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert all(set(row["grades"].values()) == {3} and row["language"] == "en" for row in rows)
    return {row["query"]: set(row["grades"]) for row in rows}
