"""Publisher tokens for operators: the declaration of their pages and of `directory-server publisher`."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import asdict

from ...resource import EXPIRES, Action, Done, Field, Parts, Resource, expiry
from .settings import PublishConfig
from .tables import PublisherTokens
from .tokens import MAX_NAMESPACES, PublisherToken, unknown_publisher_token


def _tokens(parts: Parts) -> PublisherTokens:
    return PublisherTokens(parts.storage.tables, parts.now)


async def _create(parts: Parts, label: str, namespaces: Sequence[str], expires: str) -> Done:
    token, secret = await _tokens(parts).create(label, namespaces, expires_at=expiry(expires, parts.now()))
    allowed = ", ".join(token.namespaces)
    line = f"Created publisher token {token.id} for {label!r}: {allowed}. Its secret is shown only once:"
    is_on = parts.config.of(PublishConfig).enabled
    return Done(token.id, secret, line=line, hint="" if is_on else _OFF)


_OFF = "The token has no effect yet: set publish.enabled to true."


async def _find(parts: Parts, token_id: str) -> PublisherToken:
    for token in await _tokens(parts).list():
        if token.id == token_id:
            return token
    raise unknown_publisher_token(token_id[:20])


PUBLISHER_TOKENS = Resource(
    name="publisher-tokens",
    command="publisher",
    noun="publisher token",
    group="access",
    about="Create, list and revoke publisher tokens, and show what they published.",
    texts="publishing.tokens",
    list=lambda parts, asked: _tokens(parts).list(),
    find=_find,
    facts=lambda parts, token: {**asdict(token), "state": token.state(parts.now())},
    columns=("label", "namespaces", "last_four", "created_at", "expires_at", "state"),
    add=Action(
        "create",
        "Create a token and print its secret to standard output. The secret is shown only once.",
        _create,
        fields=(
            Field("label", "Owner or purpose of the token, as the audit log shows it.", is_required=True),
            Field(
                "namespaces",
                "Names that the token may publish: io.acme/*, io.acme/tool or io.acme.*/*; may be repeated.",
                "words",
                2_000,
                is_required=True,
                option="namespace",
                count=MAX_NAMESPACES,
            ),
            EXPIRES,
        ),
        place="command",
    ),
    actions=(
        Action(
            "revoke",
            "Revoke a token. The next request with it is rejected; its entries stay.",
            lambda parts, token_id: _tokens(parts).revoke(token_id),
            done="is revoked",
            confirms=True,
            allows=lambda parts, facts: facts["state"] == "valid",
        ),
    ),
)
