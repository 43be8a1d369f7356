"""Requests for entries on lists: their kinds, and what was approved."""

from __future__ import annotations

from attrs import frozen

from ...domain.requests import Kind

LISTING = Kind("list", most=2_000, per_account=20, page="/account/requests")
"""Requests of members for the entry `subject` on the list `place`."""

VERSION = Kind("version", needs_text=False, most=0, of_accounts=False, expires=False, page="/account/requests")
"""A new document of an approved entry, with the digest in `details`. The directory makes such a request, for the
account of the approved one. Without it nobody would decide, so it does not expire."""

KINDS = (LISTING, VERSION)


@frozen
class Approval:
    """What was approved of an entry for a list: its document, encoded, and the digest of it."""

    version: str
    digest: str
    document: bytes
    approved_at: float
