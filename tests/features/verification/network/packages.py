"""Fake APIs of package registries. The shapes of documents are those of the registries' documentation."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

from attrs import define, field
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

SERVER = "io.github.acme/weather"

Document = dict[str, Any] | bytes | int | Callable[[Request], Any]


@define(eq=False, slots=False)
class FakeApi(Resource):
    """Serves `documents` by path; 404 for others. `requests` has the paths and headers of all requests."""

    isLeaf = True

    documents: dict[str, Document] = field(factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        Resource.__init__(self)

    def render_GET(self, request: Request) -> Any:
        path = request.uri.decode()
        headers = {k.decode().lower(): v[0].decode() for k, v in request.requestHeaders.getAllRawHeaders()}
        self.requests.append((path, headers))
        found = self.documents.get(path, 404)
        if callable(found):
            return found(request)
        if isinstance(found, int):
            request.setResponseCode(found)
            return b'{"error":"not found"}'
        return found if isinstance(found, bytes) else json.dumps(found).encode()


def redirect(target: str) -> Document:
    """Return a redirect to `target`."""

    def respond(request: Request) -> bytes:
        request.setResponseCode(307)
        request.setHeader(b"location", target.encode())
        return b""

    return respond


def silent(request: Request) -> Any:
    """Answer nothing."""
    return NOT_DONE_YET


def gzipped(document: dict[str, Any]) -> Document:
    """Return a document that is always compressed, as NuGet's are."""

    def respond(request: Request) -> bytes:
        request.setHeader(b"content-encoding", b"gzip")
        return gzip.compress(json.dumps(document).encode())

    return respond


def npm(version: dict[str, Any], **package: Any) -> dict[str, Document]:
    """Return the documents of the npm package @acme/weather with version 1.2.0."""
    released = {"name": "@acme/weather", "version": "1.2.0", "dist": {"tarball": "x"}, "mcpName": SERVER, **version}
    whole = {
        "_id": "@acme/weather",
        "name": "@acme/weather",
        "dist-tags": {"latest": "1.3.0"},
        "versions": {"1.2.0": released},
        "time": {"created": "2025-01-01T00:00:00.000Z", "1.2.0": "2025-03-04T05:06:07.890Z"},
        **package,
    }
    return {"/@acme%2Fweather/1.2.0": released, "/@acme%2Fweather/latest": released, "/@acme%2Fweather": whole}


def pypi(info: dict[str, Any], status: dict[str, Any] | None = None) -> dict[str, Document]:
    """Return the documents of the PyPI project weather with version 1.2.0."""
    described = {
        "name": "weather",
        "version": "1.2.0",
        "yanked": False,
        "yanked_reason": None,
        "description": f"# Weather\n\n<!-- mcp-name: {SERVER} -->\n",
        **info,
    }
    files = [{"filename": "w.whl", "upload_time_iso_8601": f"2025-03-04T05:06:0{n}.890123Z"} for n in (8, 7)]
    return {
        "/pypi/weather/json": {"info": {**described, "version": "1.3.0"}, "releases": {}, "urls": files},
        "/pypi/weather/1.2.0/json": {"info": described, "urls": files, "vulnerabilities": []},
        "/simple/weather/": {"meta": {"api-version": "1.4"}, "name": "weather", "project-status": status or {}},
    }


def nuget(origin: str, **entry: Any) -> dict[str, Document]:
    """Return the documents of the NuGet package Acme.Weather; version 1.2.0-beta is on a page of its own."""
    base = "/v3/registration5-gz-semver2/acme.weather"
    listed = {"id": "Acme.Weather", "version": "1.2.0-Beta+1", "listed": True, "published": "2025-03-04T05:06:07+00:00"}
    page = {"@id": f"{origin}{base}/page/1.json", "lower": "1.0.0", "upper": "1.2.0-beta", "count": 1}
    last = {"@id": "x", "upper": "1.3.0", "items": [{"catalogEntry": {"version": "1.3.0", "listed": True}}]}
    return {
        f"{base}/index.json": gzipped({"count": 2, "items": [page, last]}),
        f"{base}/page/1.json": gzipped({**page, "items": [{"catalogEntry": {**listed, **entry}}]}),
        "/v3-flatcontainer/acme.weather/1.2.0-beta/readme": f"# Weather\nmcp-name: {SERVER}\n".encode(),
    }


DIGEST = "sha256:" + "a" * 64
CONFIG = "sha256:" + "c" * 64
ATTESTATION = "sha256:" + "e" * 64


def oci(blobs: str, **labels: str) -> dict[str, Document]:
    """Return the documents of the image acme/weather:1.2.0, an index whose blobs are at the origin `blobs`."""
    base = "/v2/acme/weather"
    index = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [
            {"digest": ATTESTATION, "platform": {"os": "unknown", "architecture": "unknown"}},
            {"digest": DIGEST, "platform": {"os": "linux", "architecture": "amd64"}},
        ],
    }
    return {
        "/token?service=fake.example&scope=repository:acme/weather:pull": {"token": "t0ken", "expires_in": 300},
        "/token?service=fake.example&scope=repository:acme/gone:pull": {"token": "t0ken"},
        f"{base}/manifests/1.2.0": index,
        f"{base}/manifests/{DIGEST}": {"schemaVersion": 2, "config": {"digest": CONFIG}},
        f"{base}/blobs/{CONFIG}": redirect(f"{blobs}/blob"),
        f"{base}/tags/list?n=1": {"name": "acme/weather", "tags": ["1.2.0"]},
        "/blob": {"created": "2025-03-04T05:06:07.890123456Z", "config": {"Labels": labels}},
        "/v2/acme/gone/manifests/1.2.0": 401,
    }
