"""The web part of feeds: routes, handlers and links."""

from __future__ import annotations

from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, WebPart
from ...web.routes import PAGES, Route
from .feed import Feeds
from .site_files import SiteFiles
from .sitemap import Sitemap


def _serve(kernel: Kernel) -> Endpoints:
    layout, access, catalogue = kernel.layout, kernel.access, kernel.catalogue
    return Endpoints(
        {
            "feeds": Feeds(layout, access, catalogue, kernel.offload, kernel.now),
            "site_files": SiteFiles(layout, access, kernel.robots),
            "sitemap": Sitemap(layout, access, catalogue, kernel.public_paths, kernel.offload),
        }
    )


PART = WebPart(
    routes=(
        Route("/feed.atom", "GET", PAGES, "feeds.get"),
        Route("/opensearch.xml", "GET", PAGES, "site_files.opensearch"),
        Route("/robots.txt", "GET", PAGES, "site_files.robots"),
        Route("/sitemap.xml", "GET", PAGES, "sitemap.get"),
        Route("/favicon.ico", "GET", PAGES, "site_files.icon"),
    ),
    serve=_serve,
    extension=Extension(
        "feeds", "directory_server.features.feeds", head_parts=("head.html",), list_parts=("link.html",)
    ),
)
