"""Packages of PyPI: https://docs.pypi.org/api/json/ and https://docs.pypi.org/api/index-api/."""

from __future__ import annotations

import re
from typing import Any

from ....domain.checks import PackageStatus
from ._package_api import Api, Found, TooLarge, declares, moment, text_of

ORIGIN = "https://pypi.org"

_NAME = re.compile(r"(?i)(?=.{1,100}$)[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?")

_INDEX = "application/vnd.pypi.simple.v1+json"


def is_valid(identifier: str) -> bool:
    """Return whether `identifier` may be the name of a project (PEP 508)."""
    return _NAME.fullmatch(identifier) is not None


async def check(api: Api, identifier: str, version: str, server_name: str) -> Found:
    """Return what PyPI says about a version of a project, about the latest one if `version` is empty."""
    project, latest = await _project(api, identifier)
    document: dict[str, Any] | None = project
    if version and (project is None or latest != version):
        code, found = await api.document(f"/pypi/{identifier}/{version}/json")
        if code == 404 and project is not None and not latest:
            return Found(PackageStatus.MISSING)
        if code == 404:
            return Found(PackageStatus.VERSION_MISSING, latest)
        document = found
    if not document:
        # Without a version, a project whose document is too large exists all the same.
        return Found(PackageStatus.MISSING if document is not None else PackageStatus.EXISTS)
    info, files = document.get("info"), document.get("urls")
    info = info if isinstance(info, dict) else {}
    files = files if isinstance(files, list) else []
    uploads = [moment(file.get("upload_time_iso_8601")) for file in files if isinstance(file, dict)]
    reason = await _status(api, identifier)
    yanked = info.get("yanked") is True
    return Found(
        PackageStatus.DEPRECATED if yanked or reason else PackageStatus.EXISTS,
        latest,
        min((upload for upload in uploads if upload is not None), default=None),
        text_of(info.get("yanked_reason")) if yanked else reason,
        declares(text_of(info.get("description")), server_name),
        texts=await api.texts(info.get("summary"), info.get("keywords"), info.get("description")),
    )


async def _project(api: Api, identifier: str) -> tuple[dict[str, Any] | None, str]:
    """Return the document of a project, an empty one if it is missing, None if it is too large; its latest version."""
    try:
        _, project = await api.document(f"/pypi/{identifier}/json")
    except TooLarge:
        return None, ""
    info = project.get("info")
    return project, text_of(info.get("version")) if isinstance(info, dict) else ""


async def _status(api: Api, identifier: str) -> str:
    """Return why the whole project should not be used (PEP 792), "" if it may be."""
    try:
        _, index = await api.document(f"/simple/{identifier}/", {"Accept": _INDEX})
    except TooLarge:
        return ""
    found = index.get("project-status")
    found = found if isinstance(found, dict) else {}
    status = text_of(found.get("status"))
    if status in ("", "active"):
        return ""
    return text_of(found.get("reason")) or f"Its project is {status}."
