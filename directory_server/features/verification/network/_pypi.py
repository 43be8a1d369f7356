"""Packages of PyPI: https://docs.pypi.org/api/json/ and https://docs.pypi.org/api/index-api/."""

from __future__ import annotations

import re
from typing import Any

from ....domain.checks import PackageStatus
from ._package_api import Api, Failed, Found, TooLarge, declares, member, moment, objects_of, repository_of, text_of

ORIGIN = "https://pypi.org"

_NAME = re.compile(r"(?i)(?=.{1,100}$)[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?")

_INDEX, _INTEGRITY = "application/vnd.pypi.simple.v1+json", "application/vnd.pypi.integrity.v1+json"

_HOSTS = {"GitHub": "github.com", "GitLab": "gitlab.com"}
"""The hosts of repositories, by the kind of a Trusted Publisher."""


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
    reason, attested = await _index(api, identifier, [text_of(file.get("filename")) for file in objects_of(files)])
    description = member(info, "description")
    yanked = member(info, "yanked") is True
    return Found(
        PackageStatus.DEPRECATED if yanked or reason else PackageStatus.EXISTS,
        latest,
        _uploaded(files),
        text_of(member(info, "yanked_reason")) if yanked else reason,
        declares(text_of(description), server_name),
        texts=await api.texts(member(info, "summary"), member(info, "keywords"), description),
        released_at=_uploaded(project.get("urls")) if project else None,
        provenance=await _provenance(api, attested),
    )


def _uploaded(files: Any) -> float | None:
    """Return when the first of `files` was uploaded."""
    uploads = (moment(file.get("upload_time_iso_8601")) for file in objects_of(files))
    return min((upload for upload in uploads if upload is not None), default=None)


async def _project(api: Api, identifier: str) -> tuple[dict[str, Any] | None, str]:
    """Return the document of a project, an empty one if it is missing, None if it is too large; its latest version."""
    try:
        _, project = await api.document(f"/pypi/{identifier}/json")
    except TooLarge:
        return None, ""
    return project, text_of(member(project, "info", "version"))


async def _index(api: Api, identifier: str, names: list[str]) -> tuple[str, str]:
    """Return why the whole project should not be used (PEP 792), and the URL of the provenance of one of its files.

    Both are empty if there is none. `names` are the names of the files of a version.
    """
    try:
        _, index = await api.document(f"/simple/{identifier}/", {"Accept": _INDEX})
    except TooLarge:
        return "", ""
    status, stated = (text_of(member(index, "project-status", name)) for name in ("status", "reason"))
    reason = "" if status in ("", "active") else stated or f"Its project is {status}."
    files = (file for file in objects_of(index.get("files")) if file.get("filename") in names)
    return reason, next(filter(None, (text_of(file.get("provenance")) for file in files)), "")


async def _provenance(api: Api, url: str) -> str:
    """Return the repository whose workflow published a file, which the provenance at `url` names (PEP 740).

    This is the only request of it, and only for files that have one. Other publishers than GitHub and GitLab name none.
    """
    if not url.startswith(f"{api.origin}/integrity/"):
        return ""
    try:
        _, document = await api.document(url, {"Accept": _INTEGRITY})
    except (Failed, TooLarge):
        return ""
    for bundle in objects_of(document.get("attestation_bundles")):
        kind = text_of(member(bundle, "publisher", "kind"))
        if kind in _HOSTS:
            return repository_of(f"https://{_HOSTS[kind]}/{text_of(member(bundle, 'publisher', 'repository'))}")
    return ""
