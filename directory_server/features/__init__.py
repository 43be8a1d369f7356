"""Features: a folder each, registered in FEATURES.

A feature imports the rest of the package and no other feature. Only the application, the command line and the tests
import this module.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from attrs import AttrsInstance

from ..feature import Feature

FOLDERS = (
    # Features after it may use the trace.
    "traces",
    # Features after it may send e-mails.
    "requests",
    "operators",
    "quota_requests",
    "curation",
    "lists",
    "policy",
    "managed_settings",
    "publishing",
    "verification",
    "lookalikes",
    "removals",
    "end_of_life",
    "statistics",
    "popularity",
    "reports",
    "feeds",
    "icons",
    "audit",
    "docs",
    "embeddings",
    "ard",
    "text_marks",
    "dump",
    "sign_in",
    "marketplace",
    "client_checks",
    "webhooks",
)

FEATURES: tuple[Feature, ...] = tuple(import_module(f"{__name__}.{folder}").FEATURE for folder in FOLDERS)


@cache
def sections() -> Mapping[str, type[AttrsInstance]]:
    """Return the classes of the sections of settings of all features, by name."""
    return {feature.name: feature.part(feature.settings) for feature in FEATURES if feature.settings}
