"""Findings of client checks: what is wrong for a client, and what to change in the proxy or the server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from attrs import evolve, frozen

from ...http import MAX_BODY

MAX_SHOWN = 200
"""Characters of a text of a response in a finding."""

Level = Literal["problem", "note"]

MESSAGES: Mapping[str, str] = {
    "failed": "{path}: {detail} Check the name, the port and the certificate of the proxy.",
    "certificate": "{path}: {detail} If an intermediate certificate is missing, give the proxy the file of the whole "
    "chain (nginx: ssl_certificate; HAProxy: crt; Caddy: tls). Install an authority of your own on each client; "
    "clients that run on Node.js also read NODE_EXTRA_CA_CERTS, and git, for plugins, http.sslCAInfo.",
    "plain": "The URL has no TLS. Clients send keys and read installations unprotected; set up TLS at the proxy. If it "
    "has TLS, set web.url to the https URL.",
    "redirect": "{path} redirects to {detail}. Not all clients follow it; give them the target as the URL. If the "
    "target is the sign-in page of a proxy, exempt /.well-known, /api, /r, /v0 and /v0.1 there.",
    "login": "{path} asks for credentials, and the client sends none. Set registry.access to public, or to secret-path "
    "and give the client a secret path.",
    "key": "{path} asks for credentials. Give the client an API key. client-check --key-file checks it with one.",
    "rejected": "{path} rejects the API key. It is not valid, or the proxy removes or replaces the header "
    "Authorization.",
    "host": "{path}: the server rejects the Host {detail}. If clients send another one, let the proxy pass it on "
    "(nginx: proxy_set_header Host $http_host; HAProxy and Caddy do unless told otherwise). Else add it to "
    "http.allowed_hosts.",
    "limit": "{path} answered 429: this address has sent too many requests. Try again in a minute.",
    "quota": "{path} answered 429: the quota of the API key is spent. Use another key.",
    "absent": "{path} does not exist here: the feature is off (registry.access, ard.access, publish.enabled).",
    "status": "{path} answered {detail}.",
    "dead": "{path}: the proxy answered {detail}, not this server. Check that the server runs, and its address in the "
    "proxy (nginx: proxy_pass; HAProxy: server; Caddy: reverse_proxy).",
    "proxy_login": "{path}: the proxy asks for credentials, not this server. Clients do not sign in at a proxy: exempt "
    "/.well-known, /api, /r, /v0 and /v0.1, which the server protects itself.",
    "body": "{path}: the proxy rejects a body of {detail} bytes, which this server accepts. Allow 128 kB there (nginx: "
    "client_max_body_size 128k; Caddy: request_body max_size).",
    "proxy": "{path}: the proxy answered {detail}, not this server. Let it pass on all paths and methods, and error "
    "responses unchanged (nginx: location / without limit_except, and no proxy_intercept_errors).",
    "json": "{path} answered with something else than the JSON of the API, such as the sign-in page of a proxy, or a "
    "response of another site of the proxy.",
    "cors": "{path} has no Access-Control-Allow-Origin: the proxy removes or replaces it, so pages cannot read it.",
    "cors_twice": "{path} has Access-Control-Allow-Origin several times, so pages cannot read it. Remove what the "
    "proxy adds (nginx: add_header; HAProxy: http-response add-header; Caddy: header); the server sends it.",
    "buffered": "{path}: {detail} The server sends the first event at once, so the proxy holds streams back. nginx: "
    "remove proxy_ignore_headers X-Accel-Buffering, or set proxy_buffering off; HAProxy: remove wait-for-body; Caddy: "
    "flush_interval -1.",
    "cut": "{path}: {detail} Allow pauses and responses longer than streams.heartbeat (nginx: proxy_read_timeout; "
    "HAProxy: timeout client and timeout server; Caddy: read_timeout, write_timeout), or clients connect again and "
    "again.",
    "empty": "The client sees no server. With registry.listed = curated, allow or pin entries first.",
    "left_out": "Servers of the first page that this client leaves out, without description or version: {detail}.",
    "unpinned": "Servers of the first page that have a package without an exact version: {detail}. With the policy "
    "registry-only, Copilot may block them.",
    "url": "URLs in {path} begin with {detail}, not with the public URL. Set web.url, and let the proxy send "
    "X-Forwarded-Proto.",
    "no_managed": "No managed settings are served: managed_settings.enabled is false, or no entry is curated.",
    "managed": "Managed settings are served to clients with a key{detail}. Servers with a warning there are blocked.",
    "untrusted": "The server does not trust the proxy at {detail}: all clients count as one address, and cookies are "
    "not Secure. Add it to http.trusted_proxies.",
    "no_address": "The proxy does not send X-Forwarded-For: all clients count as one address. nginx: proxy_set_header "
    "X-Forwarded-For $proxy_add_x_forwarded_for; HAProxy: option forwardfor.",
    "no_proto": "The proxy does not send X-Forwarded-Proto: https, so cookies are not Secure. nginx: proxy_set_header "
    "X-Forwarded-Proto $scheme; HAProxy: http-request set-header X-Forwarded-Proto https.",
}
"""Messages of findings by code."""

_HOST = re.compile(rb"The Host '([^']{0,100})' is not allowed")

_OF_PROXY = {401: "proxy_login", 407: "proxy_login", 413: "body", **dict.fromkeys((502, 503, 504), "dead")}
"""Codes of responses without X-Request-Id, which are not this server's."""


@frozen
class Finding:
    """What is wrong for a client, or good to know, and what to change."""

    code: str
    level: Level
    message: str


@frozen
class Answer:
    """A response: its status, headers by their names in lower case, several values joined by commas, and its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def problem(code: str, path: str = "", detail: object = "") -> Finding:
    """Return a problem with the message of `code`."""
    return Finding(code, "problem", MESSAGES[code].format(path=path[:MAX_SHOWN], detail=str(detail)[:MAX_SHOWN]))


def note(code: str, path: str = "", detail: object = "") -> Finding:
    """Return what is good to know, with the message of `code`."""
    return evolve(problem(code, path, detail), level="note")


def status_finding(answer: Answer, path: str, sent: int, *, sends_keys: bool, has_key: bool) -> Finding | None:
    """Return the finding of a status; None for a success. `sent` is the number of bytes of the request's body."""
    status = answer.status
    if status // 100 == 2:
        return None
    if status // 100 == 3:
        return problem("redirect", path, answer.headers.get("location", ""))
    if "x-request-id" not in answer.headers:
        # Caddy 2.6 answers 502 to a body that is longer than its limit.
        code = "body" if sent == MAX_BODY and status == 502 else _OF_PROXY.get(status, "proxy")
        return problem(code, path, f"{sent:,}" if code == "body" else status)
    if host := _HOST.search(answer.body):
        return problem("host", path, host[1].decode("latin-1"))
    if status == 401 and sends_keys and not has_key:
        return note("key", path)
    codes = {
        401: "rejected" if has_key else "login",
        404: "absent",
        405: "absent",
        429: "quota" if has_key else "limit",
    }
    return problem(codes.get(status, "status"), path, status)
