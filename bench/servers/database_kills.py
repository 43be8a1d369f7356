"""Two servers under load while their PostgreSQL server is killed."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path

from directory_server.domain.entries import mcp_id_of
from tests.cluster._workload import Workload
from tests.cluster.conftest import Cluster

from .measured_storages import database_server


def lost_after_kills(times: int) -> tuple[int, int, int]:
    """Kill the database `times` times under charges, publishes and readers of the change feed.

    Return the acknowledged charges that are lost, the charges over a limit, and the changes that are lost.
    """
    with ExitStack() as stack:
        engine = stack.enter_context(database_server())
        cluster = Cluster(engine, Path(stack.enter_context(tempfile.TemporaryDirectory())))
        servers = [stack.enter_context(cluster.serve(name)) for name in ("one", "two")]
        with Workload(list(servers), engine.conninfo) as workload:
            for _ in range(times):
                engine.kill()
                engine.start()
                workload.recovered()
            workload.finish()
            kept, log = workload.kept(), workload.log()
        charges = sum((workload.acknowledged - kept).values())
        excess = sum(max(kept[key_id] - limit, 0) for key_id, limit in workload.keys.values())
        logged = {mcp_id for _, mcp_id in log}
        changes = sum(mcp_id_of(name) not in logged for names in workload.published for name in names)
        changes += sum(len(set(log) - set(reader.changes)) for reader in workload.readers)
        changes += sum(reader.changes != log for reader in workload.readers)
        changes += [seq for seq, _ in log] != list(range(1, len(log) + 1))
        return charges, excess, changes
