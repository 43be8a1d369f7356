"""Remotes: URLs of public hosts, ASCII host names and header names."""

from __future__ import annotations

import pytest

from .builders import (
    installation_of,
    remote,
    server_of,
    unavailable_code,
    warning_codes,
)


@pytest.mark.parametrize(
    ("url", "expected", "codes"),
    [
        ("https://a.example/mcp", "https://a.example/mcp", set()),
        ("HTTPS://A.Example:8443/MCP?a=b", "https://a.example:8443/MCP?a=b", set()),
        ("https://gіthub.com/mcp", "https://xn--gthub-n2e.com/mcp", {"international"}),
        ("https://ｇｉｔｈｕｂ.com/mcp", "https://github.com/mcp", {"international"}),
        ("https://xn--gthub-n2e.com/mcp", "https://xn--gthub-n2e.com/mcp", {"international"}),
        ("https://{tenant}.a.example:{port}/{path}", "https://<tenant>.a.example:<port>/<path>", set()),
        ("https://{host}/mcp", "https://<host>/mcp", set()),
        ("http://10.0.0.1/mcp", "http://10.0.0.1/mcp", {"private_address", "unencrypted"}),
        ("https://mcp.corp.internal/", "https://mcp.corp.internal/", {"private_address"}),
        ("https://{x}.local/", "https://<x>.local/", {"private_address"}),
    ],
)
def test_remote_urls_have_an_ascii_host(url: str, expected: str, codes: set[str]) -> None:
    installation = installation_of(remotes=[remote(url)])
    assert warning_codes(installation) == codes
    assert installation.name == expected == server_of(installation)["url"]


@pytest.mark.parametrize(
    ("reason", "url"),
    [
        *(
            ("address", f"http://{host}/mcp")
            for host in ("127.0.0.1:3000", "localhost", "[::1]", "169.254.169.254", "[fe80::1]")
        ),
        *(
            ("address", f"http://{host}/mcp")
            for host in ("0.0.0.0", "[::ffff:127.0.0.1]", "127.0.0.{x}", "{x}.localhost")
        ),
        *(
            ("url", f"http://{host}/mcp")
            for host in ("2130706433", "0x7f.1", "127.1", "[fe80::1%25eth0]", "a%2eb.example")
        ),
        *(
            ("url", f"https://{host}/mcp")
            for host in ("gіthub.com@a.example", "∞.example", "gіthub-{x}.com", "a.example:0")
        ),
        ("url", "https://a.example\\@evil.example/"),
        ("hidden", "https://☃.example/mcp"),
    ],
)
def test_local_and_invalid_remotes_are_unavailable(reason: str, url: str) -> None:
    assert unavailable_code(installation_of(remotes=[remote(url)])) == reason


@pytest.mark.parametrize("name", ["Host", "host", "Transfer-Encoding", "Proxy-Authorization", "Mcp-Session-Id", "A B"])
def test_reserved_headers_are_unavailable(name: str) -> None:
    assert unavailable_code(installation_of(remotes=[remote(headers=[{"name": name, "value": "a"}])])) == "header_name"
