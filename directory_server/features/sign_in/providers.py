"""The servers that people sign in with: OpenID Connect (Core 1.0, section 3.1), and the OAuth API of GitHub."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from hmac import compare_digest
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from attrs import field, frozen

from ...domain.errors import BadInput, DirectoryError, InvalidToken, NoAccess
from ...domain.keys import new_token
from ...http import Request
from ...http.headers import cookie
from ...http_client import BadResponse, DocumentClient
from ...issuers import Issuer, issuer_url
from ...serialization import decode
from .rules import Person, has_verified_address, person_of, texts_of, with_user_info
from .settings import IssuerConfig

LIFETIME = 600
"""Seconds for which a sign-in may take: people find a second factor."""

SECURE, PLAIN = "__Host-sign-in", "sign-in"
"""Names of the cookie with and without TLS; see SessionCookies."""

_LONGEST = 4_000
"""Characters of the cookie. Browsers accept 4,096."""


@frozen
class Attempt:
    """A sign-in with the issuer `issuer` that began at `began` (seconds since the epoch); then the page `back` follows.

    `state` binds the response to the browser, `nonce` the ID token to the attempt, and `verifier` the code to this
    server (PKCE, RFC 7636).
    """

    issuer: str
    back: str
    began: float
    state: str = field(factory=new_token, repr=False)
    nonce: str = field(factory=new_token, repr=False)
    verifier: str = field(factory=new_token, repr=False)

    @property
    def challenge(self) -> str:
        """The challenge of the verifier (S256)."""
        return urlsafe_b64encode(sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()

    def is_answered_by(self, issuer: str, state: str, now: float) -> bool:
        """Return whether a response of `issuer` with `state` belongs to this attempt, and is in time at `now`."""
        given = state.encode("utf-8", "replace")
        is_same = self.issuer == issuer and compare_digest(self.state.encode("utf-8", "replace"), given)
        return is_same and abs(now - self.began) <= LIFETIME

    def set(self, request: Request, *, secure: bool) -> None:
        """Set the cookie."""
        values = (self.issuer, self.back, repr(self.began), self.state, self.nonce, self.verifier)
        text = urlencode(dict(zip("ibtsnv", values, strict=True)))
        request.add_cookie(SECURE if secure else PLAIN, text, max_age=LIFETIME, secure=secure)


def read_attempt(request: Request, *, secure: bool) -> Attempt | None:
    """Return the attempt in the cookie of a request, None if there is none or it is malformed."""
    text = cookie(request, SECURE if secure else PLAIN) or ""
    try:
        values = dict(parse_qsl(text[:_LONGEST], strict_parsing=True, max_num_fields=6, errors="strict"))
        issuer, back, began, state, nonce, verifier = (values[name] for name in "ibtsnv")
        return Attempt(issuer, back, float(began), state, nonce, verifier)
    except (KeyError, ValueError):
        return None


def delete_attempt(request: Request, *, secure: bool) -> None:
    request.add_cookie(SECURE if secure else PLAIN, "", max_age=0, secure=secure)


MAX_DOCUMENT = 262_144
"""Bytes of a response of a token endpoint or an API. Groups make tokens long."""

DEADLINE = 10.0
"""Timeout of each request in seconds."""


class SignInFailed(DirectoryError):
    """An issuer did not confirm a person. The message is for the log of the operator."""

    code = "issuer_failed"


@frozen
class Client:
    """The directory as a client of a provider. `redirect_uri` is its callback; `secret` is empty without one."""

    documents: DocumentClient
    settings: IssuerConfig
    redirect_uri: str
    secret: str = field(repr=False)

    def authorization_url(self, endpoint: str, attempt: Attempt, **more: str) -> str:
        """Return the URL of an authorization request (RFC 6749, section 4.1.1; RFC 7636, section 4.3)."""
        parameters = {
            "response_type": "code",
            "client_id": self.settings.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": " ".join(self.settings.scopes),
            "state": attempt.state,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
            **more,
        }
        return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(parameters)}"

    async def tokens(self, endpoint: str, attempt: Attempt, code: str, methods: object = None) -> Mapping[str, Any]:
        """Return the response of the token endpoint. `methods` are its methods of client authentication."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": attempt.verifier,
        }
        authorization, client_id = "", self.settings.client_id
        is_posted = isinstance(methods, list) and "client_secret_basic" not in methods
        if self.secret and not is_posted:
            # RFC 6749, section 2.3.1. It is also the default of OpenID Connect Discovery 1.0, section 3.
            credentials = f"{quote(client_id, safe='')}:{quote(self.secret, safe='')}"
            authorization = f"Basic {b64encode(credentials.encode()).decode()}"
        else:
            form |= {"client_id": client_id, **({"client_secret": self.secret} if self.secret else {})}
        answer = await self.document(endpoint, authorization, form)
        if not isinstance(answer, dict):
            raise SignInFailed("The token endpoint sent no object.")
        return answer

    async def document(self, url: str, authorization: str = "", form: Mapping[str, str] | None = None) -> Any:
        """Return the JSON of a response. Raises SignInFailed."""
        try:
            body = await self.documents.get(
                url, max_bytes=MAX_DOCUMENT, deadline=DEADLINE, authorization=authorization, form=form
            )
            return decode(body)
        except (BadResponse, BadInput) as error:
            raise SignInFailed(f"{url.partition('?')[0]}: {error.message}") from None


@frozen
class Provider:
    """A server that people sign in with."""

    client: Client

    @property
    def settings(self) -> IssuerConfig:
        return self.client.settings

    async def authorization_url(self, attempt: Attempt) -> str:
        """Return the URL to which the browser is redirected. Raises SignInFailed."""
        raise NotImplementedError

    async def person(self, attempt: Attempt, code: str, issuer: str | None) -> Person:
        """Return the person whom the server confirms by a `code`. `issuer` is the parameter `iss` of the response.

        Raises SignInFailed and NotAllowed.
        """
        raise NotImplementedError

    async def sign_out_url(self, back: str) -> str:
        """Return the URL at which people sign out of the server, "" if there is none. Then the page `back` follows."""
        return ""


@frozen
class OpenIdProvider(Provider):
    """A server of OpenID Connect."""

    issuer: Issuer

    async def authorization_url(self, attempt: Attempt) -> str:
        endpoint = await self._endpoint("authorization_endpoint")
        return self.client.authorization_url(endpoint, attempt, nonce=attempt.nonce)

    async def person(self, attempt: Attempt, code: str, issuer: str | None) -> Person:
        metadata = await self._metadata()
        # RFC 9207, section 2.4: a response of another server that this browser was led to.
        if issuer is None and metadata.get("authorization_response_iss_parameter_supported") is True:
            raise SignInFailed("The response does not name its issuer (iss).")
        if issuer is not None and issuer != self.issuer.url:
            raise SignInFailed("The response is of another issuer (iss).")
        methods = metadata.get("token_endpoint_auth_methods_supported")
        tokens = await self.client.tokens(await self._endpoint("token_endpoint"), attempt, code, methods)
        claims = await self._claims(tokens.get("id_token"), attempt)
        subject = str(claims["sub"])
        return person_of(self.settings, subject, await self._with_user_info(metadata, tokens, claims))

    async def sign_out_url(self, back: str) -> str:
        try:
            endpoint = await self._endpoint("end_session_endpoint")
        except SignInFailed:
            return ""
        parameters = {"client_id": self.settings.client_id, "post_logout_redirect_uri": back}
        return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(parameters)}"

    async def _claims(self, token: object, attempt: Attempt) -> Mapping[str, Any]:
        """Return the claims of an ID token (OpenID Connect Core 1.0, section 3.1.3.7)."""
        if not isinstance(token, str):
            raise SignInFailed("The token endpoint sent no ID token.")
        try:
            verified = await self.issuer.verify(token, [self.settings.client_id])
        except (InvalidToken, NoAccess) as error:
            raise SignInFailed(error.message) from None
        claims, party = verified.claims, verified.claims.get("azp")
        if verified.kind not in ("", "jwt"):
            raise SignInFailed("The token is not an ID token (typ).")
        is_shared = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if party != self.settings.client_id and (party is not None or is_shared):
            raise SignInFailed("The ID token is for another client (azp).")
        nonce = claims.get("nonce")
        if not isinstance(nonce, str) or not compare_digest(nonce.encode(), attempt.nonce.encode()):
            raise SignInFailed("The ID token is of another sign-in (nonce).")
        return claims

    async def _with_user_info(
        self, metadata: Mapping[str, Any], tokens: Mapping[str, Any], claims: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Return `claims`, with those of the userinfo endpoint if the rules need one that is missing (section 5.3)."""
        rules = [rule.partition("=")[0] for rule in self.settings.require]
        has_address = has_verified_address(claims) or (self.settings.trust_email and "email" in claims)
        is_complete = has_address and all(texts_of(claims, name) for name in (self.settings.groups, *rules))
        access_token = tokens.get("access_token")
        if is_complete or "userinfo_endpoint" not in metadata or not isinstance(access_token, str):
            return claims
        if not access_token.isascii() or not access_token.isprintable():
            raise SignInFailed("The access token has characters that are not allowed.")
        user_info = await self.client.document(await self._endpoint("userinfo_endpoint"), f"Bearer {access_token}")
        if not isinstance(user_info, dict) or user_info.get("sub") != claims["sub"]:
            raise SignInFailed("The userinfo endpoint describes another person (sub).")
        return with_user_info(claims, user_info)

    async def _endpoint(self, name: str) -> str:
        try:
            return issuer_url(str((await self._metadata()).get(name, "")))
        except ValueError as error:
            raise SignInFailed(f"The discovery document of {self.issuer.url}: {name} {error}.") from None

    async def _metadata(self) -> Mapping[str, Any]:
        try:
            return await self.issuer.metadata()
        except DirectoryError as error:
            raise SignInFailed(error.message) from None


@frozen
class GitHubProvider(Provider):
    """GitHub, which has no ID tokens: its API has the person and her verified primary address."""

    @property
    def _api(self) -> str:
        url = self.settings.url.rstrip("/")
        return "https://api.github.com" if url == "https://github.com" else f"{url}/api/v3"

    async def authorization_url(self, attempt: Attempt) -> str:
        return self.client.authorization_url(f"{self.settings.url.rstrip('/')}/login/oauth/authorize", attempt)

    async def person(self, attempt: Attempt, code: str, issuer: str | None) -> Person:
        endpoint = f"{self.settings.url.rstrip('/')}/login/oauth/access_token"
        tokens = await self.client.tokens(endpoint, attempt, code, ["client_secret_post"])
        access_token = tokens.get("access_token")
        if not isinstance(access_token, str) or not access_token.isascii() or not access_token.isprintable():
            raise SignInFailed(f"GitHub sent no access token: {str(tokens.get('error'))[:100]!r}.")
        user = await self.client.document(f"{self._api}/user", f"Bearer {access_token}")
        emails = await self.client.document(f"{self._api}/user/emails", f"Bearer {access_token}")
        if not isinstance(user, dict) or type(user.get("id")) is not int or not isinstance(emails, list):
            raise SignInFailed("GitHub did not describe the person.")
        primary = next((email for email in emails if isinstance(email, dict) and email.get("primary") is True), {})
        claims = {
            "login": user.get("login"),
            "email": primary.get("email"),
            "email_verified": primary.get("verified") is True,
        }
        return person_of(self.settings, str(user["id"]), claims)
