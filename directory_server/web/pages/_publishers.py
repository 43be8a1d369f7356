"""Filters of templates for publishers, which are namespaces of registered names."""

from __future__ import annotations

import re

from ...domain.namespaces import CODE_HOSTS
from ...domain.titles import display_title
from ...domain.views import Hit
from ._cards import owner
from ._filters import link, plain

PUBLISHERS = "/publishers/"
"""The beginning of the paths of publishers."""

_NAMESPACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
"""Namespaces that have a page. Their characters need no encoding in an address."""


def publisher(name: str) -> str:
    """Return the namespace of a server, empty if it has none or one that no address can hold."""
    namespace = name.rpartition("/")[0]
    return namespace if _NAMESPACE.fullmatch(namespace) else ""


def publisher_url(namespace: str) -> str:
    return f"{PUBLISHERS}{namespace}"


def website_of(namespace: str) -> str:
    """Return the address of a publisher: the profile at a code host, else the domain; empty if it has none."""
    if namespace.startswith(CODE_HOSTS):
        host, _, account = namespace.removeprefix("io.").removeprefix("com.").partition(".")
        return link(f"https://{host}.com/{account}")
    return link(f"https://{owner(f'{namespace}/')}/") if "." in namespace else ""


def title_of_hit(hit: Hit) -> str:
    title = "" if hit.name == hit.server_name else hit.name
    return plain(display_title(title, hit.server_name), 100) or hit.mcp_id
