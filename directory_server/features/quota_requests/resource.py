"""Requests for a larger limit: their kind, and the declaration of their pages and of `quota-request`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...domain.accounts import Account
from ...domain.errors import BadInput
from ...domain.keys import limit_of
from ...domain.requests import Kind, Request
from ...request_resource import RequestForm, decision, request_resource
from ...resource import Facts, Field, Parts

if TYPE_CHECKING:
    from ...feature.server import Server

QUOTA = Kind("quota", per_account=1, page="/account/quota")
"""Its subject is the id of the account."""


def _check(parts: Parts, request: Request, limit: str) -> Facts:
    if parts.is_own(request.account):
        raise BadInput("You cannot change the limit of your own account.", code="own_account")
    return {"granted": limit_of(limit)}


async def _grant(parts: Parts, request: Request) -> None:
    await parts.storage.people.accounts.set_limit(request.subject, request.details["granted"])


def _new(account: Account, limit: str) -> Request:
    return Request(QUOTA.name, account.id, account=account.id, details={"wanted": limit_of(limit)})


async def _present(server: Server, account: Account) -> Mapping[str, Any]:
    return {"present": account.key_limit(server.config.quota.limit), "is_pending": not account.approved}


QUOTA_REQUESTS = request_resource(
    QUOTA,
    "quota-request",
    group="access",
    columns=("email", "wanted", "granted", "text", "created_at", "state"),
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
    ),
    form=RequestForm(
        _new, (Field("limit", longest=12, is_required=True),), template="quota_requests/costs.html", extra=_present
    ),
)
