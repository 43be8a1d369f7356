"""How many accounts use an entry: those that opened it of late, counted without a history of persons."""

from ...feature import Feature

FEATURE = Feature("popularity", __name__, settings="settings:PopularityConfig", run="counter:run", runs_if="enabled")
