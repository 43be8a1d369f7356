"""`mcp-publisher` against a server: its requests as recorded, and the program itself if MCP_PUBLISHER names it.

`make publisher TOOL=PATH` runs the program and compares its requests with the recorded ones; `RECORD=1` stores them.
The recorded ones are of version 1.7.0 (commit 7722031 of modelcontextprotocol/registry), without the signers of clouds.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from attrs import define, field, frozen
from cryptography.hazmat.primitives.asymmetric.ec import SECP384R1, derive_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ...web.conftest import Response, Server, open_server
from .conftest import new_publisher, server_json
from .fake_logins import DomainKey
from .test_logins import ALL, github

RECORDED = Path(__file__).with_name("mcp_publisher.json")

PROGRAM = os.environ.get("MCP_PUBLISHER", "")

AUDIENCE = "mcp-registry"
"""The audience of the program until version 1.7.5."""

DOMAIN = "example.com"

SEED = "0" * 63 + "1"

ED25519 = DomainKey(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(SEED)))

P384 = DomainKey(derive_private_key(1, SECP384R1()))

KEYS = {"dns": ED25519, "http": P384}

VOLATILE = ("Host", "Content-Length", "Connection")
"""Headers of the transport."""


@frozen
class Step:
    """A run of the program. `server` is the content of server.json before it, `expected` a part of its output."""

    arguments: Sequence[str]
    expected: str
    code: int = 0
    server: Any = None


LOG_IN = ("--registry", "{url}")

STEPS = (
    Step(["init"], "Created server.json"),
    Step(["login", "none", *LOG_IN], "or with: login dns, or with: login http", 1),
    Step(["login", "github", *LOG_IN], "status 404: ", 1),
    Step(["login", "dns", *LOG_IN, "--domain", DOMAIN, "--private-key", SEED], "Successfully logged in"),
    # The document of `init`.
    Step(["validate"], "server.json is valid"),
    Step(["publish"], "Server com.example/work version 1.0.0"),
    Step(["publish"], "version_exists", 1),
    Step(["validate"], "name", 1, server_json("example")),
    Step(["publish"], "packages[0].identifier", 1, server_json(f"com.{DOMAIN}/x", packages=[{"registryType": "npm"}])),
    Step(["publish"], "Server com.example/work version 1.1.0", 0, server_json("com.example/work", "1.1.0")),
    Step(
        ["status", "--status", "deprecated", "--message", "Use 1.1.0.", "com.example/work", "1.0.0"],
        "com.example/work version 1.0.0: active → deprecated",
    ),
    Step(["status", "--status", "deleted", "com.example/absent", "1.0.0"], "404", 1),
    Step(["logout"], "Successfully logged out"),
    Step(["publish"], "not authenticated", 1),
    Step(
        ["login", "http", *LOG_IN, "--domain", DOMAIN, "--algorithm", "ecdsap384", "--private-key", "0" * 95 + "1"],
        "Successfully logged in",
    ),
    Step(["status", "--status", "deleted", "--all-versions", "--yes", "com.example/work"], "2 version"),
    Step(["login", "github", *LOG_IN, "--token", "{publisher_token}"], "Successfully logged in"),
    Step(["publish"], "Server io.acme/tool version 1.0.0", 0, server_json("io.acme/tool")),
    Step(["login", "github-oidc", *LOG_IN], "Successfully logged in"),
    Step(["publish"], "forbidden_namespace", 1, server_json("io.acme/tool", "2.0.0")),
    Step(["publish"], "Server io.github.octo-org/tool version 1.0.0", 0, server_json("io.github.octo-org/tool")),
)


@define
class Session:
    """A server, and the texts of its requests that differ between two runs."""

    server: Server
    texts: dict[str, str] = field(factory=dict)

    def template(self, text: str) -> str:
        """Return `text` with the names of what differs between two runs."""
        for name, value in self.texts.items():
            text = text.replace(value, f"{{{name}}}")
        return text

    def filled(self, text: str) -> str:
        for name, value in self.texts.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def learn(self, target: str, response: Response) -> None:
        """Remember the token of the response to a login."""
        if "/auth/" in target and response.status == 200:
            token = response.json["registry_token"]
            if token != self.texts["publisher_token"]:
                self.texts["registry_token"] = token


@contextmanager
def session(folder: Path, now: float) -> Iterator[Session]:
    settings = {**ALL, "publish.github_audience": AUDIENCE, "web.url": ""}
    with open_server(folder, settings) as server:
        # The program signs the time of this machine.
        server.clock.rightNow = now
        server.logins.records.texts[DOMAIN] = [ED25519.text]
        server.logins.files.texts[DOMAIN] = [P384.text]
        yield Session(server, {"publisher_token": new_publisher(server, "io.acme/*").secret})


def test_the_recorded_requests_have_the_recorded_responses(tmp_path: Path) -> None:
    with session(tmp_path, 1_800_000_000.0) as replayed:
        server = replayed.server
        replayed.texts["oidc_token"] = github(server, audience=AUDIENCE)["oidc_token"]
        for step in json.loads(RECORDED.read_text("utf-8")):
            for request in step["requests"]:
                server.clock.advance(1)
                method = request["target"].rpartition("/")[2]
                if method in KEYS:
                    replayed.texts |= KEYS[method].login(DOMAIN, server.clock.seconds())
                body = replayed.filled(json.dumps(request["body"])).encode() if request["body"] is not None else b""
                headers = {name: replayed.filled(value) for name, value in request["headers"].items()}
                response = server.request(request["method"], request["target"], key=None, headers=headers, body=body)
                assert response.status == request["status"], (step["arguments"], request, response.body)
                replayed.learn(request["target"], response)


@pytest.mark.skipif(not PROGRAM, reason="MCP_PUBLISHER names no program")
def test_the_program_does_its_steps(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with session(tmp_path, time.time()) as running, HTTPServer(("127.0.0.1", 0), _Bridge) as bridge:
        bridge.session, bridge.requests, bridge.timeout = running, [], 0.1  # type: ignore[attr-defined]
        running.texts["url"] = url = f"http://127.0.0.1:{bridge.server_port}"
        recorded = []
        for step in STEPS:
            if step.server is not None:
                (work / "server.json").write_text(json.dumps(step.server), "utf-8")
            # A proof is good for one login, and its timestamp has whole seconds.
            running.server.clock.rightNow = time.time()
            arguments = [running.filled(argument) for argument in step.arguments]
            environment = {
                "HOME": str(tmp_path),
                "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "secret",
                "ACTIONS_ID_TOKEN_REQUEST_URL": f"{url}/token?api-version=2.0",
            }
            with subprocess.Popen(
                [PROGRAM, *arguments], cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            ) as process:
                while process.poll() is None:
                    bridge.handle_request()
                assert process.stdout is not None
                output = process.stdout.read().decode()
            assert (process.returncode, step.expected in output) == (step.code, True), (arguments, output)
            recorded.append({"arguments": [*step.arguments], "requests": bridge.requests})  # type: ignore[attr-defined]
            bridge.requests = []  # type: ignore[attr-defined]
    if os.environ.get("RECORD"):
        RECORDED.write_text(json.dumps(recorded, indent=1) + "\n", "utf-8")
    assert recorded == json.loads(RECORDED.read_text("utf-8"))


class _Bridge(BaseHTTPRequestHandler):
    """Passes requests of the program to the server in memory, and records them. It is GitHub for tokens of builds."""

    server: Any

    def do_GET(self) -> None:
        running, parts = self.server.session, urlsplit(self.path)
        if parts.path == "/token":
            (audience,) = parse_qs(parts.query)["audience"]
            running.texts["oidc_token"] = token = github(running.server, audience=audience)["oidc_token"]
            self._respond(200, {"Content-Type": "application/json"}, json.dumps({"value": token}).encode())
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        headers = {name: value for name, value in self.headers.items() if name not in VOLATILE}
        response = running.server.request(self.command, self.path, key=None, headers=headers, body=body)
        if "signed_timestamp" in (content := json.loads(body or b"{}")):
            running.texts |= {name: content[name] for name in ("timestamp", "signed_timestamp")}
        running.learn(self.path, response)
        self.server.requests.append(
            {
                "method": self.command,
                "target": self.path,
                "headers": {name: running.template(value) for name, value in headers.items()},
                "body": json.loads(running.template(body.decode())) if body else None,
                "status": response.status,
            }
        )
        self._respond(response.status, dict(response.headers.items()), response.body)

    do_POST = do_PATCH = do_GET

    def _respond(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name not in VOLATILE:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing is logged."""
