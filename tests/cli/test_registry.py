"""`directory-server registry token`: output and effect of each command."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from directory_server.command_line import main


def run(folder: Path, *arguments: str, access: str = "secret-path") -> tuple[str, str]:
    result = CliRunner().invoke(
        main, ["--data-dir", str(folder), "--set", f"registry.access={access}", "registry", "token", *arguments]
    )
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


def test_tokens_are_created_listed_and_revoked(tmp_path: Path) -> None:
    url, message = run(tmp_path, "create", "--label", "editors")
    assert url.startswith("http://127.0.0.1:8080/r/")
    token = message.split()[2]
    assert "shown only once" in message
    listed, _ = run(tmp_path, "list")
    assert listed.splitlines()[1].split()[:3] == [token, "editors", url.strip()[-4:]]
    run(tmp_path, "revoke", token)
    assert run(tmp_path, "list")[0].split()[-1] == "revoked"


def test_url_of_a_token_begins_with_the_url_of_the_settings(tmp_path: Path) -> None:
    settings = ["--data-dir", str(tmp_path), "--set", "web.url=https://directory.example.org/"]
    result = CliRunner().invoke(main, [*settings, "registry", "token", "create", "--label", "editors"])
    assert result.stdout.startswith("https://directory.example.org/r/")


def test_create_warns_when_another_access_mode_ignores_tokens(tmp_path: Path) -> None:
    _, message = run(tmp_path, "create", "--label", "editors", access="off")
    assert "has no effect yet" in message


def test_list_as_json(tmp_path: Path) -> None:
    run(tmp_path, "create", "--label", "team")
    (shown,) = json.loads(run(tmp_path, "list", "--json")[0])
    assert shown["label"] == "team"
    assert shown["created_at"].endswith("Z")
