"""Licences of entries: the forms in which publishers state them."""

from __future__ import annotations

UNKNOWN = "unknown"

OTHER = "other"
"""The licences that are not recognised."""

LICENSES = (
    *("mit", "apache-2.0", "gpl-2.0", "gpl-3.0", "agpl-3.0", "lgpl-2.1", "lgpl-3.0", "mpl-2.0", "bsd-2-clause"),
    *("bsd-3-clause", "isc", "unlicense", "cc0-1.0", "mit-0", OTHER),
)
"""The licences that are recognised, as SPDX identifiers in lower case, and OTHER."""

_LICENSE_FORMS = {
    "mit license": "mit",
    "the mit license": "mit",
    "apache 2": "apache-2.0",
    "apache 2.0": "apache-2.0",
    "apache-2": "apache-2.0",
    "apache license 2.0": "apache-2.0",
    "apache license version 2.0": "apache-2.0",
    "gpl v2": "gpl-2.0",
    "gplv2": "gpl-2.0",
    "gpl v3": "gpl-3.0",
    "gplv3": "gpl-3.0",
    "agplv3": "agpl-3.0",
    "mplv2": "mpl-2.0",
    "bsd 2-clause license": "bsd-2-clause",
    "bsd 3-clause license": "bsd-3-clause",
}

_NO_LICENSE = frozenset(
    {"", "[not given]", "[not found]", "<unknown>", "unknown", "none", "n/a", "noassertion", "null"}
)


def license_of(value: object) -> str:
    """Return the licence that a publisher states: one of LICENSES, or unknown."""
    name = " ".join(value[:100].casefold().split()) if isinstance(value, str) else ""
    if name in _NO_LICENSE:
        return UNKNOWN
    name = _LICENSE_FORMS.get(name, name).removesuffix("-only").removesuffix("-or-later")
    return name if name in LICENSES else OTHER
