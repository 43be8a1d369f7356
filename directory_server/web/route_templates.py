"""Paths to the templates of their routes, for places in which a path must not be repeated."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .access_log import UNMATCHED

_CONVERTER = re.compile(r"<(?:(\w+):)?(\w+)>")


class RouteTemplates:
    """Knows the template of each path: `/entries/{mcp_id}` for the rule `/entries/<mcp_id>` of werkzeug."""

    def __init__(self, rules: Iterable[str]) -> None:
        written = set(rules)
        self._exact = {rule.encode(): rule for rule in written if "<" not in rule}
        self._patterns = [(_pattern(rule), _template(rule)) for rule in sorted(written) if "<" in rule]

    def of(self, path: bytes) -> str:
        """Return the template of `path`, without its query; UNMATCHED where no route has it."""
        exact = self._exact.get(path)
        if exact is not None:
            return exact
        for pattern, template in self._patterns:
            if pattern.fullmatch(path):
                return template
        return UNMATCHED


def _template(rule: str) -> str:
    return _CONVERTER.sub(lambda match: "*" if match[1] == "path" else f"{{{match[2]}}}", rule)


def _pattern(rule: str) -> re.Pattern[bytes]:
    """Return what matches the paths of a rule (werkzeug: the converters `string` and `path`)."""
    # What stands between the converters comes in threes: text, kind, name.
    parts = _CONVERTER.split(rule)
    kinds = {None: "[^/]+", "path": "[^/].*"}
    written = [re.escape(parts[0])]
    for kind, text in zip(parts[1::3], parts[3::3], strict=True):
        written += [kinds[kind], re.escape(text)]
    return re.compile("".join(written).encode(), re.DOTALL)
