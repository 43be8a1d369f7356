"""Features: a folder each, registered in FEATURES.

A feature imports the rest of the package and no other feature. Only the application, the command line and the tests
import this module.
"""

from attrs import AttrsInstance

from ..feature import Feature
from .ard import FEATURE as ARD
from .audit import FEATURE as AUDIT
from .curation import FEATURE as CURATION
from .docs import FEATURE as DOCS
from .dump import FEATURE as DUMP
from .embeddings import FEATURE as EMBEDDINGS
from .feeds import FEATURE as FEEDS
from .icons import FEATURE as ICONS
from .lookalikes import FEATURE as LOOKALIKES
from .managed_settings import FEATURE as MANAGED_SETTINGS
from .marketplace import FEATURE as MARKETPLACE
from .operators import FEATURE as OPERATORS
from .publishing import FEATURE as PUBLISHING
from .quota_requests import FEATURE as QUOTA_REQUESTS
from .removals import FEATURE as REMOVALS
from .reports import FEATURE as REPORTS
from .sign_in import FEATURE as SIGN_IN
from .statistics import FEATURE as STATISTICS
from .text_marks import FEATURE as TEXT_MARKS
from .verification import FEATURE as VERIFICATION
from .webhooks import FEATURE as WEBHOOKS

FEATURES: tuple[Feature, ...] = (
    OPERATORS,
    QUOTA_REQUESTS,
    CURATION,
    MANAGED_SETTINGS,
    PUBLISHING,
    VERIFICATION,
    LOOKALIKES,
    REMOVALS,
    STATISTICS,
    REPORTS,
    FEEDS,
    ICONS,
    AUDIT,
    DOCS,
    EMBEDDINGS,
    ARD,
    TEXT_MARKS,
    DUMP,
    SIGN_IN,
    MARKETPLACE,
    WEBHOOKS,
)

SECTIONS: dict[str, type[AttrsInstance]] = {
    feature.name: feature.settings for feature in FEATURES if feature.settings is not None
}
"""The sections of settings of all features, by name."""
