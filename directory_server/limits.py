"""What the system lets a process have."""

from __future__ import annotations

import resource


def raise_open_files() -> int:
    """Let this process open as many files as it may let itself; return how many (getrlimit(2), RLIMIT_NOFILE)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # macOS says that there is no limit, and then has one.
        return soft
    return hard
