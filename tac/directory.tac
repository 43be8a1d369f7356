"""The same service for `twistd -ny tac/directory.tac`, configured by DIRECTORY_SERVER_* variables alone."""

import os
import sys

from twisted.application.service import Application

from directory_server.config import (ConfigError)
from directory_server.tap import (configure, service)

try:
    config = configure(os.environ)
except ConfigError as error:
    sys.exit(f"directory: {error}")

application = Application("directory")
service(config).setServiceParent(application)
