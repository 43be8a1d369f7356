"""The registry API: the directory in the form in which VS Code and Copilot read an organisation's MCP registry.

`_entrance` says who may read it; `_registry` answers its paths; `is_registry` tells these from others.
"""

from ._access import RegistryAccess
from ._handlers import RegistryHandlers, is_registry, problem

__all__ = ["RegistryAccess", "RegistryHandlers", "is_registry", "problem"]
