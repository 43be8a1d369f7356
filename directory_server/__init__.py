"""A self-hosted directory of MCP servers, searched over REST and MCP."""

import os
from importlib.metadata import version

# numpy's OpenBLAS would share a product of 100 vectors between threads: on busy processors a search waits for them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__version__ = version("directory-server")
