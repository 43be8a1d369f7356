"""Numbers for Prometheus: what is counted, what is looked up when somebody asks, and where that is answered."""

from ._lag import Lag
from ._listener import site
from ._metrics import Metrics

__all__ = ["Lag", "Metrics", "site"]
