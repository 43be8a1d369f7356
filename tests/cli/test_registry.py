from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from directory_server.cli.main import main


def run(folder: Path, *arguments: str, access: str = "secret-path") -> tuple[str, str]:
    done = CliRunner().invoke(
        main, ["--data-dir", str(folder), "--set", f"registry.access={access}", "registry", "token", *arguments]
    )
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


def test_tokens_are_made_listed_and_revoked(tmp_path: Path) -> None:
    url, said = run(tmp_path, "create", "--label", "editors")
    assert url.startswith("http://127.0.0.1:8080/r/")
    token = said.split()[2]
    assert "shown only once" in said
    listed, _ = run(tmp_path, "list")
    assert listed.splitlines()[1].split()[:3] == [token, "editors", url.strip()[-4:]]
    run(tmp_path, "revoke", token)
    assert run(tmp_path, "list")[0].split()[-1] == "revoked"


def test_the_url_of_a_token_begins_with_the_one_that_is_set(tmp_path: Path) -> None:
    settings = ["--data-dir", str(tmp_path), "--set", "web.url=https://directory.example.org/"]
    done = CliRunner().invoke(main, [*settings, "registry", "token", "create", "--label", "editors"])
    assert done.stdout.startswith("https://directory.example.org/r/")


def test_create_warns_when_another_access_mode_ignores_tokens(tmp_path: Path) -> None:
    _, said = run(tmp_path, "create", "--label", "editors", access="off")
    assert "has no effect yet" in said
