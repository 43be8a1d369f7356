"""Storage of a process, on SQLite or, with the setting `database`, on PostgreSQL.

This is the only package that names the adapters. The server and the commands use the record `Storage`.
"""

from ..tables import Serving, Storage
from ._backup import Backup, put_backup, read_backup, write_backup
from ._open import import_data_directory, open_storage, place, upgrade_database
from ._storage import Environment, command_environment
