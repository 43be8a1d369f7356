"""The server under test, as for the web tests."""

from ..web.conftest import server

__all__ = ["server"]
