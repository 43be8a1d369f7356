"""Composition root: the one place where all parts are created and connected.

Importing this package installs the reactor, because the web layer uses Klein.
"""

from ._application import Application, build
from ._core import index_keeper
from ._features import all_routes, extensions
from ._preload import preload
from ._publishers import max_streams
from ._runtime import Runtime, machine_runtime
