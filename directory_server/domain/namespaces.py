"""Namespaces of registered names: accounts at code hosts, and domains; and proofs: who has shown one to be theirs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from attrs import frozen

CODE_HOSTS = ("io.github.", "com.github.", "io.gitlab.", "com.gitlab.")
"""The beginnings of namespaces that belong to accounts at code hosts."""

SHARED_NAMESPACES = ("ai.smithery/",)
"""The beginnings of namespaces that belong to a host of servers of many publishers."""

OPEN_NAMESPACES = (*CODE_HOSTS, *SHARED_NAMESPACES)
"""The beginnings of namespaces that anybody can publish in."""

VERIFIED = "verified"
"""The value of `publisher` of an entry whose publisher is known to own its name."""

_PARTS = re.compile(r"[^\W_]+")

GENERIC = frozenset({"mcp", "server", "mcpserver"})
"""Parts of names that name no product."""


def is_proven(name: str, has_proof: bool) -> bool:
    """Return whether the publisher of an entry has proven to own its namespace.

    The official registry requires the proof of what it lists: a login at the code host, or a record of the domain.
    """
    return has_proof and "/" in name and not name.startswith(SHARED_NAMESPACES)


def account_of(namespace: str) -> str | None:
    """Return the account at a code host that a namespace belongs to, None for one of a domain."""
    return next((namespace.removeprefix(host) for host in CODE_HOSTS if namespace.startswith(host)), None)


def bears_product(name: str) -> bool:
    """Return whether the namespace of a registered name bears the name of the product.

    An account at a code host must be called like the product. Of a domain, which costs money and has one owner, a label
    must be, or the entry has no name of its own: `com.acme/mcp`.
    """
    namespace, _, short = name.rpartition("/")
    product = "".join(word for word in _PARTS.findall(short.casefold()) if word not in GENERIC)
    if (account := account_of(namespace)) is not None:
        return bool(product) and _letters(account) == product
    labels = [_letters(label) for label in namespace.split(".")[1:]]
    return bool(labels) and not name.startswith(OPEN_NAMESPACES) and (not product or product in labels)


def name_words(text: str) -> Sequence[str]:
    """Return the groups of letters and digits of `text`."""
    return _PARTS.findall(text)


def name_parts(text: str) -> set[str]:
    """Return the groups of letters and digits of `text`, in lower case."""
    return {*name_words(text.casefold())}


def _letters(text: str) -> str:
    """Return the letters and digits of `text`, in lower case."""
    return "".join(_PARTS.findall(text.casefold()))


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
