"""Verification: checks of the remotes and packages of entries, and what they have found."""

from ...feature import Feature
from .settings import VerifyConfig

FEATURE = Feature(
    "verify",
    __name__,
    settings=VerifyConfig,
    web="web:PART",
    command="command:verify",
    run="service:running",
)
