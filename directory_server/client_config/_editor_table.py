"""The table of editors. A new editor is a row here, and a writer if no other editor has its format."""

from __future__ import annotations

from . import _writers as writers
from ._editors import Editor

_NO_SSE = ("stdio", "http")

EDITORS = (
    Editor("vscode", "VS Code", ".vscode/mcp.json", writers.vs_code, "prompt", is_in_apis=True),
    Editor(
        "cursor",
        "Cursor",
        "~/.cursor/mcp.json",
        writers.listed(reference="${{env:{}}}", links=True),
        "variable",
        is_in_apis=True,
    ),
    Editor(
        "claude-code",
        "Claude Code",
        ".mcp.json",
        writers.claude_code,
        "variable",
        is_terminal=True,
        is_in_apis=True,
    ),
    Editor(
        "codex",
        "Codex",
        "~/.codex/config.toml",
        writers.codex,
        transports=_NO_SSE,
        form="toml",
        is_terminal=True,
    ),
    Editor(
        "claude-desktop",
        "Claude Desktop",
        "Settings | Developer | Edit Config (claude_desktop_config.json)",
        writers.claude_desktop,
    ),
    Editor(
        "gemini",
        "Gemini CLI",
        "~/.gemini/settings.json",
        writers.gemini,
        "variable",
        is_terminal=True,
        needs_trust=True,
    ),
    Editor(
        "opencode",
        "opencode",
        "~/.config/opencode/opencode.json",
        writers.opencode,
        "variable",
        is_terminal=True,
    ),
    Editor("qwen", "Qwen Code", "~/.qwen/settings.json", writers.gemini, "variable", is_terminal=True),
    Editor(
        "windsurf",
        "Windsurf",
        "~/.codeium/windsurf/mcp_config.json",
        writers.listed(url="serverUrl", reference="${{env:{}}}"),
        "variable",
        is_in_apis=True,
    ),
    Editor("zed", "Zed", "~/.config/zed/settings.json", writers.listed("context_servers"), transports=_NO_SSE),
    Editor(
        "jetbrains",
        "JetBrains",
        "Settings | Tools | AI Assistant | Model Context Protocol (MCP)",
        writers.listed(),
    ),
    Editor("visual-studio", "Visual Studio", "%USERPROFILE%\\.mcp.json", writers.vs_code, "prompt"),
    Editor(
        "cline",
        "Cline",
        "MCP Servers | Configure | Configure MCP Servers (cline_mcp_settings.json)",
        writers.listed(kind="streamableHttp"),
    ),
    Editor(
        "roo",
        "Roo Code",
        "MCP Servers | Edit Global MCP (mcp_settings.json)",
        writers.listed(reference="${{env:{}}}", kind="streamable-http"),
        "variable",
    ),
    Editor("continue", "Continue", "~/.continue/mcpServers/mcp.json", writers.typed),
    Editor("goose", "Goose", "~/.config/goose/config.yaml", writers.goose, transports=_NO_SSE, form="yaml"),
    Editor("kiro", "Kiro", "~/.kiro/settings/mcp.json", writers.listed(reference="${{{}}}"), "variable"),
    Editor("lmstudio", "LM Studio", "~/.lmstudio/mcp.json", writers.listed(links=True)),
    Editor("others", "Others", "mcp.json", writers.typed, is_in_apis=True),
)
