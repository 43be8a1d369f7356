"""Requests of members for a larger limit of their keys, which operators grant or decline."""

from ...feature import Feature

FEATURE = Feature(
    "quota_requests",
    __name__,
    section="Access",
    commands={"quota-request": "List requests of members for a larger limit, and decide on them."},
    resources=("resource:QUOTA_REQUESTS",),
)
