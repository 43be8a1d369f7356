"""A self-hosted directory of MCP servers, searched over REST and MCP."""

from importlib.metadata import version

__version__ = version("directory-server")
