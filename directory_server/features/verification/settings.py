"""Settings of the checks of remotes and packages."""

from __future__ import annotations

import re

from attrs import frozen

from ...config import AtLeast, Seconds, name_patterns, networks, setting


def contact(_: object, __: object, text: str) -> None:
    """Validate an e-mail address or an http or https URL, or an empty string. It is sent in a header."""
    # A comment in the header holds it, so it has no brackets (RFC 9110, section 5.6.5).
    has_form = re.fullmatch(r"(https?://|[^@]+@)[^@]+", text) and re.fullmatch(r"[!-'*-;=?-\[\]-~]{,200}", text)
    if text and not has_form:
        raise ValueError("must be an e-mail address or a URL such as https://directory.example.org/about")


@frozen
class VerifyConfig:
    """Checks of remotes and packages. Limits apply to each process."""

    remotes: bool = setting(
        False,
        "Whether the server checks remotes: it connects to their URLs.",
        daily=True,
        step="admin.step_checks",
    )
    packages: bool = setting(
        False,
        "Whether the server checks packages, at npm, PyPI, NuGet and OCI registries.",
        daily=True,
    )
    remotes_interval: Seconds = setting(86_400.0, "Time between two checks of a remote.", AtLeast(3_600))
    packages_interval: Seconds = setting(604_800.0, "Time between two checks of a package.", AtLeast(3_600))
    retry: Seconds = setting(21_600.0, "Time from a failed check to the next, until the server is down.", AtLeast(600))
    down_after: Seconds = setting(
        259_200.0, "Time of failed checks, at least 3, until a server is down.", AtLeast(3_600)
    )
    per_minute: int = setting(60, "Limit of checks per minute.", AtLeast(1))
    concurrency: int = setting(8, "Limit of checks at a time, one per host.", AtLeast(1))
    per_host: int = setting(10, "Limit of checks per minute of targets with the same host.", AtLeast(1))
    include: tuple[str, ...] = setting(
        (), "Patterns of names to check, * for any characters; if empty: all.", name_patterns
    )
    exclude: tuple[str, ...] = setting((), "Patterns of names not to check.", name_patterns)
    contact: str = setting("", "Address or URL in the User-Agent of checks; if empty: web.url.", contact)
    allowed_networks: tuple[str, ...] = setting(
        (),
        "Networks that are not public and may be checked, such as 10.0.0.0/8.",
        networks,
    )
    history: int = setting(20, "Stored checks of each remote and package.", AtLeast(1))
