"""Settings of the MCP endpoint, the registry API, and publishing."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from ._validators import AtLeast, above_zero, setting


@frozen
class RegistryConfig:
    """The registry API, which editors read."""

    access: Literal["off", "public", "secret-path", "key"] = setting(
        "off",
        "Who may read the registry API: nobody (off), everybody (public), clients that know a path (secret-path), "
        "clients with an API key (key).",
    )
    listed: Literal["all", "curated"] = setting(
        "all", "Entries in the registry API: all, or only local, published, pinned and allowed entries (curated)."
    )
    per_minute: int = setting(120, "Requests per minute and address without a key.", AtLeast(1))


@frozen
class PublishConfig:
    """Publishing with publisher tokens over the registry API."""

    enabled: bool = setting(False, "Whether publisher tokens may publish entries.")
    per_minute: int = setting(60, "Requests per minute of each publisher token.", AtLeast(1))
    max_entries: int = setting(10_000, "Maximum number of published names, deleted entries included.", AtLeast(1))
    max_bytes: int = setting(200_000_000, "Maximum bytes of published entries.", AtLeast(100_000))
    log: float = setting(31_536_000.0, "Seconds for which a record of the audit log is stored.", above_zero)


@frozen
class McpConfig:
    """The MCP endpoint."""

    search_tools: bool = setting(
        False, "Whether the endpoint offers a third tool, search_tools, which searches the tools of all servers."
    )
