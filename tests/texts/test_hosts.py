from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server.texts import hosts


@pytest.mark.parametrize(
    ("text", "name", "international"),
    [
        ("Example.ORG", "example.org", False),
        ("a_b.example.org", "a_b.example.org", False),
        ("gіthub.com", "xn--gthub-n2e.com", True),
        ("ｇｉｔｈｕｂ。com", "github.com", True),
        ("xn--gthub-n2e.com", "xn--gthub-n2e.com", True),
        ("93.184.216.34", "93.184.216.34", False),
        ("2606:2800::1", "[2606:2800::1]", False),
    ],
)
def test_host_name_is_ascii(text: str, name: str, international: bool) -> None:
    assert hosts.read(text) == hosts.Host(name, "public", international)


@pytest.mark.parametrize(
    ("scope", "text"),
    [
        *(("local", each) for each in ("localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::")),
        *(
            ("local", each)
            for each in ("169.254.169.254", "fe80::1", "224.0.0.1", "ff02::1", "0.1.2.3", "255.255.255.255")
        ),
        *(("local", each) for each in ("::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::")),
        *(("private", each) for each in ("10.1.2.3", "172.16.0.1", "192.168.0.1", "100.64.0.1", "fd00::1")),
        *(
            ("private", each)
            for each in ("router", "nas.local", "wiki.corp.internal", "printer.lan", "::ffff:10.0.0.1")
        ),
        *(("public", each) for each in ("a.example", "github.com", "8.8.8.8", "2606:4700::1111")),
    ],
)
def test_scope_of_hosts(scope: str, text: str) -> None:
    assert hosts.read(text).scope == scope


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            ".",
            "a..b",
            "-a.com",
            "a b.com",
            "a%2eb.com",
            "a/b",
            "a@b",
            "x" * 64 + ".com",
            "a." * 200 + "com",
            "é" * 300,
        ),
        # Other notations of IPv4 addresses.
        *("2130706433", "0x7f.1", "0x7f000001", "127.1", "0177.0.0.1", "127.0.0.1."),
        *("fe80::1%eth0", "1::2::3", "xn--a", "☃.net", "a\u202eb.com", "a\u200db.com"),
    ],
)
def test_invalid_host_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        hosts.read(text)


@given(st.text())
def test_any_text_is_an_ascii_host_or_an_error(text: str) -> None:
    try:
        host = hosts.read(text)
    except ValueError:
        return
    assert host.name.isascii()
    assert hosts.read(host.name.strip("[]")).scope == host.scope


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://gіthub.com/a?b=c#d", "https://xn--gthub-n2e.com/a?b=c#d"),
        ("http://EXAMPLE.org:8080/A", "http://example.org:8080/A"),
        ("https://[2606::0:1]:443/", "https://[2606::1]:443/"),
    ],
)
def test_ascii_url(url: str, expected: str) -> None:
    assert hosts.ascii_url(url) == expected
