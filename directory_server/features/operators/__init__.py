"""Operator pages: the overview of the server, accounts, keys and upstreams."""

from ...feature import Feature

FEATURE = Feature(
    "operators",
    __name__,
    web="web:PART",
    section="Access",
    commands={
        "account": "Invite, approve, list, disable, enable and delete accounts; set their roles.",
        "registration": "List accounts that wait for approval, and decide on them.",
        "key": "Create, list, rotate and revoke API keys, and change their limits.",
        "registry": "Manage access to the registry API.",
    },
    resources=(
        "accounts:ACCOUNTS",
        "registrations:REGISTRATIONS",
        "keys:KEYS",
        "registry_tokens:REGISTRY_TOKENS",
    ),
)
