"""Requests for a larger limit: their kind, and the declaration of their pages and of `quota-request`."""

from __future__ import annotations

from ...domain.errors import BadInput
from ...domain.keys import limit_of
from ...domain.requests import Kind, Request
from ...request_resource import decision, request_resource
from ...resource import Facts, Field, Parts

QUOTA = Kind("quota", per_account=1, page="/account/quota")
"""Its subject is the id of the account."""


def _check(parts: Parts, request: Request, limit: str) -> Facts:
    if parts.is_own(request.account):
        raise BadInput("You cannot change the limit of your own account.", code="own_account")
    return {"granted": limit_of(limit)}


async def _grant(parts: Parts, request: Request) -> None:
    await parts.storage.people.accounts.set_limit(request.subject, request.details["granted"])


QUOTA_REQUESTS = request_resource(
    QUOTA,
    "quota-requests",
    "quota-request",
    "quota_requests",
    group="access",
    about="List requests of members for a larger limit, and decide on them.",
    columns=("email", "wanted", "granted", "text", "created_at", "state"),
    links={"email": "/admin/accounts/{email}"},
    facts=lambda parts, request: {"wanted": request.details["wanted"], "granted": request.details.get("granted")},
    decisions=(
        decision(
            QUOTA,
            "grant",
            "Set the limit of all keys of the account to LIMIT requests in any 60 minutes.",
            "approved",
            Field("limit", longest=12, is_required=True, is_argument=True),
            check=_check,
            apply=_grant,
            values=lambda parts, facts: {"limit": str(facts["wanted"])},
        ),
        decision(QUOTA, "decline", "Decline a request.", "declined"),
        decision(QUOTA, "ask", "Ask the member a question.", "question"),
    ),
)
