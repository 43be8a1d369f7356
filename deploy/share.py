"""Generate the manual pages and shell completions, and copy the files of systemd: python deploy/share.py FOLDER.

FOLDER then has the layout of /usr/share and /usr/lib: `share/man`, the folders of bash, zsh and fish, `lib/sysusers.d`
and `lib/tmpfiles.d`. All texts come from the commands and options themselves. `make share` runs it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any

import click
import twistd_completion
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from directory_server import __version__
from directory_server.command_line import all_commands
from directory_server.config import describe, load
from directory_server.features import sections
from directory_server.tap import Options

NAME = "directory-server"

COMPLETIONS: dict[str, type[ShellComplete]] = {
    f"share/bash-completion/completions/{NAME}": BashComplete,
    f"share/zsh/site-functions/_{NAME}": ZshComplete,
    f"share/fish/vendor_completions.d/{NAME}.fish": FishComplete,
}
"""Where each shell looks for the completion of a command."""

SYSTEMD = {
    "lib/sysusers.d/directory-server.conf": "sysusers.conf",
    "lib/tmpfiles.d/directory-server.conf": "tmpfiles.conf",
}

EXIT_STATUS = (
    ("0", "The command succeeded."),
    ("1", "It failed. The reason is one line on standard error."),
    ("2", "An option or argument is wrong."),
)

FILES = (
    ("data", "The data directory, below the working directory, unless --data-dir or the setting data_dir is given."),
    ("/etc/directory-server.toml", "The file of settings in the examples of the documentation, for --config."),
)

ENVIRONMENT = (("DIRECTORY_SERVER_SECTION__KEY", "A setting, such as DIRECTORY_SERVER_QUOTA__LIMIT for quota.limit."),)

DOCUMENTATION = "A server has its documentation at /docs. The source of these pages is the folder docs of the project."

IN_FOREGROUND = """

With `twistd --nodaemon --pidfile=` the server stays in the foreground. SIGTERM stops it in order."""


def write(folder: Path) -> None:
    """Write all files below `folder`."""
    command = all_commands()
    texts = {
        f"share/man/man1/{NAME}.1": command_page(command),
        "share/man/man1/twistd-directory.1": plugin_page(),
        **{path: completion(kind, command) for path, kind in COMPLETIONS.items()},
        "share/bash-completion/completions/twistd": twistd_completion.bash(),
        "share/fish/vendor_completions.d/twistd.fish": twistd_completion.fish(),
        **{path: (Path(__file__).parent / "systemd" / name).read_text("utf-8") for path, name in SYSTEMD.items()},
    }
    for path, text in texts.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


def completion(kind: type[ShellComplete], command: click.Group) -> str:
    """Return the script with which a shell completes the words of the command."""
    made = kind(command, {}, NAME, f"_{NAME.replace('-', '_').upper()}_COMPLETE")
    return made.source_template % made.source_vars()


def command_page(command: click.Group) -> str:
    """Return directory-server(1)."""
    context = click.Context(command, info_name=NAME)
    parts = [
        _title(NAME, "manage a directory of MCP servers"),
        ".SH SYNOPSIS\n.B directory\\-server\n[OPTIONS] COMMAND [ARGS]...\n",
        f".SH DESCRIPTION\n{_paragraphs(command.help or '')}",
        f".SH OPTIONS\n{''.join(_options(command, context))}",
        f".SH COMMANDS\n{''.join(_commands(command, context))}",
        f".SH EXIT STATUS\n{_terms(EXIT_STATUS)}",
        f".SH ENVIRONMENT\n{_terms(ENVIRONMENT)}",
        f".SH FILES\n{_terms(FILES)}",
        f".SH SEE ALSO\n.BR twistd\\-directory (1)\n.PP\n{_filled(DOCUMENTATION)}\n",
    ]
    return "".join(parts)


def _commands(group: click.Group, context: click.Context) -> Iterator[str]:
    """Yield a section for each command below `group`, in the order of their names."""
    for name in sorted(group.commands):
        each = group.commands[name]
        if each.hidden:
            continue
        inner = click.Context(each, info_name=name, parent=context)
        if isinstance(each, click.Group):
            yield from _commands(each, inner)
            continue
        words = " ".join([inner.command_path.removeprefix(f"{NAME} "), *each.collect_usage_pieces(inner)])
        yield f".SS {_text(words)}\n{_paragraphs(each.help or each.short_help or '')}"
        yield from _options(each, inner)


def _options(each: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in each.get_params(context):
        record = parameter.get_help_record(context)
        # The page has --help once.
        is_shown = context.parent is None or "--help" not in parameter.opts
        if isinstance(parameter, click.Option) and record is not None and is_shown:
            yield _terms([record])


def plugin_page() -> str:
    """Return twistd-directory(1)."""
    options = Options()
    settings = describe(load(file=None, environ={}, settings=[], sections=sections()))
    parts = [
        _title("twistd-directory", "serve a directory of MCP servers"),
        ".SH SYNOPSIS\n.B twistd\n[OPTIONS OF TWISTD]\n.B directory\n[OPTIONS]\n",
        f".SH DESCRIPTION\n{_paragraphs(options.longdesc + IN_FOREGROUND)}",
        f".SH OPTIONS\n{_terms(_plugin_options(options))}",
        f".SH SETTINGS\n{_paragraphs('Each with its default. A setting goes in the file or in --set.')}",
        _terms((f"{setting.name} = {setting.value}", setting.meaning) for setting in settings),
        f".SH EXIT STATUS\n{_terms(EXIT_STATUS[:2])}",
        f".SH ENVIRONMENT\n{_terms(ENVIRONMENT)}",
        f".SH SEE ALSO\n.BR directory\\-server (1),\n.BR twistd (1)\n.PP\n{_filled(DOCUMENTATION)}\n",
    ]
    return "".join(parts)


def _plugin_options(options: Any) -> Iterator[tuple[str, str]]:
    """Yield the options of the plugin: their forms, and their meaning."""
    for name, letter, has_value, meaning in twistd_completion.options_of(options):
        if name != "version":
            yield f"{f'-{letter}, ' if letter else ''}--{name}{'=VALUE' if has_value else ''}", meaning


def _title(name: str, summary: str) -> str:
    # Without a date, so that the same source gives the same page.
    return f'.TH {_text(name.upper())} 1 "" "{NAME} {__version__}"\n.SH NAME\n{_text(name)} \\- {_text(summary)}\n'


def _terms(pairs: Any) -> str:
    return "".join(f".TP\n.B {_text(term)}\n{_filled(meaning)}\n" for term, meaning in pairs)


def _paragraphs(text: str) -> str:
    blocks = [" ".join(each.split()) for each in re.split(r"\n\s*\n", text.replace("\b", "")) if each.strip()]
    return ".PP\n".join(f"{_filled(block)}\n" for block in blocks)


def _filled(text: str) -> str:
    """Return `text` as lines of roff."""
    return "\n".join(map(_text, wrap(" ".join(text.split()), 70, break_long_words=False, break_on_hyphens=False)))


def _text(text: str) -> str:
    """Return `text` as roff: one line, without requests and escapes of its own."""
    escaped = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    escaped = "".join(each if each.isascii() else f"\\[u{ord(each):04X}]" for each in escaped)
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    write(Path(sys.argv[1]))
