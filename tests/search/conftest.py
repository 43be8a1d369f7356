"""`KERNEL=none pytest tests/search` runs the tests of the search without the compiled modules."""

from __future__ import annotations

import os

from directory_server.search.index import arrays

if os.environ.get("KERNEL") == "none":
    arrays.kernel = arrays.ranking = None
