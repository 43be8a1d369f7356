"""Packages of NuGet: https://learn.microsoft.com/nuget/api/registration-base-url-resource."""

from __future__ import annotations

import re
from typing import Any

from ....domain.checks import PackageStatus
from ._package_api import Api, Found, TooLarge, declares, member, moment, objects_of, text_of

ORIGIN = "https://api.nuget.org"

MAX_PAGES = 5
"""Pages of versions that are requested, the newest first."""

_NAME = re.compile(r"(?i)(?=.{1,100}$)[a-z0-9_]+(?:[.-][a-z0-9_]+)*")

_REGISTRATIONS = "/v3/registration5-gz-semver2"


def is_valid(identifier: str) -> bool:
    """Return whether `identifier` may be the ID of a package."""
    return _NAME.fullmatch(identifier) is not None


async def check(api: Api, identifier: str, version: str, server_name: str) -> Found:
    """Return what NuGet says about a version of a package, about the latest one if `version` is empty."""
    name = identifier.lower()
    code, index = await api.document(f"{_REGISTRATIONS}/{name}/index.json")
    if code == 404:
        return Found(PackageStatus.MISSING)
    pages = objects_of(index.get("items"))
    latest = text_of(pages[-1].get("upper")) if pages else ""
    wanted = _normal(version or latest)
    entry = await _entry(api, pages, wanted)
    if entry is None:
        # The version may be on a page that was not requested.
        code, leaf = await api.document(f"{_REGISTRATIONS}/{name}/{wanted}.json")
        if code == 404:
            return Found(PackageStatus.VERSION_MISSING, latest)
        entry = leaf
    deprecation = entry.get("deprecation")
    unlisted = entry.get("listed") is False
    return Found(
        PackageStatus.DEPRECATED if isinstance(deprecation, dict) or unlisted else PackageStatus.EXISTS,
        latest,
        moment(entry.get("published")),
        _reason(deprecation) if isinstance(deprecation, dict) else "It is not listed." if unlisted else "",
        await _names(api, name, wanted, server_name),
    )


async def _names(api: Api, name: str, version: str, server_name: str) -> bool | None:
    try:
        _, readme = await api.text(f"/v3-flatcontainer/{name}/{version}/readme")
    except TooLarge:
        return None
    return declares(readme, server_name)


async def _entry(api: Api, pages: list[dict[str, Any]], version: str) -> dict[str, Any] | None:
    """Return the metadata of `version`, None if it is not on one of the first pages that are looked at."""
    requested = 0
    for page in reversed(pages):
        content = page
        if "items" not in page and requested < MAX_PAGES:
            requested += 1
            try:
                _, content = await api.document(text_of(page.get("@id")))
            except TooLarge:
                continue
        for leaf in objects_of(content.get("items")):
            if _normal(text_of(member(leaf, "catalogEntry", "version"))) == version:
                entry: dict[str, Any] = leaf["catalogEntry"]
                return entry
    return None


def _normal(version: str) -> str:
    """Return a version as paths have it: in lower case, without metadata of the build."""
    return version.partition("+")[0].lower()


def _reason(deprecation: dict[str, Any]) -> str:
    reasons = deprecation.get("reasons")
    listed = ", ".join(filter(None, map(text_of, reasons))) if isinstance(reasons, list) else ""
    return text_of(deprecation.get("message")) or listed
