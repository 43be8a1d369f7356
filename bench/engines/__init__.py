"""Search engines: ours, and those to compare with."""
