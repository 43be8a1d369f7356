"""Pages and forms of signed-in members: decorators with what each of their handlers does before and after its work.

The object of a decorated method has `_requests`, which authenticates a request and renders its page.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import wraps
from typing import Any

from attrs import frozen

from ...domain.errors import DirectoryError
from ...domain.keys import NewSecret
from ...http import Request
from ...tables import StoredNewSecrets
from ..forms import parameters
from ._requests import Member

Handler = Callable[..., Coroutine[Any, Any, bytes]]


@frozen
class Sent:
    """A request of a member. `fields` are the query parameters of a page, or the fields of a form."""

    request: Request
    member: Member
    fields: Mapping[str, str]

    def text(self, name: str) -> str:
        """Return a field without spaces around it, empty if it is absent."""
        return self.fields.get(name, "").strip()


@frozen
class Next:
    """The page that follows a form, and the key of the notice on it."""

    path: str
    notice: str = ""


async def shown_once(
    request: Request, member: Member, secrets: StoredNewSecrets, subject: str
) -> tuple[NewSecret | None, int]:
    """Return the new secret of `subject` once, to the session that made it, and the status of its page."""
    # HEAD has no body, so it must not consume the secret.
    if request.method == b"HEAD":
        return None, 200
    new = await secrets.take(member.session.identifier, subject)
    return new, 410 if new is None else 200


def page(template: str) -> Callable[[Callable[..., Awaitable[Mapping[str, Any]]]], Handler]:
    """Return a decorator that makes a method which returns the values of `template` a handler of GET."""

    def decorate(read: Callable[..., Awaitable[Mapping[str, Any]]]) -> Handler:
        @wraps(read)
        async def handle(self: Any, request: Request, **path: str) -> bytes:
            member = await self._requests.member(request)
            values = await read(self, Sent(request, member, parameters(request)), **path)
            body: bytes = self._requests.page(request, member.session, template, values)
            return body

        return handle

    return decorate


def form(
    shown_on: str | Callable[[Mapping[str, str]], str], *kept: str, of_sign_in: bool = False
) -> Callable[[Callable[..., Awaitable[Next]]], Handler]:
    """Return a decorator that makes a method which does what a form asks for a handler of POST.

    The page `shown_on` shows an error of it, with the texts of the fields `kept`. Parameters of the path may be in it,
    as in the path of a route, or a function returns it for the fields and these. See `member_form` for `of_sign_in`.
    """

    def decorate(change: Callable[..., Awaitable[Next]]) -> Handler:
        @wraps(change)
        async def handle(self: Any, request: Request, **path: str) -> bytes:
            member, fields = await self._requests.member_form(request, of_sign_in=of_sign_in)
            body: bytes
            try:
                following = await change(self, Sent(request, member, fields), **path)
            except DirectoryError:
                texts = {name: fields.get(name, "") for name in kept}
                shown = shown_on.format(**path) if isinstance(shown_on, str) else shown_on({**fields, **path})
                body = self._requests.form_error(request, shown, **texts)
            else:
                body = self._requests.redirect(request, following.path, following.notice)
            return body

        return handle

    return decorate
