"""The registry API: the form of the directory that VS Code and Copilot read as an MCP registry."""

from ._access import RegistryAccess
from ._handlers import RegistryHandlers, problem

__all__ = ["RegistryAccess", "RegistryHandlers", "problem"]
