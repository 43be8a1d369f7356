"""Proofs of namespaces as facts about the entries that their publishers have published here."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attrs import evolve, frozen

from ...domain.limits import NAME
from ...domain.namespaces import NamespaceProof, ProofKind
from ...domain.ports.additions import EntryAdditions
from ...domain.ports.storage import Store
from ...domain.versions import PUBLISHED
from ...domain.views import Detail, IdentityView
from ...serialization import rfc3339
from ...texts.sanitize import clean_line
from .proofs import NamespaceProofs

SOURCES: Mapping[ProofKind, str] = {"dns": "DNS", "http": "website of the domain", "github-oidc": "GitHub"}
"""The sources of proofs by their kinds. What an issuer of the operator says proves nothing to others."""


@frozen
class ProvenNamespaces(EntryAdditions):
    """Adds the proofs of the namespace to the full view of an entry that this directory has published."""

    _proofs: NamespaceProofs
    _store: Store

    async def add_all(self, detail: Detail, accepted: Collection[str]) -> Detail:
        """Return `detail` with the proofs of its namespace, if a publisher token has published it."""
        preferred = await self._store.preferred(detail.server_name)
        if preferred is None or preferred[0] != PUBLISHED:
            return detail
        return evolve(detail, identity=(*detail.identity, *await self.facts(detail.server_name)))

    async def facts(self, name: str) -> Sequence[IdentityView]:
        """Return the proofs of the namespace of a name."""
        namespace = name.rpartition("/")[0]
        proofs = (await self._proofs.of([namespace])).get(namespace, ())
        return [_fact(proof, SOURCES[proof.kind]) for proof in proofs if proof.kind in SOURCES]


def _fact(proof: NamespaceProof, source: str) -> IdentityView:
    return IdentityView("namespace_proven", source, rfc3339(proof.proven_at), clean_line(proof.namespace, NAME))
