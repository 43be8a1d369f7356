"""`directory-server policy`: the dry run of rules that hide entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import click

from ...cli.context import CommandContext, in_context, wait_for
from ...cli.output import Group, echo, json_option, print_listing
from ...domain.errors import BadInput
from ...domain.policy import PolicyRules
from ...texts import wording
from .settings import PolicyConfig, check_rule
from .tables import RuledNames, hidden_names


@click.group(cls=Group)
def policy() -> None:
    """Show which entries the rules of the policy hide, or would hide."""


def _rule(ctx: click.Context, parameter: click.Parameter, values: Sequence[str]) -> Sequence[str]:
    """Return the queries of rules, checked."""
    try:
        return [check_rule(value) for value in values]
    except BadInput as error:
        raise click.BadParameter(error.message) from None


def _option(name: str, about: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(name, multiple=True, metavar="QUERY", callback=_rule, help=about)


@policy.command()
@_option("--require", "Hide entries that do not match QUERY, such as publisher:verified; may be repeated.")
@_option("--hide", "Hide entries that match QUERY, such as flag:secrets; may be repeated.")
@json_option
@in_context
def check(context: CommandContext, require: Sequence[str], hide: Sequence[str], as_json: bool) -> None:
    """List the entries that rules would hide, and the rule that hides each. Change nothing.

    Without options, the rules are those of the settings. This reads all entries.
    """
    rules = PolicyRules(tuple(require), tuple(hide)) or context.config.of(PolicyConfig).rules
    names = RuledNames.of(context.storage.tables, context.config)

    async def compare() -> tuple[int, Sequence[dict[str, str]]]:
        compared, records = 0, list[dict[str, str]]()
        async for count, hidden in hidden_names(names, rules):
            compared += count
            records += [{"name": name, "rule": rule} for name, rule in hidden.items()]
        return compared, records

    compared, records = wait_for(compare()) if rules else (0, [])
    print_listing(records, {"NAME": "name", "RULE": "rule"}, as_json)
    counts = Counter(record["rule"] for record in records)
    for rule in rules.names:
        echo(f"{rule}: {wording.counted(counts[rule], 'entry', 'entries')}", err=True)
    total = wording.counted(compared, "name")
    echo(f"{len(records):,} of {total} would be hidden." if rules else "There are no rules.", err=True)
