"""The outcome that a check must find for each kind of fake remote."""

from __future__ import annotations

from .hostile_responses import HOSTILE

WORKS = [
    "modern",
    "stateful",
    "stateful-events",
    "sessionless",
    "paged",
    "changing",
    "redirect-same",
    "no-tools",
    "sse",
    "old-transport",
    "sse-not",
    "sse-not-silent",
]

OUTCOMES = {
    **dict.fromkeys(WORKS, "works"),
    **dict.fromkeys(
        ["login-key", "login-oauth", "login-well-known", "login-bare", "login-forbidden", "payment", "tools-login"],
        "needs_login",
    ),
    **dict.fromkeys(["html", "not-found", "other-json", "rejecting", "redirect-loop", "sse-elsewhere"], "not_mcp"),
    **dict.fromkeys(["error-500", "closing", "cut"], "unreachable"),
    "busy": "busy",
    "redirect-away": "moved",
}

RARE = {
    "silent": "unreachable",
    **dict.fromkeys(HOSTILE, "not_mcp"),
    **dict.fromkeys(["gigantic", "endless-pages", "silent-discover"], "works"),
}
"""Kinds that cost a check most."""
