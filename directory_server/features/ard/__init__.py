"""ARD: a registry of Agentic Resource Discovery, with the manifest and the server cards that lead to it."""

from ...feature import Feature

FEATURE = Feature("ard", __name__, settings="settings:ArdConfig", web="web:PART")
