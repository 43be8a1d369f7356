"""The doors: HTTP in, the directory behind it."""
