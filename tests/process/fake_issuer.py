"""An issuer in a process of its own: OpenID Connect, OAuth 2.1 with registration of clients, and the API of GitHub.

Argument: a port. `PUT /control` merges a JSON object into `State`, by which tests choose the person and the faults.
"""

from __future__ import annotations

import json
import secrets
import sys
import time
from base64 import urlsafe_b64encode
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from attrs import define, field
from joserfc import jws
from joserfc.jwk import RSAKey

REALM = "/realms/acme"

Parameters = dict[str, str]


@define
class State:
    """What the issuer does. `claims` are added to ID tokens, `token` to access tokens; None removes one.

    `faults` by name: `delay` seconds before each response, `padding` bytes in the discovery document, `iss` of the
    response, `code` that replaces the code.
    """

    port: int
    claims: dict[str, Any] = field(factory=dict)
    token: dict[str, Any] = field(factory=dict)
    user_info: dict[str, Any] = field(factory=dict)
    faults: dict[str, Any] = field(factory=dict)
    emails: list[Any] = field(factory=list)
    keys: list[RSAKey] = field(factory=lambda: [new_key()])
    codes: dict[str, Parameters] = field(factory=dict)
    requests: list[str] = field(factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{REALM}"

    def metadata(self) -> dict[str, Any]:
        names = ("authorization", "token", "userinfo", "end_session", "registration")
        return {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/keys",
            **{f"{name}_endpoint": f"{self.url}/{name}" for name in names},
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
            "authorization_response_iss_parameter_supported": True,
            "scopes_supported": ["openid", "mcp-registry:read"],
            "padding": "x" * self.faults.get("padding", 0),
        }

    def sign(self, claims: dict[str, Any], kind: str = "JWT") -> str:
        now = int(time.time())
        times = {"iss": self.url, "sub": "ann", "iat": now, "exp": now + 300}
        merged = {name: value for name, value in {**times, **claims}.items() if value is not None}
        header = {"alg": "RS256", "kid": self.keys[-1].kid, "typ": kind}
        registry = jws.JWSRegistry(algorithms=["RS256"], strict_check_header=False)
        return jws.serialize_compact(header, json.dumps(merged), self.keys[-1], registry=registry)

    def access_token(self, grant: Parameters) -> str:
        claims = {"aud": grant.get("resource"), "scope": grant.get("scope", ""), "client_id": grant["client_id"]}
        return self.sign({**claims, **self.token}, "at+jwt")


def new_key() -> RSAKey:
    return RSAKey.generate_key(2_048, {"kid": secrets.token_hex(4)})


class Handler(BaseHTTPRequestHandler):
    """One request. The person has always consented."""

    state: State

    def do_GET(self) -> None:
        path, query = urlsplit(self.path).path, dict(parse_qsl(urlsplit(self.path).query))
        state = self.state
        state.requests.append(path)
        time.sleep(state.faults.get("delay", 0) if path != "/control" else 0)
        documents = {
            f"{REALM}/.well-known/openid-configuration": state.metadata,
            f"/.well-known/oauth-authorization-server{REALM}": state.metadata,
            f"{REALM}/keys": lambda: {"keys": [{**key.as_dict(private=False), "use": "sig"} for key in state.keys]},
            f"{REALM}/userinfo": lambda: {"sub": "ann", **state.user_info},
            "/api/v3/user": lambda: {"id": 7, "login": "ann", **state.user_info},
            "/api/v3/user/emails": lambda: state.emails,
            "/control": lambda: {"requests": state.requests, "kid": state.keys[-1].kid},
        }
        if path in (f"{REALM}/authorization", "/login/oauth/authorize"):
            self.redirect(query)
        elif path in documents:
            self.respond(documents[path]())
        else:
            self.respond({"error": "not found"}, 404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        path = urlsplit(self.path).path
        self.state.requests.append(path)
        time.sleep(self.state.faults.get("delay", 0))
        if path == f"{REALM}/registration":
            registered = {"client_id": secrets.token_hex(8), **json.loads(body)}
            self.respond({**registered, "token_endpoint_auth_method": "none"}, 201)
            return
        form = dict(parse_qsl(body.decode()))
        grant = self.state.codes.pop(form.get("code", ""), None)
        verifier = urlsafe_b64encode(sha256(form.get("code_verifier", "").encode()).digest()).rstrip(b"=").decode()
        if grant is None or grant["code_challenge"] != verifier or grant["redirect_uri"] != form["redirect_uri"]:
            self.respond({"error": "invalid_grant"}, 400)
            return
        id_claims = {"aud": grant["client_id"], "nonce": grant.get("nonce"), **self.state.claims}
        answer = {"access_token": self.state.access_token(grant), "token_type": "Bearer", "expires_in": 300}
        self.respond({**answer, "id_token": self.state.sign(id_claims)})

    def do_PUT(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if given.pop("rotate", False):
            self.state.keys = [new_key()]
        signs = given.pop("sign", None)
        for name, value in given.items():
            setattr(self.state, name, value)
        self.respond({} if signs is None else {"token": self.state.sign(*signs)})

    def redirect(self, query: Parameters) -> None:
        code = secrets.token_hex(8)
        self.state.codes[code] = query
        faults = self.state.faults
        answer = {"code": faults.get("code", code), "state": query["state"], "iss": faults.get("iss", self.state.url)}
        if "error" in faults:
            answer = {"error": faults["error"], "state": query["state"], "iss": self.state.url}
        self.send_response(302)
        self.send_header("Location", f"{query['redirect_uri']}?{urlencode(answer)}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def respond(self, value: Any, status: int = 200) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


if __name__ == "__main__":
    Handler.state = State(int(sys.argv[1]))
    with ThreadingHTTPServer(("127.0.0.1", Handler.state.port), Handler) as server:
        print("ready", flush=True)
        server.serve_forever()
