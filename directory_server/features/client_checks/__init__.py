"""Client checks: what editors and other clients would see of this server, by requests to its public URL."""

from ...feature import Feature

FEATURE = Feature(
    "client_checks",
    __name__,
    web="web:PART",
    section="Registries and clients",
    commands={"client-check": "Send the requests of editors to the public URL, and say what each would see."},
    command="command:client_check",
)
