"""Resources: what operators manage. One declaration is the pages, the command, its JSON and the values for the audit.

`feature.resource_pages` and `cli.resource_command` make the pages and the command of a declaration.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import quote

from attrs import field, frozen

from .config import Config
from .config.units import parse_duration
from .domain.accounts import Account
from .domain.errors import BadInput
from .domain.ports.requests import Mail
from .tables import Storage

Facts = Mapping[str, Any]
"""What pages and the command show of a record: values that JSON has, times under names that end in `_at`."""

Place = Literal["both", "page", "command"]
"""Where a field or an action is."""


@frozen
class Parts:
    """What functions of a resource work on.

    `now` returns seconds since the epoch, `url` the public URL of the server without a slash at the end. `account` is
    the operator or the auditor of a page, None in a command. `mail` sends e-mails; a command sends none.
    """

    config: Config
    storage: Storage
    reactor: Any
    now: Callable[[], float]
    url: Callable[[], str]
    account: Account | None = None
    mail: Mail | None = None

    def is_own(self, account_id: str | None) -> bool:
        """Return whether an account is that of the operator of the page."""
        return self.account is not None and self.account.id == account_id


@frozen
class Asked:
    """What a list has: at most `limit` records after the one with the id `after`, with a `text`, in a `state`."""

    limit: int
    text: str = ""
    state: str = ""
    after: str = ""


Choose = Callable[[Parts], Awaitable[Collection[str]]]


@frozen
class Field:
    """A field of a form, and an option or, if it `is_argument`, an argument of the command.

    `help` is of the command; pages have the text `NAME_hint`, with `count`, if there is one. `words` are separated by
    spaces on pages, and one option each in commands. `many` are checkboxes, and `choice` a menu, of `choices` or of
    those that `choose` reads; a page without any has no such field. `option` is the name of the option if it is not
    that of the field. A field that is at another `place` has the value `default`. One with `after` is on a page that
    shows the error with this code.
    """

    name: str
    help: str = ""
    kind: Literal["text", "long", "url", "email", "words", "many", "choice", "flag"] = "text"
    longest: int = 100
    is_required: bool = False
    is_argument: bool = False
    choices: Sequence[str] = ()
    choose: Choose | None = None
    option: str = ""
    default: Any = ""
    count: int = 0
    place: Place = "both"
    after: str = ""

    def read(self, sent: Mapping[str, str]) -> Any:
        """Return the value in the fields of a form. Raises BadInput for a choice that there is not."""
        if self.place == "command":
            return self.default
        if self.kind == "many":
            return [choice for choice in self.choices if sent.get(choice)]
        if self.kind == "flag":
            return bool(sent.get(self.name))
        text = sent.get(self.name, "").strip()
        if self.kind == "choice" and self.choices and text not in self.choices:
            raise BadInput(f"{self.name}: must be one of {', '.join(self.choices)}.", code="choice_wrong")
        return text.split() if self.kind == "words" else text


@frozen
class Done:
    """The result of an action. Pages show the notice `notice`, by default that of the action.

    `id` is that of a new record. A `secret` is shown once. Commands print `line` to standard error, or if it
    `is_output` to standard output, and `hint` after the secret. With `has_failed` the exit code of the command is 1.
    """

    id: str = ""
    secret: str = ""
    notice: str = ""
    line: str = ""
    hint: str = ""
    is_output: bool = False
    has_failed: bool = False


Run = Callable[..., Coroutine[Any, Any, Done | None]]


@frozen
class Row:
    """A part of a record with a button for an action: what the page calls it, and the values of the fields."""

    name: str
    values: Mapping[str, str]
    detail: str = ""


def always(parts: Parts, facts: Facts) -> bool:
    """Return that every record has the action."""
    return True


@frozen
class Action:
    """What an operator does with a record.

    `run` gets the parts, the id of the record unless it adds one, and the values of the fields by name. `help` is of
    the command, which prints that the record `done` ("is removed"). With `confirms` a page asks first, and with a
    `prompt` the command. After an action that `ends` the record, the page is the list. `allows` is whether the page of
    a record has the action now. `values` are those of its form before it is sent. An action `in_reactor` needs a
    running reactor. One `of_many` takes several ids in a command. A page shows the
    `rows` of the record, each with a button, in place of the form of an action; these are at most MAX_ROWS + 1.
    """

    name: str
    help: str
    run: Run
    fields: tuple[Field, ...] = ()
    done: str = ""
    confirms: bool = False
    prompt: str = ""
    ends: bool = False
    allows: Callable[[Parts, Facts], bool] = always
    values: Callable[[Parts, Facts], Mapping[str, str]] = lambda parts, facts: {}
    in_reactor: bool = False
    of_many: bool = False
    rows: Callable[[Parts, str], Awaitable[Sequence[Row]]] | None = None
    place: Place = "both"

    def read(self, sent: Mapping[str, str]) -> Mapping[str, Any]:
        """Return the values of the fields in a form. Raises BadInput."""
        return {one.name: one.read(sent) for one in self.fields}


MAX_ROWS = 200
"""Rows of an action on a page."""

Every = Callable[[Parts, int, int], Coroutine[Any, Any, Sequence[Any]]]
List = Callable[[Parts, Asked], Coroutine[Any, Any, Sequence[Any]]]
Find = Callable[[Parts, str], Coroutine[Any, Any, Any]]
Log = Callable[[Parts, str, int], Coroutine[Any, Any, Sequence[Facts]]]


@frozen
class Resource:
    """Records that operators manage at `/admin/NAME` and with the command `command`.

    `texts` is the prefix of its texts, `noun` its name in messages of the command, `about` the help of that, by default
    its text in `Feature.commands`. `group` is that of its tab. `list` reads records, `find` the one with an id, or
    raises NotFound; `facts` returns the facts of a record, with its `id`. The first of the `columns` of the table names
    a record. `links` are paths, with facts in them, of what facts name.

    `searches` is whether lists can be searched for a text. These and those with `has_pages` are read in pages.
    `every` returns records for the command: those whose `number` is greater than one, at most so many, the oldest
    first. `nothing` are words for facts that are None, which pages have as the text `NAME_none`.
    `states` are those by which lists are filtered; a list with `states` and without one has the records without these.
    `add` makes a record. `log` returns what happened to a record last, `logged` are the columns of that, and
    `longest_log` its length. `waiting` returns the number of records that wait for operators, which the overview shows.
    `hidden` are facts that pages do not show. `note` returns the name of a text above the list; empty for none.
    `template` is a part of the page of a record, with what `extra` returns for the `Kernel` of the server and a record.
    """

    name: str
    command: str
    noun: str
    group: str
    list: List
    find: Find
    facts: Callable[[Parts, Any], Facts]
    columns: tuple[str, ...]
    texts: str
    about: str = ""
    add: Action | None = None
    actions: tuple[Action, ...] = ()
    links: Mapping[str, str] = field(factory=dict)
    searches: bool = False
    has_pages: bool = False
    every: Every | None = None
    nothing: Mapping[str, str] = field(factory=dict)
    states: tuple[str, ...] = ()
    log: Log | None = None
    logged: tuple[str, ...] = ()
    longest_log: int = 0
    waiting: Callable[[Storage], Awaitable[int]] | None = None
    hidden: tuple[str, ...] = ()
    note: Callable[[Parts], str] = lambda parts: ""
    template: str = ""
    extra: Callable[[Any, Any], Awaitable[Mapping[str, Any]]] | None = None
    is_shown: bool = True
    """Whether there are pages of it."""
    is_named: bool = False
    """Whether commands name a record by the first column in place of the id; `find` takes both."""
    has_secret: bool = False
    """Whether an action of it returns a secret."""

    @property
    def plural(self) -> str:
        """The noun of several records."""
        return f"{self.noun[:-1]}ies" if self.noun.endswith("y") and not self.noun.endswith("ey") else f"{self.noun}s"

    @property
    def path(self) -> str:
        return f"/admin/{self.name}"

    def path_of(self, record_id: str) -> str:
        return f"{self.path}/{quote(record_id, safe='')}"

    @property
    def shown_actions(self) -> Sequence[Action]:
        return [action for action in self.actions if action.place != "command"]


def field_of(error: Exception, fields: Sequence[Field]) -> str:
    """Return the name of the field that the message of an error names; empty for none."""
    name = str(error).partition(":")[0] if isinstance(error, BadInput) else ""
    return name if any(one.name == name for one in fields) else ""


DURATION = re.compile(r"[0-9]{1,6}[dhms]")

EXPIRES = Field(
    "expires", "A duration (30d, 12h), a date (2027-01-31) or 'never'.", longest=40, default="never", is_required=False
)
"""The field of the expiry of a new secret."""


def expiry(text: str, now: float) -> float | None:
    """Return the value of the field EXPIRES in seconds since the epoch, None for never. Raises BadInput."""
    if text in ("", "never"):
        return None
    if DURATION.fullmatch(text):
        return now + parse_duration(text)
    try:
        moment = datetime.fromisoformat(text)
        return (moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise BadInput(
            "expires: must be a duration such as 30d, a date such as 2027-01-31 (UTC), or 'never'.",
            code="expires_wrong",
        ) from None
