"""Tells twistd of the `directory` command; imports nothing of the package, for every twistd reads this."""

from twisted.application.service import ServiceMaker

directory = ServiceMaker(
    "MCP directory server",
    "directory_server.tap",
    "A directory of MCP servers, searched over REST and MCP",
    "directory",
)
