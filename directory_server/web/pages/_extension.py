"""What a feature adds to the pages."""

from __future__ import annotations

from attrs import frozen

GROUPS = ("server", "access", "entries", "rules")
"""Groups of operator pages, in the order of the navigation."""


@frozen
class Extension:
    """Additions of a feature to the pages.

    `package` has the folder `templates` and the file `texts.toml`, with a table of texts for each language. The name of
    a template begins with `name` and a slash, the key of a text with `name` and a dot. `tabs` are operator pages: a
    group of GROUPS, a path and the key of a text. `account_tabs` are paths and keys of texts of pages of members.
    `head_parts` are templates for the head of each page, `list_parts` for the links below a list of entries.
    """

    name: str
    package: str
    tabs: tuple[tuple[str, str, str], ...] = ()
    account_tabs: tuple[tuple[str, str], ...] = ()
    head_parts: tuple[str, ...] = ()
    list_parts: tuple[str, ...] = ()
