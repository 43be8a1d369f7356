"""The directory server with a search that always returns the same page. For `twistd -ny`."""

import os

from twisted.application.service import Application

from bench.servers.stub_page import stub_search
from directory_server import tap

stub_search()
application = Application("directory")
tap.service(tap.configure(os.environ)).setServiceParent(application)
