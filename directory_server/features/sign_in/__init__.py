"""Sign-in by OpenID Connect and GitHub, and access tokens of issuers in place of API keys (OAuth 2.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...feature import Feature
from .settings import SignInConfig

if TYPE_CHECKING:
    from ...feature import Host, Running
    from ...web.parts import WebPart


def _web() -> WebPart:
    from .web import PART

    return PART


def _run(host: Host) -> Running:
    from ...feature import Running

    settings = host.config.of(SignInConfig)
    if not settings.token_issuers:
        return Running()
    # The libraries of signatures and HTTP take 5 MB and .1 seconds.
    from .tokens import access_tokens

    return Running(access_tokens=access_tokens(host, settings))


FEATURE = Feature("sign_in", web=_web, settings=SignInConfig, run=_run)
