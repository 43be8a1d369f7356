"""Settings of the MCP endpoint and the registry API."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from ._validators import AtLeast, setting


@frozen
class RegistryConfig:
    """The registry API, which editors read."""

    access: Literal["off", "public", "secret-path", "key"] = setting(
        "off",
        "Who may read the registry API: nobody (off), everybody (public), clients that know a path (secret-path), "
        "clients with an API key (key).",
        daily=True,
    )
    listed: Literal["all", "curated"] = setting(
        "all", "Entries in the registry API: all, or only local, published, pinned and allowed entries (curated)."
    )
    per_minute: int = setting(120, "Requests per minute and address without a key.", AtLeast(1))


@frozen
class McpConfig:
    """The MCP endpoint."""

    search_tools: bool = setting(
        False, "Whether the endpoint offers a third tool, search_tools, which searches the tools of all servers."
    )
