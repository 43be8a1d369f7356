"""Features: a folder each, registered in FEATURES.

A feature imports the rest of the package and no other feature. Only the application, the command line and the tests
import this module.
"""

from ..feature import Feature
from .docs import FEATURE as DOCS
from .feeds import FEATURE as FEEDS
from .reports import FEATURE as REPORTS

FEATURES: tuple[Feature, ...] = (REPORTS, FEEDS, DOCS)
