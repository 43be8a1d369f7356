"""`ENGINE=none pytest tests/search` runs the tests of the search without the compiled engine."""

from __future__ import annotations

import os

from directory_server.search.index import arrays

if os.environ.get("ENGINE") == "none":
    arrays.engine = None
