"""Protocols that storage, search and the runtime implement."""
