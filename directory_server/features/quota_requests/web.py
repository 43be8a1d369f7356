"""The web part of quota requests: the page of members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...domain.accounts import Account
from ...domain.keys import limit_of
from ...domain.requests import Request
from ...feature.request_pages import RequestForm, member_part
from ...feature.server import Server
from ...resource import Field
from .resource import QUOTA

NAME = "quota_requests"


def _new(account: Account, limit: str) -> Request:
    return Request(QUOTA.name, account.id, account=account.id, details={"wanted": limit_of(limit)})


async def _present(server: Server, account: Account) -> Mapping[str, Any]:
    return {"present": account.key_limit(server.config.quota.limit), "is_pending": not account.approved}


FORM = RequestForm(
    QUOTA,
    NAME,
    (Field("limit", longest=12, is_required=True),),
    _new,
    template=f"{NAME}/costs.html",
    extra=_present,
)

PART = member_part(FORM, NAME, "directory_server.features.quota_requests")
