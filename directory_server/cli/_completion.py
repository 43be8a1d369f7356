"""`directory-server completion`: scripts by which shells complete commands and settings."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion of commands and settings for bash, zsh or fish.

    Put the output where the shell reads completions, or evaluate it: eval "$(directory-server completion bash)".
    """
    kind = get_completion_class(shell)
    assert kind is not None
    name = "directory-server"
    # The output is a program of the shell, not text from elsewhere.
    click.echo(kind(ctx.find_root().command, {}, name, "_DIRECTORY_SERVER_COMPLETE").source())
