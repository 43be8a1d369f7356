"""Requests of all kinds: old ones expire, and e-mails tell people what waits for them and what was decided."""

from ...feature import Feature

FEATURE = Feature("requests", __name__, settings="settings:RequestsConfig", run="service:run", doctor="doctor:checks")
