"""Settings of the ARD registry."""

from __future__ import annotations

from typing import Any, Literal

from attrs import frozen

from ...config import Seconds, above_zero, each_matches, setting
from .requests import MAX_PAGE

MAX_REGISTRIES = 8
"""Other registries that a search asks."""


def _check_number(_: object, __: object, value: int) -> None:
    if not 0 <= value <= MAX_PAGE:
        raise ValueError(f"must be from 0 to {MAX_PAGE}, not {value}")


# All clients read them: no user and password.
_registry_urls = each_matches(r"https?://[^\s/?#@]+(/[^\s?#]*)?", "URLs such as https://registry.example.org/api/v1/")


def _check_federation(owner: object, attribute: Any, urls: tuple[str, ...]) -> None:
    _registry_urls(owner, attribute, urls)
    if len(urls) > MAX_REGISTRIES:
        raise ValueError(f"must have at most {MAX_REGISTRIES} URLs")


@frozen
class ArdConfig:
    """The registry API of Agentic Resource Discovery (ARD), by which agents find servers."""

    access: Literal["off", "public", "key"] = setting(
        "key", "Who may use the ARD registry: nobody, everybody, clients with an API key."
    )
    manifest_entries: int = setting(
        0, "Best known entries in the manifest of a public registry, at most 100.", _check_number
    )
    referrals: tuple[str, ...] = setting(
        (), "Base URLs of other ARD registries that a search names on request.", _registry_urls
    )
    federation: tuple[str, ...] = setting(
        (),
        "Base URLs of at most 8 other ARD registries that are searched too.",
        _check_federation,
    )
    federation_timeout: Seconds = setting(1.0, "Time that a search waits for other registries.", above_zero)
