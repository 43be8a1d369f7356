"""`directory-server`: administration of a data directory or a database, with or without a running server."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from . import __version__
from .config import ConfigError, load, setting_names
from .domain.errors import DirectoryError, Unavailable
from .feature import Feature, attribute
from .features import FEATURES, sections
from .texts.sanitize import clean

COMMANDS: Mapping[str, tuple[str, str]] = {
    "after-restore": (
        "_backup:after_restore",
        "Invalidate outdated sessions, links and keys of a restored backup.",
    ),
    "backup": ("_backup:backup", "Copy all stored data to the new folder DIR, and read the copy again."),
    "completion": ("_completion:completion", "Print the completion of commands and settings for bash, zsh or fish."),
    "config": ("_config:config", "Show the settings of the running server, secrets masked."),
    "database": (
        "_database:database",
        "Upgrade the PostgreSQL database of the setting `database`, or import a data directory into it.",
    ),
    "doctor": (
        "_doctor:doctor",
        "Test URL, proxy, certificate, time, disk, backup, upstreams, mail and issuers, and say what to do.",
    ),
    "entry": ("_entry:entry", "Add local entries, and edit, hide, pin or allow upstream entries."),
    "import": (
        "_import:import_",
        "Import entries from FILEs: .json, .jsonl, either with .gz, or - for standard input.",
    ),
    "quickstart": (
        "_quickstart:quickstart",
        "Fill an empty directory, create a first key and the first operator, and print the next steps.",
    ),
    "restore": ("_backup:restore", "Replace all stored data by the backup in DIR."),
    "search": ("_entry:search", "Search as clients do, and print the hits, best first."),
    "status": ("_status:status", "Show the server, entries, keys, accounts, disk and upstreams."),
    "sync": ("_sync:sync", "Sync all configured upstreams once, or only the one called NAME."),
    "upstream": ("_upstream:upstream", "List the upstreams, and show their last sync runs."),
}
"""The commands without those of features, by name: where in `cli` each is, and the first sentence of its help."""


SECTIONS: Mapping[str, Sequence[str]] = {
    "Server": (
        "quickstart",
        "status",
        "doctor",
        "config",
        "backup",
        "restore",
        "after-restore",
        "database",
        "completion",
    ),
    "Access": (),
    "Entries": ("search", "entry", "import"),
    "Registries and clients": ("sync", "upstream"),
}
"""The sections of the help with their commands, before those of features."""

EXAMPLES = {
    "account": "account add --role operator ann@example.org",
    "backup": "backup /backup/monday",
    "completion": "completion bash > ~/.local/share/bash-completion/completions/directory-server",
    "config": "config --json",
    "doctor": "doctor --json",
    "entry": "entry hide io.example/server",
    "import": "import servers.jsonl.gz",
    "key": "key create --label laptop",
    "quickstart": "--set upstream=official quickstart",
    "registry": "registry token create --label editors",
    "restore": "restore /backup/monday",
    "search": "search --limit 5 send mail",
    "status": "status --json",
    "sync": "sync --full official",
    "upstream": "upstream log official",
}
"""An example of a command, by its name, for its help."""


class Commands(click.Group):
    """The group of all commands, each of which is imported when it is called.

    Expected errors are printed as one line without a traceback.
    """

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, NamedCommand) else command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by SECTIONS, with the first sentence of their help in full."""
        for title, names in SECTIONS.items():
            of_features = [name for feature in FEATURES if feature.section == title for name in feature.commands]
            with formatter.section(title):
                formatter.write_dl(
                    [(name, self.commands[name].get_short_help_str(limit=200)) for name in (*names, *of_features)]
                )

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Unavailable as error:
            from .storage import place

            raise click.ClickException(f"Cannot use {place(ctx.obj)}: {error.message}") from None
        except DirectoryError as error:
            raise click.ClickException(clean(error.message)) from None
        except ConfigError as error:
            raise click.ClickException(str(error)) from None


class NamedCommand(click.Command):
    """A command before it is imported: its name and the first sentence of its help."""

    name: str

    def __init__(self, name: str, text: str) -> None:
        super().__init__(name, short_help=text)

    def load(self) -> click.Command:
        """Import the command, with what features add to it."""
        group = click.Group()
        if self.name in COMMANDS:
            group.add_command(attribute(f"{__package__}.cli.{COMMANDS[self.name][0]}"))
        for feature in FEATURES:
            if self.name in feature.commands:
                _add_commands(group, feature, self.name)
        command = group.commands[self.name]
        if self.name in EXAMPLES:
            command.epilog = f"Example: directory-server {EXAMPLES[self.name]}"
        return command


def _add_commands(group: click.Group, feature: Feature, name: str) -> None:
    """Add the command `name` of a feature to `group`, and its resources below that."""
    from .cli.resource_command import add_command, add_resource

    for reference in feature.resources:
        resource = feature.part(reference)
        if resource.command.split()[0] == name:
            add_resource(group, resource, feature.commands[name])
    if feature.command:
        add_command(group, feature.part(feature.command))


def _complete_setting(_ctx: click.Context, _parameter: click.Parameter, word: str) -> list[str]:
    """Return the names of settings that begin with `word`, for completion in shells."""
    return [f"{name}=" for name in setting_names(sections()) if name.startswith(word)]


@click.group(cls=Commands, context_settings={"show_default": True})
@click.version_option(__version__, prog_name="directory-server")
@click.option("--data-dir", type=click.Path(path_type=Path, file_okay=False), help="Data directory. [default: data]")
@click.option("--config", "file", type=click.Path(path_type=Path), help="TOML file of settings.")
@click.option(
    *("--set", "settings"),
    multiple=True,
    metavar="SECTION.KEY=VALUE",
    shell_complete=_complete_setting,
    help="A setting; may be repeated.",
)
@click.pass_context
def main(ctx: click.Context, data_dir: Path | None, file: Path | None, settings: Sequence[str]) -> None:
    """Manage the data directory or the database of an MCP directory server. The server may be running."""
    # The help of all commands does not need it.
    from .cli.context import CHECKS, TRAILS

    ctx.meta[TRAILS] = [feature.command_trail for feature in FEATURES if feature.trail]
    ctx.meta[CHECKS] = [partial(feature.part, feature.doctor) for feature in FEATURES if feature.doctor]
    ctx.obj = load(file=file, environ=os.environ, settings=settings, data_dir=data_dir, sections=sections())


for commands in ({name: text for name, (_, text) in COMMANDS.items()}, *(feature.commands for feature in FEATURES)):
    for name, text in commands.items():
        main.add_command(NamedCommand(name, text))


def all_commands() -> click.Group:
    """Return the group with all commands imported, for what describes them."""
    commands = {name: command.load() for name, command in main.commands.items() if isinstance(command, NamedCommand)}
    return click.Group(main.name, commands, help=main.help, params=main.params)
