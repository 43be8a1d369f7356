"""The directory server with an index that returns the same page for every query. For `twistd -ny`."""

import os

from twisted.application.service import Application

from bench._page import StubIndex
from directory_server import tap
from directory_server.composition import _core

_core.ImpactIndex = lambda _: StubIndex()  # type: ignore[assignment, misc]

application = Application("directory")
tap.service(tap.configure(os.environ)).setServiceParent(application)
