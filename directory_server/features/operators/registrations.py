"""Requests for the approval of accounts: the declaration of their pages and of `registration`."""

from __future__ import annotations

from ...domain.accounts import REGISTRATION
from ...domain.requests import Request
from ...request_resource import decision, request_resource
from ...resource import Field, Parts


async def _approve(parts: Parts, request: Request) -> None:
    await parts.storage.people.accounts.approve(request.subject)


async def _decline(parts: Parts, request: Request) -> None:
    if request.details["disabled"]:
        await parts.storage.people.accounts.disable(request.subject)


REGISTRATIONS = request_resource(
    REGISTRATION,
    "registration",
    texts="operators.registration",
    group="access",
    columns=("email", "text", "created_at", "state"),
    decisions=(
        decision(
            REGISTRATION,
            "approve",
            "Approve the account: each key gets its own quota, and the account is not deleted.",
            "approved",
            apply=_approve,
        ),
        decision(
            REGISTRATION,
            "decline",
            "Decline a registration. The account keeps its limits, and is deleted if it is not used.",
            "declined",
            Field("disabled", "Disable the account: it cannot sign in, and its keys are rejected.", "flag"),
            check=lambda parts, request, disabled: {"disabled": disabled},
            apply=_decline,
        ),
    ),
)
