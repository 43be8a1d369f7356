"""Publishing: publisher tokens publish entries over the registry API, with an audit log."""

from ...feature import Feature
from .settings import PublishConfig

FEATURE = Feature(
    "publish",
    __name__,
    settings=PublishConfig,
    web="web:PART",
    command="command:publisher",
    run="service:running",
)
