"""JSON-LD contexts of queries, by which the keys of filters are terms (ARD v0.91, sections 4.1 and 5.3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ...domain.errors import BadInput

BASE_CONTEXT = "https://agenticresourcediscovery.org/context/v1"
"""The URL of the ARD base context, which applies to every entry and query."""

NAMESPACE = "https://agenticresourcediscovery.org/ns#"
"""The namespace of the terms of the base context."""

MAX_CONTEXTS, MAX_TERMS, MAX_IRI = 8, 32, 512
"""Contexts of a query, terms of one, and characters of a term and of what it stands for."""


@frozen
class Context:
    """What terms and prefixes stand for, beside the base context. None is for those that a context removes."""

    terms: Mapping[str, str | None]

    def path(self, key: str) -> str:
        """Return the path of a filter key by the terms of the base context; an IRI for terms of other namespaces.

        Only the first segment of a path is a term: `metadata.auth` is a path within the member `metadata`. Raises
        BadInput for a prefix that no context binds.
        """
        prefix, colon, local = key.partition(":")
        if colon and not local.startswith("//"):
            if (bound := self.terms.get(prefix)) is None:
                raise BadInput(f"query.filter: @context does not bind the prefix {prefix[:100]!r}.")
            return (bound + local).removeprefix(NAMESPACE)
        if colon:
            return key.removeprefix(NAMESPACE)
        term, dot, rest = key.partition(".")
        bound = self.terms.get(term, NAMESPACE + term)
        return f"{'' if bound is None else bound.removeprefix(NAMESPACE)}{dot}{rest}"


def context_of(value: Any) -> Context:
    """Return the context in the member `@context` of a query. Raises BadInput.

    A URL names a context of another server, which is not read: its terms are unknown.
    """
    contexts = value if isinstance(value, list) else [value]
    if len(contexts) > MAX_CONTEXTS:
        raise BadInput(f"query.@context: must have at most {MAX_CONTEXTS} contexts.")
    terms: dict[str, str | None] = {}
    for context in contexts:
        if isinstance(context, dict) and len(context) <= MAX_TERMS:
            for name, definition in context.items():
                # Members such as @version and @vocab change no prefix.
                if not name.startswith("@"):
                    terms[name] = _iri(name, definition, terms)
        elif not isinstance(context, str) or len(context) > MAX_IRI:
            raise BadInput(f"query.@context: must be URLs, and objects of at most {MAX_TERMS} terms.")
    return Context(terms)


def _iri(name: str, definition: Any, terms: Mapping[str, str | None]) -> str | None:
    iri = definition.get("@id") if isinstance(definition, dict) else definition
    if iri is None:
        return None
    if not isinstance(iri, str) or max(len(iri), len(name)) > MAX_IRI:
        raise BadInput(f"query.@context: {name[:100]!r} must be an IRI of at most {MAX_IRI} characters.")
    prefix, _, local = iri.partition(":")
    return f"{bound}{local}" if (bound := terms.get(prefix)) and len(bound) <= MAX_IRI else iri
