"""What members do with their own requests of any kind: answer a question, and withdraw."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from ...domain.errors import DirectoryError
from ...domain.requests import EventKind, unknown_request
from ...http import Request as HttpRequest
from ...tables import Requests
from ..audit import Values, changing
from ._requests import AccountRequests

ACTIONS: Mapping[str, EventKind] = {"answer": "answer", "withdraw": "withdrawn"}


@frozen
class OwnRequests:
    """Handles the forms for the requests `stored` of a member; `_path` shows them. The macro `talk` has the forms."""

    _requests: AccountRequests
    stored: Requests
    _now: Callable[[], float]
    _path: str

    async def change(self, request: HttpRequest, request_id: str, action: str) -> bytes:
        """Answer a question or withdraw, and go back."""
        member, fields = await self._requests.member_form(request)
        text = fields.get("text", "")
        try:
            own = await self.stored.find(request_id)
            if action not in ACTIONS or own.account != member.account.id:
                raise unknown_request()
            async with changing(request, lambda: self._state(request_id)):
                await self.stored.record(own.id, ACTIONS[action], own.account, text, self._now())
        except DirectoryError:
            return self._requests.form_error(request, self._path, reason=text)
        return self._requests.redirect(request, self._path, action)

    async def _state(self, request_id: str) -> Values:
        own = await self.stored.find(request_id)
        return {"subject": own.subject, "state": own.state}
