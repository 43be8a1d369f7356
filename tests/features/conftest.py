"""Fixtures of tests of features: a server in memory, its pages, browsers, and the command on a data directory."""

from __future__ import annotations

from ..cli.conftest import directory as directory
from ..tables.conftest import clock as clock
from ..tables.conftest import migrated_engine as migrated_engine
from ..tables.conftest import open_tables as open_tables
from ..tables.conftest import tables as tables
from ..web.browsers import ann as ann
from ..web.browsers import auditor as auditor
from ..web.browsers import browser as browser
from ..web.browsers import member as member
from ..web.browsers import operator as operator
from ..web.browsers import operator_account as operator_account
from ..web.conftest import documentation as documentation
from ..web.conftest import server as server
from ..web.pages.conftest import get_page as get_page
