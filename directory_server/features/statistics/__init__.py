"""Statistics: numbers of requests and searches by day, and frequent texts of searches, for operators."""

from ...feature import Feature
from .settings import StatisticsConfig

FEATURE = Feature("statistics", __name__, settings=StatisticsConfig, web="web:PART", run="recorder:running")
