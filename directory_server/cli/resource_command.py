"""Commands of resources: `list`, `log`, one that adds a record, and one for each action."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click
from attrs import evolve

from ..domain.errors import DirectoryError
from ..resource import Action, Asked, Done, Facts, Field, Parts, Resource
from .context import PAGE, command_context, run_in_reactor, wait_for
from .output import Column, Group, echo, print_listing

_JSON = click.Option(["--json", "as_json"], is_flag=True, help="Print JSON instead of a table.")


def resource_command(resource: Resource, about: str) -> click.Group:
    """Return the command of a resource, whose name is the last word of `Resource.command`, with the help `about`."""
    group = Group(resource.command.rpartition(" ")[2], help=resource.about or about)
    group.add_command(_list(resource))
    if resource.log is not None:
        group.add_command(_log(resource))
    if resource.add is not None and resource.add.place != "page":
        group.add_command(_action(resource, resource.add, is_new=True))
    for action in resource.actions:
        if action.place != "page":
            group.add_command(_action(resource, action, is_new=False))
    return group


def _list(resource: Resource) -> click.Command:
    params: list[click.Parameter] = [_JSON]
    if resource.states:
        params.append(click.Option(["--state"], type=click.Choice(resource.states), help="Only those in this state."))

    def run(as_json: bool, state: str | None = None) -> None:
        parts = _parts(new=False)
        columns = resource.columns if resource.is_named else ("id", *resource.columns)
        print_listing(_records(resource, parts, state or ""), _headings(columns, resource), as_json)

    return click.Command("list", callback=run, params=params, help=f"List all {resource.plural}.")


def _records(resource: Resource, parts: Parts, state: str) -> Iterator[Facts]:
    """Yield the facts of all records, page by page."""
    if resource.every is None or state:
        asked = Asked(PAGE, state=state)
        while facts := [resource.facts(parts, record) for record in wait_for(resource.list(parts, asked))]:
            yield from facts
            if not resource.has_pages or len(facts) < PAGE:
                break
            asked = evolve(asked, after=facts[-1]["id"])
        return
    after = 0
    while page := wait_for(resource.every(parts, after, PAGE)):
        yield from (resource.facts(parts, record) for record in page)
        after = page[-1].number


def _log(resource: Resource) -> click.Command:
    longest = click.IntRange(1, max(resource.longest_log, 1))
    limit = click.Option(["--limit"], type=longest, default=min(50, resource.longest_log), show_default=True)

    def run(record_id: str, limit: int, as_json: bool) -> None:
        parts = _parts(new=False)
        assert resource.log is not None
        facts = resource.facts(parts, wait_for(resource.find(parts, record_id)))
        print_listing(wait_for(resource.log(parts, facts["id"], limit)), _headings(resource.logged, resource), as_json)

    help_ = f"Show what happened to a {resource.noun} last, the newest first."
    return click.Command("log", callback=run, params=[_id(resource), limit, _JSON], help=help_)


def _action(resource: Resource, action: Action, *, is_new: bool) -> click.Command:
    params = [_parameter(field) for field in action.fields if field.place != "page"]
    elsewhere = {field.name: field.default for field in action.fields if field.place == "page"}
    if not is_new:
        params.insert(0, _id(resource, of_many=action.of_many))

    def run(record_id: str | Sequence[str] = (), **values: Any) -> None:
        parts = _parts(new=is_new)

        async def perform(reactor: Any) -> None:
            running = evolve(parts, reactor=reactor)
            if is_new:
                done = await action.run(running, **values, **elsewhere) or Done()
                _print_new(resource, action, done, values.get("label", ""))
            for one in [record_id] if isinstance(record_id, str) else record_id:
                facts = resource.facts(running, await resource.find(running, one))
                done = await action.run(running, facts["id"], **values, **elsewhere) or Done()
                _print_done(resource, action, facts, done)

        async def perform_or_exit(reactor: Any) -> None:
            try:
                await perform(reactor)
            except DirectoryError as error:
                echo(error.message, err=True)
                raise SystemExit(1) from None

        if action.in_reactor:
            run_in_reactor(perform_or_exit, f"{resource.command} {action.name}")
        else:
            wait_for(perform(None))

    command = click.Command(action.name, callback=run, params=params, help=action.help)
    return click.confirmation_option(prompt=action.prompt)(command) if action.prompt else command


def _print_new(resource: Resource, action: Action, done: Done, label: str) -> None:
    verb, purpose = "Created" if action.name == "create" else "Added", f" for {label!r}" if label else ""
    secret = " Its secret is shown only once:" if done.secret else ""
    echo(done.line or f"{verb} {resource.noun} {done.id}{purpose}.{secret}", err=True)
    _print_secret(done)


def _print_done(resource: Resource, action: Action, facts: Facts, done: Done) -> None:
    noun = resource.noun
    name = f"the {noun} {facts[resource.columns[0]]}" if resource.is_named else f"{noun} {facts['id']}"
    if done.secret:
        echo(done.line or f"The new secret of {name} is shown only once:", err=True)
        _print_secret(done)
    elif done.line:
        echo(done.line, err=not done.is_output)
    else:
        echo(f"{name[0].upper()}{name[1:]} {action.done}.", err=True)
    if done.has_failed:
        raise SystemExit(1)


def _print_secret(done: Done) -> None:
    if done.secret:
        echo(done.secret)
    if done.hint:
        echo(done.hint, err=True)


def _id(resource: Resource, *, of_many: bool = False) -> click.Argument:
    metavar = resource.columns[0].upper() if resource.is_named else "ID"
    if of_many:
        return click.Argument(["record_id"], metavar=f"{metavar}...", nargs=-1, required=True)
    return click.Argument(["record_id"], metavar=metavar)


def _parameter(field: Field) -> click.Parameter:
    kind = click.Choice(field.choices) if field.choices else click.STRING
    if field.is_argument and field.kind == "words":
        return click.Argument([field.name], metavar=f"{field.name.upper()}...", nargs=-1, required=field.is_required)
    if field.is_argument:
        return click.Argument([field.name], type=kind, metavar=field.name.upper())
    names = [field.name, f"--{field.option or field.name.replace('_', '-')}"]
    if field.kind == "flag":
        return click.Option(names, is_flag=True, help=field.help)
    if field.kind in ("words", "many"):
        return click.Option(names, type=kind, multiple=True, required=field.is_required, help=field.help)
    if field.is_required:
        return click.Option(names, type=kind, required=True, help=field.help)
    return click.Option(names, type=kind, default=field.default, help=field.help)


def _headings(names: Sequence[str], resource: Resource) -> dict[str, Column]:
    def cell(name: str) -> Column:
        nothing = resource.nothing.get(name)
        return name if nothing is None else lambda record: nothing if record[name] is None else record[name]

    return {_ENDS_IN if name == "last_four" else _heading(name): cell(name) for name in names}


_ENDS_IN = "ENDS IN"


def _heading(name: str) -> str:
    return name.removesuffix("_at").replace("_", " ").upper()


def _parts(*, new: bool) -> Parts:
    context = command_context(click.get_current_context(), new=new)
    return Parts(context.config, context.storage, None, context.now, lambda: context.public_url)


def add_resource(commands: click.Group, resource: Resource, about: str) -> None:
    """Add the command of a resource to `commands`, or to a group below it. The help of the first is `about`."""
    parent, _, name = resource.command.rpartition(" ")
    if parent and parent not in commands.commands:
        commands.add_command(Group(parent, help=about))
    group = commands.commands[parent] if parent else commands
    assert isinstance(group, click.Group)
    group.add_command(resource_command(resource, about), name)


def add_command(commands: click.Group, command: click.Command) -> None:
    """Add a command to `commands`; the commands of a group are added to the group of a resource with its name."""
    known = commands.commands.get(command.name or "")
    if not (isinstance(known, click.Group) and isinstance(command, click.Group)):
        commands.add_command(command)
        return
    for one in command.commands.values():
        known.add_command(one)
