"""Tokens of the registry API for operators: the declaration of their pages and of `registry token`."""

from __future__ import annotations

from attrs import asdict

from ...domain.errors import NotFound
from ...domain.keys import RegistryToken
from ...resource import Action, Done, Field, Parts, Resource

_OFF = "The token has no effect yet: set registry.access to secret-path."


async def _create(parts: Parts, label: str) -> Done:
    token, secret = await parts.storage.people.registry_tokens.create(label)
    hint = "" if parts.config.registry.access == "secret-path" else _OFF
    line = f"Created token {token.id} for {label!r}. Its URL is shown only once:"
    return Done(token.id, secret=f"{parts.url()}/r/{secret}", line=line, hint=hint)


async def _find(parts: Parts, token_id: str) -> RegistryToken:
    for token in await parts.storage.people.registry_tokens.list():
        if token.id == token_id:
            return token
    raise NotFound(f"No token has the id {token_id[:20]!r}.")


REGISTRY_TOKENS = Resource(
    name="registry-tokens",
    command="registry token",
    noun="token",
    group="access",
    about='Create, list and revoke the tokens in its secret paths (registry.access = "secret-path").',
    texts="operators.registry_tokens",
    list=lambda parts, asked: parts.storage.people.registry_tokens.list(),
    find=_find,
    facts=lambda parts, token: {**asdict(token), "state": "revoked" if token.revoked_at else "valid"},
    columns=("label", "last_four", "created_at", "state"),
    add=Action(
        "create",
        "Create a token and print its URL for editors to standard output. The URL is shown only once.",
        _create,
        fields=(Field("label", "Owner or purpose of the token.", is_required=True),),
        place="command",
    ),
    actions=(
        Action(
            "revoke",
            "Revoke a token. From the next request on, its path is not found.",
            lambda parts, token_id: parts.storage.people.registry_tokens.revoke(token_id),
            done="is revoked",
            confirms=True,
            allows=lambda parts, facts: facts["state"] == "valid",
        ),
    ),
)
