"""Settings of the ARD registry."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from ...config import each_matches, setting


@frozen
class ArdConfig:
    """The registry API of Agentic Resource Discovery (ARD), by which agents find servers."""

    access: Literal["off", "public", "key"] = setting(
        "key", "Who may use the ARD registry: nobody (off), everybody (public), clients with an API key (key)."
    )
    referrals: tuple[str, ...] = setting(
        (),
        "Base URLs of other ARD registries that a search names on request.",
        each_matches(r"https?://[^\s/?#]+(/[^\s?#]*)?", "URLs such as https://registry.example.org/api/v1/"),
    )
