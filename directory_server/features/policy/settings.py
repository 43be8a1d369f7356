"""Settings of the policy."""

from __future__ import annotations

from attrs import frozen

from ...config import setting
from ...domain.errors import BadInput
from ...domain.filters import check_filters
from ...domain.policy import MAX_RULE, MAX_RULES, PolicyRules


def check_rule(query: str) -> str:
    """Return `query` with single spaces. Raises BadInput if it is no query that a rule may have."""
    query = " ".join(query.split())
    if not 0 < len(query) <= MAX_RULE or not query.isprintable():
        raise BadInput(f"rule: must have 1 to {MAX_RULE} printable characters.", code="rule_wrong")
    check_filters(query)
    return query


def queries(_: object, __: object, items: tuple[str, ...]) -> None:
    """Validate the queries of rules."""
    if len(items) > MAX_RULES:
        raise ValueError(f"must be at most {MAX_RULES} rules")
    for item in items:
        try:
            is_plain = check_rule(item) == item
        except BadInput as error:
            reason = error.message.removeprefix("keywords: ")
            raise ValueError(f"must be queries such as license:mit|apache-2.0; {reason}") from None
        if not is_plain:
            raise ValueError("must be queries of words that are separated by one space")


@frozen
class PolicyConfig:
    """Rules that hide entries from all readers; entries that are pinned, allowed or local are never hidden by rules."""

    require: tuple[str, ...] = setting(
        (), "Queries such as publisher:verified; entries that do not match are hidden.", queries
    )
    hide: tuple[str, ...] = setting(
        (), "Queries such as flag:instructions|secrets; entries that match are hidden.", queries
    )

    @property
    def rules(self) -> PolicyRules:
        return PolicyRules(self.require, self.hide)
