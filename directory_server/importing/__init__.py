"""Files and registries, read entry by entry into the directory."""
