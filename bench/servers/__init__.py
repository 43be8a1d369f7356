"""Server processes: the directory, the servers that it is compared with, and upstream registries."""
