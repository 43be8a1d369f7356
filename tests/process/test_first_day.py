"""The first day of a company: sign-in with its issuer, lists of two groups, an approved entry, policy and proof.

All parts are real: an issuer and a server in processes of their own, the SDK's OAuth client, and the command.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from directory_server.client_config._keys import deployed_key
from directory_server.domain.entries import mcp_id_of

from .conftest import MCP, TIMEOUT, Installation, Server, environment, until
from .issuers import VERIFIED, new_browser, run_issuer, serve_with, sign_in

pytestmark = pytest.mark.process

SETTINGS = """
[accounts]
passwords = false
[audit]
enabled = true
key_file = "{key}"
[lists]
enabled = true
[quota]
limit = 10000
[managed_settings]
enabled = true
[registry]
access = "key"
"""

REQUESTS = "/account/requests"

DATABASE, WANTED, DESIGN = "io.github.crystaldba/postgres-mcp", "app.linear/linear", "com.figma.mcp/mcp"


def listed(server: Server, key: str, name: str, search: str = "") -> list[str]:
    """Return the names of the servers in a list, as an editor's gallery reads them."""
    response = server.request(f"/r/{name}/v0.1/servers?limit=100&search={search}", key)
    return [item["server"]["name"] for item in response.json["servers"]] if response.status == 200 else []


def found(server: Server, key: str, keywords: str) -> list[str]:
    """Return the ids of the hits of a search."""
    return [hit["mcp_id"] for hit in server.search(f"{keywords}&fields=mcp_id", key).json["data"]]


def sdk_client(url: str, keywords: str) -> Any:
    """Search with the client of the Python SDK, which signs in by OAuth; return its results."""
    script = Path(__file__).with_name("sdk_oauth_client.py")
    command = [sys.executable, str(script), url, keywords]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_first_day_of_a_company(installation: Installation) -> None:
    key_file = installation.folder / "audit.key"
    key_file.write_text("a secret of the auditors, in another place\n")
    installation.command("quickstart")
    settings = SETTINGS.format(key=key_file)
    with run_issuer() as issuer, serve_with(installation, issuer, settings=settings) as server:

        def operator(*arguments: object) -> str:
            return installation.command("--config", installation.folder / "server.toml", *arguments)

        # Two lists for the groups of the issuer.
        for group in ("data", "design"):
            operator("lists", "group", "add", group, "--claim", f"cn={group}", "--issuer", issuer.url)
        operator("lists", "put", "data", "--rule", "category:databases", "--group", "data")
        operator("lists", "put", "design", "--group", "design")
        operator("lists", "pick", "design", DESIGN)

        # Ann signs in. Her browser's key, and the OAuth client that acts for her, see what she sees.
        issuer.set(claims={**VERIFIED, "sub": "ann", "groups": ["cn=data"]}, token={"sub": "ann"})
        ann = new_browser()
        sign_in(ann, server, issuer)
        key = ann.create_key(server, server)
        until(lambda: DATABASE in listed(server, key, "data"), "the entries of the list are found")
        # The gallery of the editor has the list; the other list does not exist for her.
        assert server.request("/r/design/v0.1/servers", key).status == 404
        # The index follows the stored lists.
        until(lambda: mcp_id_of(DATABASE) in found(server, key, "postgres"), "the entries are searched")
        # Entries of the list that are near in meaning may be found.
        assert mcp_id_of(DESIGN) not in found(server, key, "figma")
        assert mcp_id_of(WANTED) not in found(server, key, "linear")
        hits = sdk_client(server.url + MCP, "databases and figma")["hits"]
        assert mcp_id_of(DATABASE) in hits
        assert {*hits} <= {mcp_id_of(name) for name in listed(server, key, "data")}

        # Bob approves entries of her list. She requests one, and he approves it.
        issuer.set(claims={**VERIFIED, "sub": "bob", "email": "bob@example.org"})
        bob = new_browser()
        sign_in(bob, server, issuer)
        operator("lists", "approver", "data", "bob@example.org")
        ann.request(server, REQUESTS)
        ann.request(server, REQUESTS, entry=WANTED, list="data", reason="We plan with it.")
        path = re.findall(rf"{REQUESTS}/[\w-]+", bob.request(server, REQUESTS).text)[0]
        (digest,) = re.findall(r'name="digest" value="(\w+)"', bob.request(server, path).text)
        assert bob.request(server, f"{path}/approve", digest=digest, text="Fine.").status == 303
        assert "Approved" in ann.request(server, path).text
        until(lambda: WANTED in listed(server, key, "data", "linear"), "the entry is in the gallery")
        until(lambda: mcp_id_of(WANTED) in found(server, key, "linear"), "the entry is searched")
        policy = server.request("/r/data/api/open/v1/managed-settings/claude-code.json", key).json
        allowed = [matcher.get("serverUrl") for matcher in policy["allowedMcpServers"]]
        assert "https://mcp.linear.app/mcp" in allowed
        assert "https://mcp.figma.com/mcp" not in allowed
        deployed = server.request("/r/data/api/open/v1/managed-settings/managed-mcp.json", key).json["mcpServers"]
        assert {"url": "https://mcp.linear.app/mcp"}.items() <= deployed[
            deployed_key(WANTED, mcp_id_of(WANTED))
        ].items()

        # An auditor reads the day, and an export of it proves that nothing is missing.
        issuer.set(claims={**VERIFIED, "sub": "ida", "email": "ida@example.org"})
        ida = new_browser()
        sign_in(ida, server, issuer)
        assert ida.request(server, "/admin/audit").status == 404
        operator("account", "role", "ida@example.org", "auditor")
        assert "lists pick" in ida.request(server, "/admin/audit").text
        records = [json.loads(line) for line in operator("audit", "export").splitlines()]
        actions = [record["action"] for record in records]
        assert [action for action in actions if action.startswith("lists ")] == [
            *["lists group add"] * 2,
            *["lists put"] * 2,
            "lists pick",
            "lists approver",
        ]
        assert {"ann@example.org", "bob@example.org"} <= {record["subject"]["name"] for record in records}
        number, _, hashed = operator("audit", "verify").strip().partition(":")
        assert int(number) >= len(records)
        assert records[-1]["hash"] == hashed or int(number) > len(records)
        server.stop()
