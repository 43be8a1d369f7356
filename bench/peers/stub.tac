"""Our server, whole but for the index: that finds the same page whatever is asked. For `twistd -ny`."""

import os

from twisted.application.service import Application

from bench._page import StubIndex
from directory_server import server, tap

server.ImpactIndex = lambda _: StubIndex()  # type: ignore[assignment, misc]

application = Application("directory")
tap.service(tap.configure(os.environ)).setServiceParent(application)
