"""`directory-server verify`: checks of the remotes and packages of entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from secrets import token_hex
from typing import Any

import click
from attrs import asdict, frozen
from attrs.filters import exclude
from twisted.internet.task import deferLater

from ...cli.context import CommandContext, in_context, run_in_reactor, wait_for
from ...cli.output import ShowProgress, echo, json_option, print_listing, progress_bar
from ...domain.entries import Entry, mcp_id_of
from ...domain.errors import DirectoryError
from ...domain.work import VERIFY
from ...runtime.run_sync import inline
from ...services.work_report import Report, reported
from ...texts import wording
from .checks import LEASE, Checked, Checks, Claim
from .results import RemoteCheck
from .tables import verifications_of
from .targets import Target, TargetKind, is_failure, targets_of

PAUSE = 0.1
"""Seconds between two starts of checks."""


@click.command()
@click.argument("names", nargs=-1)
@click.option("--remotes", is_flag=True, help="Check remotes only.")
@click.option("--packages", is_flag=True, help="Check packages only.")
@click.option("--forget", is_flag=True, help="Delete results instead of checking.")
@json_option
@in_context
def verify(
    context: CommandContext, names: tuple[str, ...], remotes: bool, packages: bool, forget: bool, as_json: bool
) -> None:
    """Check the remotes and packages of the entries NAMES, or all that are due.

    A running server on the same data serves the results within seconds. The exit code is 1 if a check of an entry in
    NAMES fails.
    """
    if forget:
        count = wait_for(verifications_of(context.storage).forget(names or None))
        echo(f"Deleted the results of {wording.entries(count)}.")
        return
    selected = {TargetKind.REMOTE: remotes, TargetKind.PACKAGE: packages}
    kinds = [kind for kind, is_selected in selected.items() if is_selected] or list(selected)

    entries = wait_for(context.storage.store.entries([mcp_id_of(name) for name in names]))
    if unknown := set(names) - {entry.name for entry in entries}:
        raise click.ClickException(f"No visible entry has the name {min(unknown)}.")

    async def run(reactor: Any) -> None:
        try:
            results = await check(reactor, context, entries, kinds)
        except DirectoryError as error:
            echo(error.message, err=True)
            raise SystemExit(1) from None
        _print(results, as_json, is_named=bool(names))
        if names and any(is_failure(result.check) for result in results):
            raise SystemExit(1)

    run_in_reactor(run, "verify")


@frozen
class Work:
    """Targets to check: `claim` returns some of them, `remaining` their number."""

    claim: Claim
    remaining: Callable[[], Awaitable[int]]


async def check(
    reactor: Any, context: CommandContext, entries: Sequence[Entry], kinds: Collection[TargetKind]
) -> Sequence[Checked]:
    """Check the targets of `entries`, or without any all that are due, with progress; return the results."""
    # They import the web layer, which installs a reactor.
    from .network import network_checkers
    from .service import checks_of

    results: list[Checked] = []
    storage, holder = context.storage, token_hex(8)
    checkers = network_checkers(context.config, reactor, context.now)
    checks = checks_of(context.config, storage, checkers, reactor, context.now, results.append)
    work = await (_named(context, entries, kinds) if entries else _due(reactor, context, holder, kinds))
    try:
        with progress_bar("Checking", await work.remaining()) as show:
            async with reported(storage.work, VERIFY, context.now) as report:
                await _run(reactor, checks, work, results, show, report)
    finally:
        await checks.close()
        await verifications_of(storage).release(holder)
    return results


async def _run(
    reactor: Any, checks: Checks, work: Work, results: Sequence[Checked], show: ShowProgress, report: Report
) -> None:
    while True:
        started = await checks.start(work.claim)
        remaining = await work.remaining()
        label = f"{len(results):,} checked, {remaining:,} left"
        total = len(results) + remaining + len(checks)
        show(len(results), label=label, length=total)
        report(len(results), total)
        # What another process has claimed may remain.
        if not started and not len(checks) and (not remaining or not checks.is_waiting):
            return
        await deferLater(reactor, PAUSE)


async def _named(context: CommandContext, entries: Sequence[Entry], kinds: Collection[TargetKind]) -> Work:
    by_entry = {entry.mcp_id: targets_of(entry) for entry in entries}
    await verifications_of(context.storage).put_targets(by_entry)
    left = [target for targets in by_entry.values() for target in targets if target.kind in kinds]

    async def claim(limit: int, except_hosts: Collection[str]) -> Sequence[Target]:
        chosen: dict[str, Target] = {}
        for target in left:
            if target.host not in except_hosts and len(chosen) < limit:
                chosen.setdefault(target.host, target)
        for target in chosen.values():
            left.remove(target)
        return list(chosen.values())

    async def remaining() -> int:
        return len(left)

    return Work(claim, remaining)


async def _due(reactor: Any, context: CommandContext, holder: str, kinds: Collection[TargetKind]) -> Work:
    from .service import planner_of

    verifications = verifications_of(context.storage)
    planner = planner_of(context.config, context.storage, inline, reactor)
    await planner.update()
    await planner.release()

    async def claim(limit: int, except_hosts: Collection[str]) -> Sequence[Target]:
        return await verifications.claim(holder, limit, seconds=LEASE, kinds=kinds, except_hosts=except_hosts)

    async def remaining() -> int:
        return await verifications.due(kinds)

    return Work(claim, remaining)


def _print(results: Sequence[Checked], as_json: bool, *, is_named: bool) -> None:
    if as_json or is_named:
        records = [_record(result) for result in sorted(results, key=lambda each: each.target.name)]
        columns = {"NAME": "name", "KIND": "kind", "TARGET": "identifier", "STATUS": "status", "DETAIL": "detail"}
        print_listing(records, columns, as_json)
    else:
        counts = Counter((result.target.kind.value, result.check.status.value) for result in results)
        for (kind, status), count in sorted(counts.items()):
            echo(f"{kind} {status}: {count:,}")
        echo(f"{len(results):,} checked.")


def _record(checked: Checked) -> dict[str, Any]:
    target, check = checked.target, checked.check
    record = {
        **asdict(target, filter=exclude("headers_needed")),
        "status": check.status,
        "checked_at": check.checked_at,
        "seconds": round(checked.seconds, 3),
        "detail": check.detail,
    }
    if isinstance(check, RemoteCheck):
        tools = [tool.name for tool in check.tools]
        return {**record, "protocol_version": check.protocol_version, "login": check.login, "tools": tools}
    return {**record, "latest_version": check.latest_version, "names_server": check.names_server}
