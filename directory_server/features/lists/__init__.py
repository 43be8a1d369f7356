"""Lists of entries and groups of readers: who sees which entries.

An operator defines lists by a rule, by hand, or as all entries, and says which groups see them. A reader sees the
entries of her lists and no others, in every API and page: `scopes.py` decides the lists of a request once, and the
kernel applies them below search and store (`services.catalogue`). `keeper.py` stores which entries are in a list.
Members request entries for lists, and approvers decide (`request_pages.py`).
"""

from ...feature import Feature

FEATURE = Feature(
    "lists",
    __name__,
    settings="settings:ListsConfig",
    web="web:PART",
    section="Entries",
    commands={
        "lists": ("Define lists of entries and groups of readers: with lists.enabled, readers see their lists only.")
    },
    run="keeper:run",
    runs_if="enabled",
    resources=("resource:LISTS", "group_resource:GROUPS"),
    kinds=("requests:LISTING", "requests:VERSION"),
)
