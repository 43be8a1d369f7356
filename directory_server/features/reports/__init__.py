"""Reports of readers about entries: a form on the pages, a list for operators, and a command."""

from ...feature import Feature
from .settings import ReportsConfig

FEATURE = Feature("reports", __name__, settings=ReportsConfig, web="web:PART", command="command:report")
