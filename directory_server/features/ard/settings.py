"""Settings of the ARD registry."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from ...config import each_matches, setting
from .requests import MAX_PAGE


def _check_number(_: object, __: object, value: int) -> None:
    if not 0 <= value <= MAX_PAGE:
        raise ValueError(f"must be from 0 to {MAX_PAGE}, not {value}")


@frozen
class ArdConfig:
    """The registry API of Agentic Resource Discovery (ARD), by which agents find servers."""

    access: Literal["off", "public", "key"] = setting(
        "key", "Who may use the ARD registry: nobody (off), everybody (public), clients with an API key (key)."
    )
    manifest_entries: int = setting(
        0, "Number of entries in the manifest of a public registry, the best known ones, at most 100.", _check_number
    )
    referrals: tuple[str, ...] = setting(
        (),
        "Base URLs of other ARD registries that a search names on request.",
        each_matches(r"https?://[^\s/?#]+(/[^\s?#]*)?", "URLs such as https://registry.example.org/api/v1/"),
    )
