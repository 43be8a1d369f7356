"""Proofs of namespaces: who has shown that a namespace is theirs, how, and when."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

ProofKind = Literal["dns", "http", "github-oidc", "oidc"]
"""A record in the DNS of the domain, a file on its web server, the owner of a repository at GitHub, and an issuer whose
tokens may publish in the namespace because the operator says so. The last one proves nothing to others."""


@frozen
class NamespaceProof:
    """A proof of a namespace such as com.example. `proven_at` is its last time, in seconds since the epoch.

    `subject` is the domain, or what the token names as its subject.
    """

    namespace: str
    kind: ProofKind
    subject: str
    proven_at: float


def proving_namespaces(namespace: str) -> list[str]:
    """Return `namespace` and those above it, of at least two labels, whose DNS proves it too."""
    labels = namespace.split(".")
    return [namespace, *(".".join(labels[:count]) for count in range(len(labels) - 1, 1, -1))]


def proves(proof: NamespaceProof, namespace: str) -> bool:
    """Return whether `proof` is of `namespace`. The DNS of a domain proves the domains below it."""
    is_above = proof.kind == "dns" and namespace.startswith(f"{proof.namespace}.")
    return is_above or proof.namespace == namespace
