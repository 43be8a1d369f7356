"""Fixtures of tests of features: a server in memory, its pages, and the command on a data directory."""

from __future__ import annotations

from ..cli.conftest import directory as directory
from ..web.conftest import documentation as documentation
from ..web.conftest import server as server
from ..web.pages.conftest import get_page as get_page
