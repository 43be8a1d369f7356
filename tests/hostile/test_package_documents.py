"""Hostile documents of package registries: a check has a result, or one of its documented errors."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from directory_server.domain.checks import PackageStatus
from directory_server.features.verification.network import _npm, _nuget, _pypi
from directory_server.features.verification.network._package_api import MAX_REPOSITORY, Api, Failed, Found, TooLarge
from directory_server.runtime.run_sync import inline, run_sync

NAMES = st.sampled_from(
    [
        *("dist", "attestations", "provenance", "repository", "url", "deprecated", "version", "time", "readme"),
        "latest",
        *("dist-tags", "description", "keywords", "info", "urls", "files", "filename", "yanked", "yanked_reason"),
        *("upload_time_iso_8601", "project-status", "status", "reason", "attestation_bundles", "publisher", "kind"),
        *("items", "catalogEntry", "listed", "published", "deprecation", "reasons", "message", "upper", "@id"),
    ]
)
"""Names of members that the checks read."""

TEXTS = st.sampled_from(
    [
        *("1.0.0", "2025-03-04T05:06:07.890Z", "9999-12-31T23:59:59Z", "0001-01-01", "GitHub", "a.whl", "\0"),
        "\u202e",
        *(
            "git+https://github.com/a/b.git",
            "https://github.com/../..",
            "https://r.example/integrity/a",
            "http://[",
            "",
        ),
        *("x" * 100_000, "https://github.com/a/" + "b" * 1_000, "mcp-name: a/b"),
    ]
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=6),
    max_leaves=20,
)

DOCUMENTS = st.dictionaries(NAMES, VALUES, max_size=8)


@settings(max_examples=80, deadline=None)
@given(st.sampled_from([_npm, _pypi, _nuget]), st.data())
def test_a_document_of_a_registry_has_any_members(registry: ModuleType, data: st.DataObject) -> None:
    class Registry(Api):
        async def document(self, path: str, headers: Mapping[str, str] = {}) -> tuple[int, dict[str, Any]]:
            code = data.draw(st.sampled_from([200, 200, 200, 404]))
            return code, data.draw(DOCUMENTS) if code == 200 else {}

        async def text(self, path: str) -> tuple[int, str]:
            return 200, data.draw(TEXTS)

    client: Any = None
    try:
        found: Found = run_sync(registry.check(Registry("https://r.example", client, inline), "a", "1.0.0", "a/b"))
    except (Failed, TooLarge):
        return
    assert isinstance(found.status, PackageStatus)
    texts = found.latest_version, found.deprecation, found.detail, found.provenance
    assert all(isinstance(text, str) for text in texts)
    assert len(found.provenance) <= MAX_REPOSITORY
    assert all(time is None or time > 0 for time in (found.published_at, found.released_at))
