"""The web part of verification: templates and texts."""

from __future__ import annotations

from ...web.pages import Extension
from ...web.parts import WebPart

NAME = "verification"

PART = WebPart(extension=Extension(NAME, "directory_server.features.verification"))
