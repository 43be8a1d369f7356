"""Query parameters of the search page and its feed."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from ...http import Request
from ...http.headers import query


def page_parameters(request: Request) -> Mapping[str, str]:
    """Return the query parameters. Unknown parameters and invalid UTF-8 are accepted, because links may be altered."""
    return dict(parse_qsl(query(request).decode("utf-8", "replace"), keep_blank_values=True))


def search_words(parameters: Mapping[str, str]) -> str:
    """Return the search words: `q`, or `keywords`, as the REST API calls them."""
    return (parameters.get("q") or parameters.get("keywords", "")).strip()
