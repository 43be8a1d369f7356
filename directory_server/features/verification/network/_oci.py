"""Images of Docker Hub and of GitHub's registry: https://github.com/opencontainers/distribution-spec."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from attrs import frozen

from ....domain.checks import PackageStatus
from ._package_api import Api, Found, member, moment, objects_of, text_of

LABEL = "io.modelcontextprotocol.server.name"
"""The label of an image with the name of its server."""

MAX_TOKEN = 10_000
"""Characters of a token of a registry."""

_ACCEPT = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)

_REFERENCE = re.compile(
    r"(?=.{1,255}$)(?:(?P<host>[a-z0-9-]+(?:\.[a-z0-9-]+)+)/)?"
    r"(?P<name>[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*)"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?",
    re.ASCII,
)

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")

_HOSTS = {"": "docker.io", "index.docker.io": "docker.io", "registry-1.docker.io": "docker.io"}


@frozen
class Hub:
    """A registry of images: its origin, where it gives tokens, its name there, and the origins of its blobs."""

    origin: str
    tokens: str
    service: str
    blobs: tuple[str, ...] = ()


HUBS = {
    "docker.io": Hub(
        "https://registry-1.docker.io",
        "https://auth.docker.io/token",
        "registry.docker.io",
        (
            "https://auth.docker.io",
            "https://production.cloudflare.docker.com",
            "https://production.cloudfront.docker.com",
            "https://docker-images-prod.6aa30f8b08e16409b46e0173d6de2f55.r2.cloudflarestorage.com",
        ),
    ),
    "ghcr.io": Hub(
        "https://ghcr.io", "https://ghcr.io/token", "ghcr.io", ("https://pkg-containers.githubusercontent.com",)
    ),
}


@frozen
class Reference:
    """An image: the host of its registry, its repository, and its tag or digest, "" if the identifier has none."""

    host: str
    name: str
    version: str


def parse(identifier: str) -> Reference | None:
    """Return the image that `identifier` names, None if it is invalid."""
    found = _REFERENCE.fullmatch(identifier.removeprefix("https://").removeprefix("oci://"))
    if found is None:
        return None
    host = _HOSTS.get(found["host"] or "", found["host"] or "")
    name = found["name"]
    if host == "docker.io" and "/" not in name:
        name = f"library/{name}"
    return Reference(host, name, found["digest"] or found["tag"] or "")


async def check(api: Api, hub: Hub, image: Reference, version: str, server_name: str) -> Found:
    """Return what a registry says about a version of an image, about "latest" if there is none."""
    headers = await _authorization(api, hub, image.name)
    base = f"/v2/{image.name}"
    wanted = image.version or version or "latest"
    code, manifest = await api.document(f"{base}/manifests/{quote(wanted, safe=':')}", {**headers, "Accept": _ACCEPT})
    if code == 404:
        return await _missing(api, base, headers)
    if code != 200:
        return Found(PackageStatus.MISSING, detail="It does not exist, or is not public.")
    if isinstance(manifest.get("manifests"), list):
        path = f"{base}/manifests/{_of_platform(manifest['manifests'])}"
        _, manifest = await api.document(path, {**headers, "Accept": _ACCEPT})
    settings = await _configuration(api, base, headers, manifest)
    if settings is None:
        return Found(PackageStatus.EXISTS)
    names_server = member(settings, "config", "Labels", LABEL) == server_name
    return Found(PackageStatus.EXISTS, published_at=moment(settings.get("created")), names_server=names_server)


async def _authorization(api: Api, hub: Hub, name: str) -> dict[str, str]:
    """Return the header with an anonymous token for `name`, none if the registry gives none."""
    _, document = await api.document(f"{hub.tokens}?service={hub.service}&scope=repository:{name}:pull")
    token = text_of(document.get("token")) or text_of(document.get("access_token"))
    valid = 0 < len(token) <= MAX_TOKEN and token.isascii() and token.isprintable()
    return {"Authorization": f"Bearer {token}"} if valid else {}


async def _missing(api: Api, base: str, headers: dict[str, str]) -> Found:
    code, _ = await api.document(f"{base}/tags/list?n=1", headers)
    return Found(PackageStatus.VERSION_MISSING if code == 200 else PackageStatus.MISSING)


def _of_platform(manifests: list[Any]) -> str:
    """Return the digest of the manifest for Linux on amd64, else of the first one for a platform."""
    digests: dict[str, str] = {}
    for manifest in objects_of(manifests[:100]):
        system, digest = text_of(member(manifest, "platform", "os")), text_of(manifest.get("digest"))
        if _DIGEST.fullmatch(digest) and system != "unknown":
            digests.setdefault(f"{system}/{text_of(member(manifest, 'platform', 'architecture'))}", digest)
    return digests.get("linux/amd64") or next(iter(digests.values()), "")


async def _configuration(
    api: Api, base: str, headers: dict[str, str], manifest: dict[str, Any]
) -> dict[str, Any] | None:
    digest = text_of(member(manifest, "config", "digest"))
    if not _DIGEST.fullmatch(digest):
        return None
    code, settings = await api.document(f"{base}/blobs/{digest}", headers)
    return settings if code == 200 else None
