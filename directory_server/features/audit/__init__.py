"""Audit: an append-only, hash-chained log of what operators, members, publishers and commands do.

`web.routing` wraps the handlers of rows that write, and of reads that the operator names; off, it wraps none. So the
forms of all features are recorded without code of their own. An action is stored before it is done (`audit_begun`),
else it is rejected with 503; an action whose process died gets the outcome `unknown`. Writers hold the lock of the
table, so the chain of all processes is linear. A checkpoint signed with `audit.key_file` contradicts deleted last
records and a chain that was computed again; only a deletion by age signs a base, from which the chain goes on.
"""

from ...feature import Feature

FEATURE = Feature(
    "audit",
    __name__,
    settings="settings:AuditConfig",
    web="web:PART",
    section="Access",
    commands={"audit": "Verify, list and export the log of what operators, members, publishers and commands did."},
    command="command:audit",
    run="service:run",
    runs_if="enabled",
    trail="service:command_trail",
)
