"""The proofs of namespaces."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attrs import asdict, evolve, frozen

from ...domain.limits import NAME
from ...domain.namespaces import NamespaceProof, ProofKind, proves, proving_namespaces
from ...domain.ports.additions import EntryAdditions
from ...domain.ports.storage import Store
from ...domain.versions import PUBLISHED
from ...domain.views import Detail, IdentityView
from ...serialization import rfc3339
from ...tables import Rows, Tables
from ...texts.sanitize import clean_line

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


SOURCES: Mapping[ProofKind, str] = {"dns": "DNS", "http": "website of the domain", "github-oidc": "GitHub"}
"""The sources of proofs by their kinds. What an issuer of the operator says proves nothing to others."""


@frozen
class ProvenNamespaces(EntryAdditions):
    """Adds the proofs of the namespace to the full view of an entry that this directory has published."""

    _proofs: NamespaceProofs
    _store: Store

    async def add_all(self, detail: Detail, accepted: Collection[str]) -> Detail:
        """Return `detail` with the proofs of its namespace, if a publisher token has published it."""
        source, _ = (await self._store.preferred([detail.server_name])).get(detail.server_name, ("", ""))
        if source != PUBLISHED:
            return detail
        return evolve(detail, identity=(*detail.identity, *await self.facts(detail.server_name)))

    async def facts(self, name: str) -> Sequence[IdentityView]:
        """Return the proofs of the namespace of a name."""
        namespace = name.rpartition("/")[0]
        proofs = (await self._proofs.of([namespace])).get(namespace, ())
        return [_fact(proof, SOURCES[proof.kind]) for proof in proofs if proof.kind in SOURCES]


def _fact(proof: NamespaceProof, source: str) -> IdentityView:
    return IdentityView("namespace_proven", source, rfc3339(proof.proven_at), clean_line(proof.namespace, NAME))
