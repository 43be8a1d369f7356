"""ARD: a registry of Agentic Resource Discovery, with the manifest and the server cards that lead to it."""

from ...feature import Feature
from .settings import ArdConfig

FEATURE = Feature("ard", __name__, settings=ArdConfig, web="web:PART")
