"""Proofs of namespaces, on both databases."""

from __future__ import annotations

from functools import partial

from attrs import evolve

from directory_server.domain.namespaces import NamespaceProof
from directory_server.features.publishing.proofs import NamespaceProofs, record_proof
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import Tables

PROOF = NamespaceProof("com.example", "dns", "example.com", 1_000.0)


def record(tables: Tables, *proofs: NamespaceProof, size: int = 100) -> None:
    for proof in proofs:
        run_sync(tables.write(partial(record_proof, proof=proof, size=size)))


def test_a_proof_is_read_by_its_namespace_and_by_those_below(tables: Tables) -> None:
    github = NamespaceProof("io.github.octo", "github-oidc", "repo:octo/x", 3_000.0)
    later = NamespaceProof("com.example", "http", "example.com", 2_000.0)
    record(tables, PROOF, later, github)
    found = run_sync(
        NamespaceProofs(tables).of(["com.example", "com.example.lab", "com", "com.examples", "io.github.octo", "\0"])
    )
    assert found == {"com.example": [later, PROOF], "com.example.lab": [PROOF], "io.github.octo": [github]}
    assert run_sync(NamespaceProofs(tables).of([])) == {}


def test_a_proof_takes_the_place_of_an_older_one_of_its_kind(tables: Tables) -> None:
    again = evolve(PROOF, subject="Example.com", proven_at=2_000.0)
    record(tables, PROOF, again)
    assert run_sync(NamespaceProofs(tables).of(["com.example"])) == {"com.example": [again]}


def test_the_oldest_proofs_are_deleted(tables: Tables) -> None:
    names = [f"com.a{number}" for number in range(5)]
    record(tables, *(evolve(PROOF, namespace=name, proven_at=float(at)) for at, name in enumerate(names)), size=3)
    assert sorted(run_sync(NamespaceProofs(tables).of(names))) == names[2:]
