"""Matchers of managed settings, written after the documented rules of two clients.

VS Code: `allowedMcpServers.ts` and the URL normalization of GitHub's reference of enterprise managed settings. Claude
Code: the rules for URL patterns and commands of its page on managed MCP.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

KEYS = {"serverName", "serverUrl", "serverCommand"}


def check_format(document: Mapping[str, Any]) -> None:
    """Check that a managed-settings.json has only valid entries."""
    assert document.keys() == {"allowedMcpServers", "deniedMcpServers", "allowManagedMcpServersOnly"}
    assert document["allowManagedMcpServersOnly"] is True
    for matcher in (*document["allowedMcpServers"], *document["deniedMcpServers"]):
        ((key, value),) = matcher.items()
        assert key in KEYS
        words = value if key == "serverCommand" else [value]
        assert words
        assert all(isinstance(word, str) and word for word in words)
        # Clients expand or reject references, and no pattern has a wildcard.
        assert not any("${" in word for word in words)
        assert key != "serverUrl" or "*" not in value
    assert not any("serverName" in matcher for matcher in document["allowedMcpServers"])


def normalized(url: str) -> str:
    """Return a URL of an editor's configuration as clients compare it: lower-case host, no default port, a path."""
    parts = urlsplit(url)
    port = "" if parts.port in (None, {"http": 80, "https": 443}[parts.scheme]) else f":{parts.port}"
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}{port}{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"


def vs_code(pattern: str, url: str) -> bool:
    """Match as VS Code: a wildcard in the authority stays in it, and the case does not count."""
    start = pattern.index("://") + 3
    end = next((index for index in range(start, len(pattern)) if pattern[index] in "/\\?#"), len(pattern))
    parts = [
        re.escape(char) if char != "*" else r"[^/@\\?#]*" if index < end else ".*" for index, char in enumerate(pattern)
    ]
    return re.fullmatch("".join(parts), normalized(url), re.IGNORECASE) is not None


def claude_code(pattern: str, url: str) -> bool:
    """Match as Claude Code: a pattern without a path matches all paths, and the case of paths counts."""
    pattern = pattern if urlsplit(pattern).path else f"{pattern}/*"
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), normalized(url)) is not None


def is_registered(command: Sequence[str], package: Mapping[str, Any]) -> bool:
    """Return whether a start is the one of an npm package of a registry document, as was reported for Copilot CLI.

    Sources: github/copilot-cli 3934, navikt/copilot 601 and pull request 625. The rule is not published.
    """
    return command[0] == "npx" and f"{package['identifier']}@{package['version']}" in command


def others(url: str) -> Sequence[str]:
    """Return URLs that a rule for `url` must not match."""
    parts = urlsplit(normalized(url))
    host = parts.netloc
    return [
        f"{parts.scheme}://evil.example{parts.path}",
        f"{parts.scheme}://x.{host}{parts.path}",
        f"{parts.scheme}://{parts.hostname}.evil.example{parts.path}"
        if ":" not in (parts.hostname or "")
        else "https://[::3]/",
        f"{parts.scheme}://evil.example/{host}{parts.path}",
        f"{'http' if parts.scheme == 'https' else 'https'}://{host}{parts.path}",
        f"{parts.scheme}://{parts.hostname}:12345{parts.path}"
        if ":" not in (parts.hostname or "")
        else "https://[::2]/",
        f"{url}x",
        f"{normalized(url)}/other",
        f"{parts.scheme}://{host}/another-path",
    ]
