"""Policy: rules of the operator that hide entries, in the words of searches, with a dry run."""

from ...feature import Feature
from .settings import PolicyConfig

FEATURE = Feature(
    "policy",
    __name__,
    settings=PolicyConfig,
    web="web:PART",
    command="command:policy",
    run="applier:running",
)
