"""The `server` fixture of the web tests."""

from ..web.conftest import server

__all__ = ["server"]
