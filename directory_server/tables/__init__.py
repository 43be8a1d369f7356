"""Rows of a database, written once for SQLite and PostgreSQL: accounts, keys, curation, upstreams, entries."""

from ._accounts import StoredAccounts
from ._approvals import held_documents
from ._curation import StoredCuration
from ._dialects import (
    Engine,
    input_columns,
    postgres_script,
    postgres_statement,
    sqlite_script,
    sqlite_statement,
    storable_value,
)
from ._endings import StoredEndings
from ._entries import StoredEntries
from ._followers import Position, StoredFollowers
from ._identities import StoredIdentities
from ._key_cache import FIND_KEY, NoCache, found_key
from ._key_uses import StoredKeyUses
from ._keyring import StoredKeyRing
from ._listing import mark_updated
from ._locking import CHANNEL, PUBLISHERS
from ._mirrors import StoredMirrors
from ._notes import note_of, notes_of_kinds, put_notes
from ._registrations import Registrations
from ._registry_tokens import StoredRegistryTokens
from ._requests import IS_OPEN, REQUEST, Requests, add_request, find_request, lock_requests, record_event, request_of
from ._roster import StoredRoster
from ._scopes import ready_lists, scope_of_list
from ._sessions import StoredNewSecrets, StoredSessions
from ._steps import (
    ADD_APPLIED,
    APPLIED,
    NEEDS,
    READ_APPLIED,
    SUPERSEDED,
    Applied,
    Step,
    known_steps,
    missing_steps,
)
from ._storage import Control, People, Serving, Storage, people
from ._tables import Rows, Statement, Tables, Write, snapshot, transaction
from ._visibility import apply_policy, log_change, log_changes, names_hidden_by
from ._work import StoredWork
