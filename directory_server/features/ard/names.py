"""Identifiers of entries in ARD: URNs that begin with the domain of the publisher (ARD v0.9, section 4.2.1)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b

from ...domain.kinds import KINDS, SERVER, kind_of

_DOMAIN = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")
_OTHER = re.compile(r"[^A-Za-z0-9._-]")

IDENTIFIER = re.compile(r"urn:air:[a-zA-Z0-9.-]{1,253}(:[a-zA-Z0-9._-]{1,210}){1,10}")
"""An identifier of an entry (ARD v0.91, appendix C)."""

MAX_PART = 200
"""Characters of a part of a URN."""


def urn(name: str, host: str) -> str:
    """Return the identifier of the entry with the registered `name`: `urn:air:acme.com:weather` for `com.acme/weather`,
    and `urn:air:acme.com:agent:weather` for `com.acme/agent:weather`.

    The publisher of a name without a reversed domain is `host`, the name of this server. Names that differ only in
    characters that a URN cannot have differ in a digest at the end.
    """
    namespace, *parts = name.split("/")
    if parts and _DOMAIN.fullmatch(namespace):
        publisher = domain_of(namespace)
    else:
        publisher, parts = host, [namespace, *parts]
    if kind_of(name) != SERVER:
        parts = [*parts[:-1], *parts[-1].split(":", 1)]
    safe = [_OTHER.sub("-", part)[:MAX_PART] or "-" for part in parts]
    if safe != parts:
        safe[-1] += f".{blake2b(name.encode('utf-8', 'surrogatepass'), digest_size=4).hexdigest()}"
    return ":".join(("urn:air", publisher, *safe))


def names_of(identifier: str, host: str) -> Sequence[str]:
    """Return the registered names that may have this identifier at the host `host`, none if it is no identifier.

    A name with characters that an identifier cannot have is not among them.
    """
    if not IDENTIFIER.fullmatch(identifier):
        return ()
    _, _, publisher, *parts = identifier.split(":")
    names = ["/".join((domain_of(publisher), *parts)), *(["/".join(parts)] if publisher == host else [])]
    names += [f"{domain_of(publisher)}/{':'.join(parts)}"] if parts[0] in KINDS else []
    return [name for name in names if urn(name, host) == identifier]


def domain_of(namespace: str) -> str:
    """Return the domain of a namespace: `acme.com` for `com.acme`."""
    return ".".join(reversed(namespace.split(".")))


def host_name(base_url: str) -> str:
    """Return the name of the host in a URL, as a URN can have it; `localhost` for an address."""
    host = base_url.partition("://")[2].partition("/")[0]
    name = host.rpartition(":")[0] if ":" in host and not host.endswith("]") else host
    return name if re.fullmatch(r"[A-Za-z0-9.-]*[A-Za-z][A-Za-z0-9.-]*", name) else "localhost"
