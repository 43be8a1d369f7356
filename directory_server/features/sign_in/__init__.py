"""Sign-in by OpenID Connect and GitHub, and access tokens of issuers in place of API keys (OAuth 2.1)."""

from ...feature import Feature

FEATURE = Feature(
    "sign_in",
    __name__,
    settings="settings:SignInConfig",
    web="web:PART",
    run="tokens:run",
    runs_if="issuer",
    doctor="doctor:checks",
)
