"""The command line `directory-server`: one command group per module."""
