"""Lists and their entries, in the tables of the database."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attrs import asdict, frozen
from attrs.filters import exclude

from ...domain.entries import check_name, is_storable, mcp_id_of
from ...domain.errors import BadInput
from ...domain.scopes import PRODUCTION, unknown_list
from ...tables import PUBLISHERS, Rows, Tables, held_documents, log_changes, snapshot, transaction
from .rules import MAX_LISTS, MAX_PICKS, EntryList, missing_group

Differences = Mapping[str, tuple[Sequence[str], Sequence[str]]]
"""The lists that entries join, and those that they leave, by mcp_id."""

BATCH = 200
"""Entries whose lists are written in one transaction."""

# Writers wait for each other, so that together they do not exceed a limit.
LOCK = "LOCK TABLE entry_list, reader_group IN SHARE ROW EXCLUSIVE MODE"

_LISTS = "SELECT name, title, is_all, is_open, rule, created_at, seq, holds_versions FROM entry_list ORDER BY name"

_GROUPS_OF_LISTS = "SELECT list, group_name FROM list_group ORDER BY group_name"

# Each change of what a list has gives it another revision, which is negative until its entries are found.
_PUT = """
    INSERT INTO entry_list AS stored (name, title, is_all, is_open, rule, created_at, holds_versions, seq)
    VALUES (:name, :title, :is_all, :is_open, :rule, :created_at, :holds_versions, -1)
    ON CONFLICT (name) DO UPDATE SET title = excluded.title, is_all = excluded.is_all, is_open = excluded.is_open,
        rule = excluded.rule, holds_versions = excluded.holds_versions, seq = CASE
            WHEN stored.rule = excluded.rule AND stored.is_all = excluded.is_all
                AND stored.holds_versions = excluded.holds_versions THEN stored.seq
            ELSE -abs(stored.seq) - 1
        END
"""

_IS_LEFT_OVER = "SELECT 1 FROM list_entry WHERE list = :name AND left_at IS NULL LIMIT 1"

_DELETE = (
    "DELETE FROM entry_list WHERE name = :name",
    "DELETE FROM list_pick WHERE list = :name",
    "DELETE FROM list_channel WHERE list = :name",
    "DELETE FROM list_group WHERE list = :name",
    "DELETE FROM list_approver WHERE list = :name",
    "DELETE FROM list_approval WHERE list = :name",
    "DELETE FROM request WHERE place = :name AND kind IN ('list', 'version')",
)

_LEFTOVERS = f"""
    SELECT mcp_id, list FROM list_entry
    WHERE left_at IS NULL AND list NOT IN (SELECT name FROM entry_list WHERE NOT is_all) LIMIT {BATCH}
"""

_FOUND = "UPDATE entry_list SET seq = -seq WHERE name = :name AND seq = :revision"

_PICKS = "SELECT list, name FROM list_pick WHERE list = ANY(:lists) ORDER BY name"

_FOLLOWED = f"""
    SELECT list, list_pick.name FROM list_pick INNER JOIN entry_list ON entry_list.name = list
    WHERE list = ANY(:lists) AND NOT holds_versions AND NOT EXISTS (
        SELECT 1 FROM list_channel
        WHERE list_channel.list = list_pick.list AND list_channel.name = list_pick.name AND alias = '{PRODUCTION}'
    )
    ORDER BY list_pick.name
"""

_PICK = "INSERT INTO list_pick (list, name) VALUES (:list, :name) ON CONFLICT DO NOTHING"

_FORGET_APPROVAL = "DELETE FROM list_approval WHERE list = :list AND name = :name"

_UNPICK = "DELETE FROM list_pick WHERE list = :list AND name = :name"

_JOIN = """
    INSERT INTO list_entry (mcp_id, list, joined_at) VALUES (:mcp_id, :list, :seq)
    ON CONFLICT (mcp_id, list) DO UPDATE SET joined_at = excluded.joined_at, left_at = NULL
"""

_LEAVE = "UPDATE list_entry SET left_at = :seq WHERE mcp_id = :mcp_id AND list = :list"

_COUNT = "SELECT count(*) FROM list_entry WHERE list = :name AND left_at IS NULL"

_CAN_SEE = "INSERT INTO list_group (list, group_name) VALUES (:list, :name) ON CONFLICT DO NOTHING"

_CANNOT_SEE = "DELETE FROM list_group WHERE list = :list AND group_name = :name"

GROUPS = "SELECT name FROM reader_group ORDER BY name"


@frozen
class Lists:
    """The lists of a directory. All methods raise Unavailable."""

    _tables: Tables

    @snapshot
    def all(self, rows: Rows) -> Sequence[EntryList]:
        return _all(rows)

    @snapshot
    def find(self, rows: Rows, name: str) -> EntryList:
        """Return a list. Raises NotFound."""
        return _find(rows, name)

    @transaction
    def put(
        self, rows: Rows, entry_list: EntryList, groups: Collection[str] | None = None, *, is_new: bool | None = None
    ) -> None:
        """Create a list or change it, and the `groups` that see it; only the one or the other with `is_new`.

        Raises BadInput beyond MAX_LISTS, and while a list of this name is removed; NotFound.
        """
        values = asdict(entry_list, filter=exclude("revision", "groups"))
        rows.lock(LOCK)
        names = {row[0] for row in rows.all(_LISTS)}
        if is_new and entry_list.name in names:
            raise BadInput("name: there is a list of this name.", code="list_exists")
        if is_new is False and entry_list.name not in names:
            raise unknown_list(entry_list.name)
        if entry_list.name not in names:
            if len(names) >= MAX_LISTS:
                raise BadInput(f"A directory has at most {MAX_LISTS} lists.", code="lists_full")
            if rows.one(_IS_LEFT_OVER, name=entry_list.name) is not None:
                raise BadInput("name: the list of this name is still being removed. Try again.", code="list_busy")
        rows.execute(_PUT, **values)
        if groups is not None:
            _set_groups(rows, entry_list.name, groups)

    async def remove(self, name: str) -> None:
        """Remove a list. At once nobody sees it; its entries leave it soon. Raises NotFound."""
        await self._tables.write(lambda rows: delete_named(rows, _DELETE, name, unknown_list(name)))

    async def count(self, name: str) -> int:
        """Return the number of the entries of a list that has not all."""
        return int((await self._tables.one(_COUNT, name=name))[0])

    async def picks(self, names: Sequence[str], *, followed: bool = False) -> Mapping[str, Sequence[str]]:
        """Return the names of the entries that were added to lists by hand, by list.

        With `followed`, those whose new names are added too when they move: not if a document must be approved first,
        or if readers get one version only.
        """
        found: dict[str, list[str]] = {}
        for list_name, name in await self._tables.select(_FOLLOWED if followed else _PICKS, lists=list(names)):
            found.setdefault(list_name, []).append(name)
        return found

    @transaction
    def pick(self, rows: Rows, list_name: str, name: str) -> None:
        """Add the entry `name` to a list by hand, with all its versions. Raises BadInput, NotFound."""
        check_name(name)
        _find(rows, list_name)
        rows.execute(_FORGET_APPROVAL, list=list_name, name=name)
        pick_entry(rows, list_name, name)

    @transaction
    def unpick(self, rows: Rows, list_name: str, name: str) -> None:
        """Undo `pick`. An entry that the rule matches stays in the list. Raises BadInput, NotFound."""
        check_name(name)
        _find(rows, list_name)
        rows.execute(_FORGET_APPROVAL, list=list_name, name=name)
        if rows.execute(_UNPICK, list=list_name, name=name):
            # The keeper puts an entry that the rule matches into the list again.
            write_lists(rows, {mcp_id_of(name): ([], [list_name])})

    @transaction
    def set_groups(self, rows: Rows, list_name: str, groups: Collection[str]) -> None:
        """Set the groups that see a list. Raises NotFound."""
        _set_groups(rows, list_name, groups)

    async def write(self, found: Differences) -> int:
        """Write the lists that entries join and leave, and log a change of each visible entry; return their number."""
        pairs = list(found.items())
        for start in range(0, len(pairs), BATCH):
            batch = dict(pairs[start : start + BATCH])
            await self._tables.write(lambda rows, batch=batch: write_lists(rows, batch))  # type: ignore[misc]
        return len(pairs)

    async def leftovers(self) -> Mapping[str, Sequence[str]]:
        """Return some entries that are in lists which were removed, or have all entries now, each with these."""
        found: dict[str, list[str]] = {}
        for mcp_id, name in await self._tables.select(_LEFTOVERS):
            found.setdefault(mcp_id, []).append(name)
        return found

    @transaction
    def complete(self, rows: Rows, lists: Sequence[EntryList]) -> None:
        """Show `lists`, whose entries are found, unless they were changed meanwhile."""
        for entry_list in lists:
            rows.execute(_FOUND, name=entry_list.name, revision=entry_list.revision)


def _set_groups(rows: Rows, list_name: str, groups: Collection[str]) -> None:
    before = _find(rows, list_name).groups
    if unknown := set(groups) - {name for (name,) in rows.all(GROUPS)}:
        raise missing_group("groups", min(unknown))
    for group in set(before) - set(groups):
        rows.execute(_CANNOT_SEE, list=list_name, name=group)
    for group in groups:
        rows.execute(_CAN_SEE, list=list_name, name=group)


def _all(rows: Rows) -> Sequence[EntryList]:
    groups: dict[str, list[str]] = {}
    for name, group in rows.all(_GROUPS_OF_LISTS):
        groups.setdefault(name, []).append(group)
    return [
        EntryList(
            name, title, bool(is_all), bool(is_open), rule, at, revision, tuple(groups.get(name, ())), bool(holds)
        )
        for name, title, is_all, is_open, rule, at, revision, holds in rows.all(_LISTS)
    ]


def _find(rows: Rows, name: str) -> EntryList:
    """Return a list. Raises NotFound."""
    for entry_list in _all(rows):
        if entry_list.name == name:
            return entry_list
    raise unknown_list(name)


def pick_entry(rows: Rows, list_name: str, name: str) -> None:
    """Add the entry `name` to a list, at once. Raises BadInput beyond MAX_PICKS."""
    rows.lock(LOCK)
    if (list_name, name) not in (picks := rows.all(_PICKS, lists=[list_name])) and len(picks) >= MAX_PICKS:
        raise BadInput(f"A list has at most {MAX_PICKS:,} entries that were picked.", code="picks_full")
    rows.execute(_PICK, list=list_name, name=name)
    write_lists(rows, {mcp_id_of(name): ([list_name], [])})


def write_lists(rows: Rows, found: Differences) -> None:
    """Write the lists that entries join and leave, and log a change of each that is visible.

    An entry does not join a list on which its document waits.
    """
    rows.lock(PUBLISHERS)
    held = {(mcp_id_of(name), list_name) for name, list_name, _ in held_documents(rows, list(found))}
    found = {
        mcp_id: ([name for name in joined if (mcp_id, name) not in held], left)
        for mcp_id, (joined, left) in found.items()
    }
    found = {mcp_id: lists for mcp_id, lists in found.items() if any(lists)}
    seqs = log_changes(rows, list(found), "list")
    for mcp_id, (joined, left) in found.items():
        for name in joined:
            rows.execute(_JOIN, mcp_id=mcp_id, list=name, seq=seqs.get(mcp_id, 0))
        for name in left:
            # Nobody sees the entry with the number 0, which no change has.
            rows.execute(_LEAVE, mcp_id=mcp_id, list=name, seq=seqs.get(mcp_id, 0))


def delete_named(rows: Rows, statements: Sequence[str], name: str, unknown: Exception) -> None:
    """Run statements that delete what `name` names. Raises `unknown` if the first one deletes nothing."""
    if not is_storable(name) or not rows.execute(statements[0], name=name):
        raise unknown
    for statement in statements[1:]:
        rows.execute(statement, name=name)
