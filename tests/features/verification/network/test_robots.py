"""An operator of remotes can refuse checks in robots.txt."""

from __future__ import annotations

from typing import Any

import pytest

from directory_server.domain.checks import RemoteStatus
from directory_server.http_client import MAX_ROBOTS, RobotsRules, robots_rules

from ....contract import awaited
from .conftest import Harness

US = "User-agent: directory-server\n"
ALL = "User-agent: *\n"
REFUSED = (RemoteStatus.REFUSES_ROBOTS, "Its robots.txt refuses checks.")


@pytest.mark.parametrize(
    ("robots", "allowed"),
    [
        ("", True),
        (f"{US}Disallow: /", False),
        (f"{ALL}Disallow: /", False),
        (f"{ALL}Disallow: /\n\n{US}Disallow:", True),
        (f"{ALL}Disallow: /\n\n{US}Allow: /", True),
        (f"{US}Disallow: /\n\n{ALL}Allow: /", False),
        ("user-AGENT : Directory-Server # us\r\nDISALLOW: /mcp", False),
        ("User-agent: otherbot\nDisallow: /", True),
        ("User-agent: otherbot\nUser-agent: directory-server\nDisallow: /", False),
        (f"{ALL}Disallow: /private", True),
        (f"{ALL}Disallow: /\nAllow: /mcp", True),
        (f"{ALL}Disallow: /mcp\nAllow: /mcp", True),
        (f"{ALL}Disallow: /mcp/secret\nAllow: /mcp", True),
        (f"{ALL}Disallow: /*cp$", False),
        (f"{ALL}Disallow: /m$", True),
        (f"{ALL}Disallow: /%6D%63p", False),
        ("\ufeffUser-agent: *\nDisallow: /", False),
        ("Disallow: /", True),
        ("<html>Disallow: /</html>", True),
        (f"{US}Disallow: /a\n\n{US}Disallow: /mcp", False),
    ],
)
def test_the_rules_of_rfc_9309(robots: str, allowed: bool) -> None:
    assert robots_rules(robots.encode()).allow("https://a.example/mcp") is allowed


def test_a_query_belongs_to_the_path() -> None:
    rules = robots_rules(f"{ALL}Disallow: /mcp?key=".encode())
    assert rules.allow("https://a.example/mcp")
    assert not rules.allow("https://a.example/mcp?key=1")


@pytest.mark.parametrize("pattern", ["/" + "*a" * 400, "/" + "a*" * 400 + "b$"])
def test_wildcards_take_bounded_time(pattern: str) -> None:
    # Backtracking over each wildcard would not end.
    rules = RobotsRules(((pattern, False),))
    assert rules.allow("https://a.example/" + "a" * 399)


@awaited
async def test_a_remote_whose_robots_refuses_is_not_checked(harness: Harness) -> None:
    harness.remotes.robots = f"{US}Disallow: /modern\n".encode()
    check = await harness.check("modern")
    assert (check.status, check.detail) == REFUSED
    assert harness.paths() == ["GET /robots.txt"]
    assert (await harness.check("stateful")).status is RemoteStatus.WORKS


@awaited
async def test_rules_of_an_origin_are_kept_for_a_day(harness: Harness) -> None:
    now = [1_000.0]
    harness.prober._robots._now = lambda: now[0]
    for _ in range(3):
        await harness.check("modern")
    assert harness.paths().count("GET /robots.txt") == 1
    now[0] += 86_400
    harness.remotes.robots = b"User-agent: *\nDisallow: /"
    assert (await harness.check("modern")).status is RemoteStatus.REFUSES_ROBOTS


@awaited
async def test_long_lists_of_rules_are_read_and_matched_in_threads(harness: Harness) -> None:
    called: list[str] = []

    async def offload(function: Any, *arguments: Any) -> Any:
        called.append(function.__name__)
        return function(*arguments)

    harness.prober._robots._offload = offload  # type: ignore[assignment]
    harness.remotes.robots = f"{US}Disallow: /modern\n".encode()
    assert (await harness.check("modern")).status is RemoteStatus.REFUSES_ROBOTS
    assert called == []
    harness.remotes.robots += b"Disallow: /other\n" * 500
    harness.prober._robots._kept.clear()
    assert (await harness.check("modern")).status is RemoteStatus.REFUSES_ROBOTS
    assert called == ["robots_rules", "allow"]


@awaited
async def test_a_robots_txt_that_is_too_large_refuses_nothing(harness: Harness) -> None:
    harness.remotes.robots = b"User-agent: *\nDisallow: /\n" + b"#" * MAX_ROBOTS
    assert (await harness.check("modern")).status is RemoteStatus.WORKS


@awaited
async def test_a_robots_txt_elsewhere_is_not_followed(harness: Harness) -> None:
    harness.remotes.targets["/robots.txt"] = "https://elsewhere.example/robots.txt"
    assert (await harness.check("modern")).status is RemoteStatus.WORKS
