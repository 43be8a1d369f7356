"""The proofs of namespaces."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attrs import asdict, frozen

from ...domain.namespaces import NamespaceProof, proves, proving_namespaces
from ...tables import Rows, Tables

SIZE = 100_000
"""The most proofs that are stored; the oldest are deleted first."""

_RECORD = """
    INSERT INTO namespace_proof (namespace, kind, subject, proven_at)
    VALUES (:namespace, :kind, :subject, :proven_at)
    ON CONFLICT (namespace, kind) DO UPDATE SET subject = excluded.subject, proven_at = excluded.proven_at
"""

_TRIM = """
    DELETE FROM namespace_proof WHERE proven_at <= (
        SELECT proven_at FROM namespace_proof ORDER BY proven_at DESC LIMIT 1 OFFSET CAST(:size AS bigint)
    )
"""

_OF = """
    SELECT namespace, kind, subject, proven_at FROM namespace_proof WHERE namespace = ANY(:namespaces)
    ORDER BY proven_at DESC, kind
"""


@frozen
class NamespaceProofs:
    """Reads the proofs of namespaces, which publishers give when they log in."""

    _tables: Tables

    async def of(self, namespaces: Collection[str]) -> Mapping[str, Sequence[NamespaceProof]]:
        """Return the proofs of each of `namespaces`, the newest first; a namespace without proof is absent."""
        wanted = sorted({above for namespace in namespaces for above in proving_namespaces(namespace)})
        rows = await self._tables.all(_OF, namespaces=wanted) if wanted else ()
        proofs = [NamespaceProof(*row) for row in rows]
        proving = {namespace: [proof for proof in proofs if proves(proof, namespace)] for namespace in namespaces}
        return {namespace: proofs for namespace, proofs in proving.items() if proofs}


def record_proof(rows: Rows, proof: NamespaceProof, size: int = SIZE) -> None:
    """Store `proof`, in the place of an older one of its kind, and delete the oldest above `size`."""
    rows.execute(_RECORD, **asdict(proof))
    rows.execute(_TRIM, size=size)
