"""Packages of npm: https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from ....domain.checks import PackageStatus
from ._package_api import Api, Found, TooLarge, member, moment, repository_of, text_of

ORIGIN = "https://registry.npmjs.org"

_NAME = re.compile(r"(?i)(?=.{1,214}$)(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*")

_SECURITY = "-security"
"""The end of the version that npm publishes in place of a removed malicious package."""


def is_valid(identifier: str) -> bool:
    """Return whether `identifier` may be the name of a package."""
    return _NAME.fullmatch(identifier) is not None


async def check(api: Api, identifier: str, version: str, server_name: str) -> Found:
    """Return what npm says about a version of a package, about the latest one if `version` is empty."""
    path = f"/{quote(identifier, safe='@')}"
    code, document = await api.document(f"{path}/{quote(version or 'latest', safe='')}")
    times, latest, readme = await _project(api, path, identifier)
    if code == 404 or not document:
        if not latest:
            return Found(PackageStatus.MISSING)
        removed = "npm has replaced it for security reasons." if latest.endswith(_SECURITY) else ""
        return Found(PackageStatus.VERSION_MISSING, latest, detail=removed)
    deprecated = document.get("deprecated")
    return Found(
        PackageStatus.DEPRECATED if deprecated else PackageStatus.EXISTS,
        latest,
        moment(times.get(text_of(document.get("version")))),
        text_of(deprecated),
        document.get("mcpName") == server_name,
        texts=await api.texts(document.get("description"), document.get("keywords"), readme),
        released_at=moment(times.get(latest)),
        provenance=_provenance(document),
    )


def _provenance(document: dict[str, Any]) -> str:
    """Return the repository that built the version, if npm has its provenance.

    npm accepts a provenance only if it names the `repository` of the document
    (https://docs.npmjs.com/generating-provenance-statements).
    """
    has_provenance = isinstance(member(document, "dist", "attestations", "provenance"), dict)
    stated = member(document, "repository", "url") or document.get("repository")
    return repository_of(stated) if has_provenance else ""


async def _project(api: Api, path: str, identifier: str) -> tuple[dict[str, Any], str, Any]:
    """Return the publication times of versions, the latest version, "" if the package does not exist, and its README.

    Only the document of the whole package has the times and the README. If it exceeds the bounds, they stay unknown.
    """
    try:
        _, document = await api.document(path)
        tags, times, readme = document.get("dist-tags"), document.get("time"), document.get("readme")
    except TooLarge:
        _, tags = await api.document(f"/-/package/{quote(identifier, safe='@')}/dist-tags")
        times = readme = None
    return times if isinstance(times, dict) else {}, text_of(member(tags, "latest")), readme
