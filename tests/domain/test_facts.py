"""Facts of entries."""

from __future__ import annotations

from typing import Any

import pytest

from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.domain.facts import MAX_ITEMS, Fact, auth_of, facts_of, runs_of
from directory_server.domain.licenses import LICENSES, license_of

NPM = {"registryType": "npm"}
HTTP = {"type": "streamable-http", "url": "https://example.org/mcp"}


def make(
    brief: str = "Sends mail", *, name: str = "io.github.example/mail", official: bool = False, **members: Any
) -> Entry:
    publisher = members.pop("publisher", {})
    server = {"name": name, "version": "1.0.0", "description": brief, "_meta": {PUBLISHER: publisher}, **members}
    return Entry(server, {}, official)


def secret(**more: Any) -> dict[str, Any]:
    return {**NPM, "environmentVariables": [{"name": "X", "isSecret": True, **more}]}


@pytest.mark.parametrize(
    ("entry", "auth"),
    [
        (make(), "unknown"),
        (make(packages=[NPM]), "unknown"),
        (make(remotes=[HTTP]), "unknown"),
        (make(packages=[secret()]), "key"),
        (make(packages=[secret(isRequired=False)]), "unknown"),
        (make(packages=[{**NPM, "environmentVariables": [{"name": "MAIL_API_KEY", "isRequired": True}]}]), "key"),
        (make(packages=[{**NPM, "environmentVariables": [{"name": "MAIL_HOST", "isRequired": True}]}]), "unknown"),
        (make(remotes=[{**HTTP, "headers": [{"name": "Authorization", "isSecret": True}]}]), "key"),
        (make("Sends mail. No API keys required."), "none"),
        (make("Sends mail without the need for an API key"), "none"),
        (make("発信する。APIキー不要"), "none"),
        (make("发送邮件，无需密钥"), "none"),
        (make("Sends mail. Requires an API key."), "key"),
        (make("Sends mail, with OAuth"), "oauth"),
        (make("Sends mail with OAuth or an API key"), "key"),
        (make("No API key needed", packages=[secret()]), "none"),
        (make("No API key needed", packages=[secret(isRequired=True)]), "key"),
    ],
)
def test_a_secret_is_declared_or_stated(entry: Entry, auth: str) -> None:
    assert auth_of(facts_of(entry).bits) == auth


def test_a_package_without_secrets_declares_none() -> None:
    assert facts_of(make(packages=[NPM])).stated & Fact.NO_SECRET_DECLARED
    assert not facts_of(make("Paid per call with x402", packages=[NPM])).stated & Fact.NO_SECRET_DECLARED
    assert not facts_of(make(packages=[NPM], remotes=[HTTP])).stated & Fact.NO_SECRET_DECLARED


@pytest.mark.parametrize(
    ("entry", "runs"),
    [
        (make(), ()),
        (make(packages=[NPM]), ("local",)),
        (make(remotes=[HTTP]), ("remote",)),
        (make(packages=[NPM], remotes=[HTTP]), ("local", "remote")),
        (make("Runs locally"), ("local",)),
        (make("A hosted MCP server"), ("remote",)),
        (make("Runs locally", remotes=[HTTP]), ("remote",)),
        (make("Self-hosted mail for local businesses"), ()),
    ],
)
def test_a_server_runs_where_it_declares_or_says(entry: Entry, runs: tuple[str, ...]) -> None:
    assert runs_of(facts_of(entry).bits) == runs


@pytest.mark.parametrize(
    ("entry", "languages"),
    [
        (make(), ()),
        (make(publisher={"language": "C#"}, packages=[NPM]), ("csharp",)),
        (make(publisher={"language": "Dockerfile"}, packages=[NPM, NPM]), ("typescript", "javascript")),
        (make(packages=[{"registryType": "pypi"}]), ("python",)),
        (make(name="io.github.example/mail-rs"), ("rust",)),
        (make(name="io.github.example/go"), ()),
        (make("A Rust MCP server for mail"), ("rust",)),
        (make("Mail, written in Go"), ("go",)),
        (make("A TypeScript-based server"), ("typescript",)),
        (make("Answers questions about Rust crates"), ()),
        (make("Lets you go home"), ()),
    ],
)
def test_languages_are_declared_or_stated(entry: Entry, languages: tuple[str, ...]) -> None:
    assert facts_of(entry).languages == languages


@pytest.mark.parametrize(
    ("stated", "license"),
    [
        ("MIT", "mit"),
        ("The  MIT License", "mit"),
        ("Apache 2.0", "apache-2.0"),
        ("AGPL-3.0-only", "agpl-3.0"),
        ("Beerware", "other"),
        ("[NOT GIVEN]", "unknown"),
        ("", "unknown"),
        (None, "unknown"),
        (["MIT"], "unknown"),
    ],
)
def test_a_license_is_a_known_one_or_another(stated: object, license: str) -> None:
    assert license_of(stated) == license
    assert license in (*LICENSES, "unknown")


@pytest.mark.parametrize(
    ("entry", "fact"),
    [
        (make("Read-only access to mail"), Fact.READ_ONLY),
        (make(publisher={"tools": [{"name": "read", "annotations": {"readOnlyHint": True}}]}), Fact.READ_ONLY),
        (make("Self-hosted mail"), Fact.SELF_HOSTED),
        (make("Tools for Nextcloud"), Fact.SELF_HOSTED_PRODUCT),
        (make("Mail in a Docker container"), Fact.CONTAINER),
        (make(packages=[{"registryType": "oci"}]), Fact.CONTAINER),
        (make("Open-source mail"), Fact.OPEN_SOURCE),
        (make(publisher={"license": "MIT"}), Fact.OPEN_SOURCE),
        (make(publisher={"license": "MIT"}), Fact.MIT_LICENSE),
        (make("Sends mail. MIT licensed."), Fact.MIT_LICENSE),
        (make("Sends mail, under Apache 2.0"), Fact.APACHE_LICENSE),
        (make("Sends mail, under Apache 2.0"), Fact.OPEN_SOURCE),
        (make(publisher={"license": "LGPL-3.0-or-later"}), Fact.GPL_LICENSE),
        (make(publisher={"license": "ISC"}), Fact.OTHER_PERMISSIVE_LICENSE),
        (make("Free mail"), Fact.FREE),
        (make("Mail, paid per call"), Fact.PAID),
        (make("Works offline"), Fact.OFFLINE),
        (make(name="com.example/mail", official=True), Fact.VENDOR),
    ],
)
def test_facts_are_declared_or_stated(entry: Entry, fact: Fact) -> None:
    assert facts_of(entry).stated & fact
    assert not facts_of(make()).stated & fact


@pytest.mark.parametrize(
    ("entry", "fact"),
    [
        (make("A free trial of paid mail"), Fact.FREE),
        (make("Unofficial mail, not official"), Fact.OFFICIAL_CLAIM),
        (
            make(publisher={"tools": [{"name": "a", "annotations": {"readOnlyHint": True}}, {"name": "b"}]}),
            Fact.READ_ONLY,
        ),
        (make(publisher={"tools": []}), Fact.READ_ONLY),
        (make(publisher={"license": "Beerware"}), Fact.OPEN_SOURCE),
        (make("A client of an MIT licensed library", publisher={"license": "GPL-3.0"}), Fact.MIT_LICENSE),
        (make("Reads Apache Kafka"), Fact.APACHE_LICENSE),
        (make(name="io.github.example/mail", official=True), Fact.VENDOR),
        (make(name="com.example/mail"), Fact.VENDOR),
    ],
)
def test_facts_are_not_taken_from_other_words(entry: Entry, fact: Fact) -> None:
    assert not facts_of(entry).stated & fact


def test_values_of_unexpected_types_are_skipped() -> None:
    packages = [{"registryType": 7, "environmentVariables": "x"}, {"environmentVariables": [None, {"name": 3}]}]
    odd = make(packages=packages, remotes=[{"headers": {}}], publisher={"language": 1, "tools": [1], "license": {}})
    assert auth_of(facts_of(odd).bits) == "unknown"
    assert facts_of(odd).languages == ()


def test_the_cost_of_a_large_entry_is_bounded() -> None:
    many = [{**NPM, "environmentVariables": [{"name": f"V{number}"} for number in range(9)]}] * MAX_ITEMS
    late = make("x" * 5_000 + " no api key", packages=[*many, secret()])
    assert auth_of(facts_of(late).bits) == "unknown"
