"""The ports on one machine: SQLite, for one process or several."""
