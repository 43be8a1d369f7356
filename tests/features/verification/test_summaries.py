"""Targets of entries, their states, and the summary of an entry."""

from __future__ import annotations

from typing import Any

import pytest

from directory_server.domain.checks import (
    MAX_TOOLS,
    LoginKind,
    PackageStatus,
    PackageTexts,
    RemoteStatus,
    VerifiedStatus,
)
from directory_server.domain.entries import Entry
from directory_server.features.verification.results import MAX_TOOL_NAMES, FoundTool, PackageCheck, RemoteCheck
from directory_server.features.verification.settings import VerifyConfig
from directory_server.features.verification.summaries import UNVERIFIED, found_tools, indexed, status_of, summarize
from directory_server.features.verification.targets import (
    LAG,
    MAX_TARGETS,
    MIN_BUSY,
    Target,
    TargetKind,
    TargetState,
    is_failure,
    targets_of,
    wait_of,
)

REMOTE = Target("x/a", TargetKind.REMOTE, "sse", "https://a.example/sse")
PACKAGE = Target("x/a", TargetKind.PACKAGE, "npm", "a", "1")
SETTINGS = VerifyConfig()


def entry(**server: Any) -> Entry:
    return Entry({"name": "x/a", "version": "1", "description": "A", **server})


TEXTS = PackageTexts("Forecasts.")


def remote(status: RemoteStatus, at: float = 0.0, **fields: Any) -> RemoteCheck:
    return RemoteCheck(REMOTE.identifier, REMOTE.type, at, status, **fields)


def package(status: PackageStatus, at: float = 0.0, **fields: Any) -> PackageCheck:
    return PackageCheck("npm", "a", "1", at, status, **fields)


def state(*checks: RemoteCheck | PackageCheck) -> TargetState:
    found = TargetState(REMOTE if isinstance(checks[0], RemoteCheck) else PACKAGE)
    for check in checks:
        found = found.after(check, SETTINGS)
    return found


def test_targets_are_the_remotes_and_packages_of_an_entry() -> None:
    header = {"name": "X-Key", "isRequired": True}
    found = targets_of(
        entry(
            remotes=[
                {"type": "sse", "url": "https://a.example/sse"},
                {"type": "streamable-http", "url": "https://b.example/mcp", "headers": [header]},
                {"type": "sse", "url": "https://a.example/sse"},
            ],
            packages=[{"registryType": "npm", "identifier": "a", "version": "1"}],
        )
    )
    other = Target("x/a", TargetKind.REMOTE, "streamable-http", "https://b.example/mcp", headers_needed=True)
    assert list(found) == [REMOTE, other, PACKAGE]
    assert [each.host for each in found] == ["a.example", "b.example", "registry.npmjs.org"]


@pytest.mark.parametrize(
    "broken",
    [
        {"remotes": [{"type": "sse"}, {"type": "stdio", "url": "https://a.example"}, {"type": 5, "url": []}]},
        {"remotes": [{"type": "sse", "url": "https://a.example/" + "a" * 3_000}, "text", None]},
        {"remotes": [{"type": "sse", "url": "https://a.example/\0"}, {"type": "sse", "url": "\udc80"}]},
        {"packages": [{"registryType": "n" * 30, "identifier": "a"}, {"registryType": "npm"}], "remotes": {}},
    ],
)
def test_malformed_documents_have_no_targets(broken: dict[str, Any]) -> None:
    assert list(targets_of(entry(**broken))) == []


def test_an_entry_has_a_bounded_number_of_targets() -> None:
    many = [{"type": "sse", "url": f"https://a.example/{n}"} for n in range(500)]
    assert len(targets_of(entry(remotes=many))) == MAX_TARGETS


@pytest.mark.parametrize(
    ("kind", "identifier", "host"),
    [
        ("oci", "ghcr.io/owner/image:1", "ghcr.io"),
        ("oci", "owner/image", "docker.io"),
        ("pypi", "a", "pypi.org"),
        ("cargo", "a", "cargo"),
    ],
)
def test_the_host_of_a_package_is_that_of_its_registry(kind: str, identifier: str, host: str) -> None:
    assert Target("x/a", TargetKind.PACKAGE, kind, identifier).host == host


def test_every_status_is_a_success_a_failure_or_says_nothing() -> None:
    nothing = {str(each) for each in RemoteStatus if is_failure(remote(each)) is None}
    assert nothing == {"busy", "refuses_robots", "not_allowed", "not_checkable"}
    assert {str(each) for each in PackageStatus if is_failure(package(each)) is None} == {
        "unreachable",
        "not_checkable",
    }
    assert {each for each in RemoteStatus if is_failure(remote(each)) is False} == {"works", "needs_login", "moved"}


def test_what_says_nothing_changes_no_streak() -> None:
    failed = state(remote(RemoteStatus.UNREACHABLE))
    assert failed.after(remote(RemoteStatus.REFUSES_ROBOTS), SETTINGS).failures == 1
    assert status_of(state(remote(RemoteStatus.REFUSES_ROBOTS))) is VerifiedStatus.UNVERIFIED


@pytest.mark.parametrize(
    ("found", "wait"),
    [
        (state(remote(RemoteStatus.WORKS)), SETTINGS.remotes_interval),
        (state(remote(RemoteStatus.NEEDS_LOGIN)), SETTINGS.remotes_interval),
        (state(remote(RemoteStatus.UNREACHABLE)), SETTINGS.retry),
        (state(remote(RemoteStatus.NOT_ALLOWED)), SETTINGS.remotes_interval),
        (state(*(remote(RemoteStatus.UNREACHABLE, 1e6 * n) for n in range(3))), SETTINGS.remotes_interval),
        (state(package(PackageStatus.EXISTS)), SETTINGS.packages_interval),
        (state(package(PackageStatus.MISSING)), LAG),
        (state(*[package(PackageStatus.MISSING)] * 2), SETTINGS.retry),
        (state(package(PackageStatus.UNREACHABLE)), SETTINGS.retry),
        (state(package(PackageStatus.NOT_CHECKABLE)), SETTINGS.packages_interval),
    ],
)
def test_failures_are_retried_sooner(found: TargetState, wait: float) -> None:
    assert found.check is not None
    assert wait_of(found, found.check, SETTINGS) == wait


@pytest.mark.parametrize(
    ("asked", "wait"),
    [
        (0.0, SETTINGS.retry),
        (30.0, MIN_BUSY),
        (MIN_BUSY + 1, MIN_BUSY + 1),
        (50_000.0, 50_000.0),
        (1e9, SETTINGS.remotes_interval),
    ],
)
def test_a_busy_remote_is_checked_when_it_asks_for_it_within_bounds(asked: float, wait: float) -> None:
    busy = remote(RemoteStatus.BUSY, retry_after=asked)
    assert wait_of(state(busy), busy, SETTINGS) == wait


def test_a_remote_that_moved_is_not_failing() -> None:
    failed = state(*(remote(RemoteStatus.UNREACHABLE, 1e6 * n) for n in range(3)))
    after = failed.after(remote(RemoteStatus.MOVED, 9e6), SETTINGS)
    assert (after.failures, after.is_down, status_of(after)) == (0, False, VerifiedStatus.UNVERIFIED)


def test_remotes_that_differ_have_no_digest_of_tools() -> None:
    one, other = (
        TargetState(
            Target("x/a", TargetKind.REMOTE, "sse", f"https://{digest}.example/"),
            good=remote(RemoteStatus.WORKS, has_listed_tools=True, tools_digest=digest),
        )
        for digest in ("a", "b")
    )
    silent = TargetState(PACKAGE, package(PackageStatus.EXISTS))
    assert [summarize(states).tools_digest for states in ([one, silent], [one, one], [one, other], [])] == [
        "a",
        "a",
        "",
        "",
    ]


def test_all_tools_are_counted_and_indexed_up_to_a_limit() -> None:
    tools = tuple(FoundTool(f"{n:09}", "Described." if n < MAX_TOOLS else "") for n in range(300))
    many = state(remote(RemoteStatus.WORKS, tools=tools, tool_count=300))
    assert summarize([many]).tools == 300
    assert len(found_tools([many])) == MAX_TOOLS
    index = indexed([many])
    assert index is not None
    assert [tool.name for tool in index.tools] == [each.name for each in tools]
    others = [state(remote(RemoteStatus.WORKS, tools=tuple(FoundTool(f"{n}{i:08}") for i in range(900)))) for n in "ab"]
    assert summarize(others).tools == 1_800
    index = indexed(others)
    assert index is not None
    assert len(index.tools) == MAX_TOOL_NAMES // 10
    cut = state(remote(RemoteStatus.WORKS, tools=tools, tool_count=5_000, has_more_tools=True))
    assert (summarize([cut]).tools, summarize([cut]).has_more_tools) == (5_000, True)


def test_one_failure_is_not_down_however_old_the_last_success() -> None:
    found = state(remote(RemoteStatus.WORKS), remote(RemoteStatus.UNREACHABLE, 1e7))
    assert status_of(found) is VerifiedStatus.FAILING
    assert status_of(found.after(remote(RemoteStatus.TLS_ERROR, 2e7), SETTINGS)) is VerifiedStatus.FAILING
    assert status_of(found.after(remote(RemoteStatus.WORKS, 2e7), SETTINGS)) is VerifiedStatus.WORKS


def test_the_status_of_an_entry_is_the_best() -> None:
    down = state(*(remote(RemoteStatus.UNREACHABLE, 1e6 * n) for n in range(3)))
    exists, works = state(package(PackageStatus.EXISTS)), state(remote(RemoteStatus.WORKS))
    assert summarize([]) == UNVERIFIED
    assert summarize([down]).status is VerifiedStatus.DOWN
    assert summarize([down, exists]).status is VerifiedStatus.AVAILABLE
    assert summarize([down, exists]).checked_at == 2e6
    assert summarize([down, exists, works]).status is VerifiedStatus.WORKS
    named = package(PackageStatus.EXISTS, names_server=True)
    summary = summarize([state(package(PackageStatus.DEPRECATED)), state(named)])
    assert (summary.package, summary.names_server) == ("exists", True)


def test_auth_is_what_a_remote_has_shown() -> None:
    key = state(remote(RemoteStatus.NEEDS_LOGIN, login=LoginKind.KEY))
    unknown = state(remote(RemoteStatus.NEEDS_LOGIN, login=LoginKind.UNKNOWN))
    assert summarize([key]).auth == "key"
    assert summarize([unknown]).auth == ""
    assert summarize([key, state(remote(RemoteStatus.WORKS))]).auth == "none"


def test_tools_of_remotes_are_joined_by_name() -> None:
    one = state(remote(RemoteStatus.WORKS, tools=(FoundTool("a", "first"), FoundTool("b"))))
    other = state(remote(RemoteStatus.WORKS, tools=(FoundTool("a", "second"), FoundTool("c"))))
    assert [(each.name, each.description) for each in found_tools([one, other])] == [
        ("a", "first"),
        ("b", ""),
        ("c", ""),
    ]


def test_nothing_is_indexed_of_what_says_nothing() -> None:
    assert indexed([TargetState(REMOTE), state(remote(RemoteStatus.REFUSES_ROBOTS))]) is None


def test_a_package_keeps_its_texts_until_it_is_down() -> None:
    read = package(PackageStatus.EXISTS, texts=TEXTS)
    unread = [package(status) for status in (PackageStatus.EXISTS, PackageStatus.UNREACHABLE, PackageStatus.MISSING)]
    assert state(read, *unread).texts == TEXTS.id
    assert state(read, package(PackageStatus.EXISTS, texts=PackageTexts())).texts == ""
    missing = [package(PackageStatus.MISSING, day * 86_400.0) for day in range(1, 5)]
    down = state(read, *missing)
    assert (down.is_down, down.texts) == (True, "")


def test_the_best_package_with_texts_is_indexed() -> None:
    deprecated = state(package(PackageStatus.DEPRECATED, texts=PackageTexts("Old.")))
    silent = state(package(PackageStatus.EXISTS, texts=PackageTexts()))
    found = indexed([deprecated, silent])
    assert found is not None
    assert found.texts == deprecated.texts
    found = indexed(
        [state(package(PackageStatus.EXISTS)), deprecated, state(package(PackageStatus.EXISTS, texts=TEXTS))]
    )
    assert found is not None
    assert found.texts == TEXTS.id
