"""Statistics: numbers of requests and searches by day, and frequent texts of searches, for operators."""

from ...feature import Feature

FEATURE = Feature("statistics", __name__, settings="settings:StatisticsConfig", web="web:PART", run="recorder:run")
