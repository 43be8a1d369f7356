"""Composition root: the one place where all parts are created and connected.

Importing this package installs the reactor, because the web layer uses Klein.
"""

from ._application import Application, build
from ._core import Runtime, machine_runtime
from ._features import extensions
from ._people import preload
from ._publishers import max_streams
