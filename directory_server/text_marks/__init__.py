"""Rules that find texts which command a model: tool poisoning, MCP03 of the OWASP MCP Top 10."""

from .scanner import MIN_SCANNED, scan
from .words import rules
