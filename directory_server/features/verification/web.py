"""The web part of verification: templates and texts."""

from __future__ import annotations

from ...feature.parts import WebPart
from ...web.pages import Extension

NAME = "verification"

PART = WebPart(extension=Extension(NAME, "directory_server.features.verification"))
