"""Requests for the approval of accounts: the declaration of their pages and of `registration`."""

from __future__ import annotations

from functools import partial

from ...domain.accounts import REGISTRATION
from ...request_resource import decision, request_resource
from ...resource import Field
from ...tables import Registrations

_decision = partial(decision, REGISTRATION, stored=Registrations)

REGISTRATIONS = request_resource(
    REGISTRATION,
    "registration",
    texts="operators.registration",
    group="access",
    columns=("email", "text", "created_at", "state"),
    decisions=(
        _decision(
            "approve", "Approve the account: each key gets its own quota, and the account is not deleted.", "approved"
        ),
        _decision(
            "decline",
            "Decline a registration. The account keeps its limits, and is deleted if it is not used.",
            "declined",
            Field("disabled", "Disable the account: it cannot sign in, and its keys are rejected.", "flag"),
            check=lambda parts, request, disabled: {"disabled": disabled},
        ),
    ),
)
