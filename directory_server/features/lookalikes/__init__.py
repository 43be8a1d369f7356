"""Look-alikes: entries whose name, package or remote imitates or repeats that of another entry."""

from ...feature import Feature
from .settings import LookalikesConfig

FEATURE = Feature(
    "lookalikes",
    __name__,
    settings=LookalikesConfig,
    command="command:lookalikes",
    run="service:running",
    runs_if="enabled",
)
