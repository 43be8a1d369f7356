"""`directory-server audit`: verify, list and export the audit log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click
from attrs import asdict
from attrs.filters import exclude

from ...cli.context import CommandContext, in_context, wait_for
from ...cli.output import Group, Record, echo, listing
from ...config.units import parse_duration
from ...resource import DURATION
from ...serialization import rfc3339, text
from ...texts.wording import counted
from .chain import AuditRecord, Checkpoint, base_of, verify
from .head_file import read_head
from .settings import UPKEEP, AuditConfig
from .tables import DELETED, PAGE, AuditLog

MAX_SHOWN = 10
"""Deletions of old records in the output of a verification, the last ones."""


def duration(text: str, option: str) -> float:
    """Return the value of an `option` that is a duration, in seconds. Raises BadParameter."""
    if text != "0" and not DURATION.fullmatch(text):
        raise click.BadParameter("must be a duration such as 30d, 12h, 15m or 30s, or 0", param_hint=option)
    return parse_duration(text)


@click.group(cls=Group)
def audit() -> None:
    """Verify, list and export the log of what operators, members, publishers and commands did."""


@audit.command("verify")
@click.option("--head", metavar="NUMBER:HASH", help="A record of an earlier verification or export that must be there.")
@click.option(
    "--max-age",
    default=f"{2 * UPKEEP:.0f}s",
    show_default=True,
    help="Largest age of the last signed checkpoint; 0 for any, such as that of a stopped server or of a backup.",
)
@in_context
def verify_(context: CommandContext, head: str | None, max_age: str) -> None:
    """Check that no record was changed, added or removed. The exit code is 1 if one was.

    Without audit.key_file, somebody who can write to the database can compute another chain. Keep the last line of the
    output elsewhere, and check it with --head the next time. With it, the file of audit.head_file is compared.
    """
    settings, log = context.config.of(AuditConfig), AuditLog(context.storage.tables)
    key, path = settings.key(), settings.head_path(context.config.data_dir)
    longest, kept = duration(max_age, "--max-age"), _head(head)
    try:
        in_file = read_head(path) if key else None
    except OSError as error:
        raise click.ClickException(f"audit.head_file: cannot read {path}: {error.strerror}.") from None
    if in_file is not None and in_file.is_signed(key):
        kept.append(in_file)
    while True:
        # First, so that every checkpoint is about a record that the reading below meets.
        checkpoints = wait_for(log.checkpoints())
        base = base_of(checkpoints)
        result = verify(_records(log, base.number), checkpoints, key, kept, now=context.now(), max_age=longest)
        # A server may have deleted old records since.
        if not result.problems or base_of(wait_for(log.checkpoints())) == base:
            break
    problems = [*result.problems]
    if in_file is not None and not in_file.is_signed(key):
        problems.append(f"The head in {path} is not signed with the key of audit.key_file.")
    for deletion in reversed(wait_for(log.newest(MAX_SHOWN, text=DELETED))):
        echo(f"Deleted by age or number on {rfc3339(deletion.event.at)}: records {deletion.event.target}", err=True)
    for problem in problems:
        echo(problem, err=True)
    if problems:
        raise click.ClickException("The audit log is not intact.")
    if not key:
        echo("Checkpoints are not signed: set audit.key_file.", err=True)
    number = result.last - result.first + 1 if result.first else 0
    echo(f"{counted(number, 'record')} from {result.first} to {result.last}: the chain is intact.", err=True)
    echo(f"{result.last}:{result.hash}")


@audit.command("list")
@click.option(
    "--limit", type=click.IntRange(1, PAGE), default=100, show_default=True, help="Largest number of records."
)
@click.option("--search", "words", default="", help="Text in subject, action or target, or an id.")
@click.option("--outcome", default="", help="done, failed, or an error code.")
@click.option("--since", default="", help="Age of the oldest record, such as 7d.")
@listing(
    {
        **{"NUMBER": "number", "AT": "logged_at", "SUBJECT": "subject", "FROM": "network"},
        **{"ACTION": "action", "TARGET": "target", "OUTCOME": "outcome"},
    }
)
@in_context
def list_(context: CommandContext, limit: int, words: str, outcome: str, since: str) -> Sequence[Record]:
    """List records, the newest first."""
    oldest = context.now() - duration(since, "--since") if since else 0.0
    log = AuditLog(context.storage.tables)
    return [
        {
            "number": record.number,
            "logged_at": record.event.at,
            "subject": record.event.actor.name or record.event.actor.id or record.event.actor.key_id or "-",
            "network": record.event.actor.network,
            **asdict(record.event, filter=exclude("at", "actor")),
        }
        for record in wait_for(log.newest(limit, text=words, outcome=outcome, since=oldest))
    ]


@audit.command()
@click.option("--after", type=click.IntRange(0), default=0, help="Number of the last record of an earlier export.")
@in_context
def export(context: CommandContext, after: int) -> None:
    """Print all records as JSON Lines, the oldest first, with their hashes."""
    for record in _records(AuditLog(context.storage.tables), after):
        echo(text(record.values()))


def _records(log: AuditLog, after: int) -> Iterator[AuditRecord]:
    while page := wait_for(log.read(after)):
        yield from page
        after = page[-1].number


def _head(written: str | None) -> list[Checkpoint]:
    """Return the record of the option --head, if it is given. Raises BadParameter."""
    if written is None:
        return []
    number, _, hashed = written.partition(":")
    if not (number.isascii() and number.isdecimal() and len(number) < 18) or len(hashed) != 64:
        raise click.BadParameter("must be a number, a colon, and 64 hexadecimal digits", param_hint="--head")
    return [Checkpoint(int(number), hashed.lower())]
