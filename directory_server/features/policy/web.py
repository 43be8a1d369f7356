"""The web part of the policy: the operator page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ...domain.errors import BadInput
from ...domain.policy import MAX_RULE, PolicyRules
from ...feature.parts import WebPart
from ...feature.server import Server
from ...web.account import Sent, page
from ...web.operator_requests import ADMIN, OperatorRequests
from ...web.routes import APPS, App
from .settings import PolicyConfig, check_rule
from .tables import MAX_SHOWN, DryRun, RuledNames

POLICY = f"{ADMIN}/policy"


@frozen
class OperatorPages:
    """Handles the list of rules with what they hide, and the dry run of a rule."""

    app = App()

    _requests: OperatorRequests
    _server: Server
    _dry_run: DryRun

    @app.get(POLICY)
    @page("list")
    async def get(self, sent: Sent) -> Mapping[str, Any]:
        """Return the page of the rules; with a query in `require` or `hide`, also what such a rule would hide."""
        asked, error = sent.fields, ""
        rules = PolicyRules()
        try:
            rules = PolicyRules(
                *((check_rule(asked[name]),) if asked.get(name) else () for name in ("require", "hide"))
            )
        except BadInput as wrong:
            error = wrong.message
        counts = await self._dry_run.ruled.counts()
        return {
            "rules": [(rule, counts.get(rule, 0)) for rule in self._server.config.of(PolicyConfig).rules.names],
            "asked": {name: asked.get(name, "")[:MAX_RULE] for name in ("require", "hide")},
            "max_rule": MAX_RULE,
            "max_shown": MAX_SHOWN,
            "wrong": error,
            "outcome": await self._dry_run.run(rules) if rules else None,
        }


NAME = "policy"


def _serve(server: Server) -> None:
    dry_run = DryRun(RuledNames.of(server.storage.background_tables, server.config))
    server.add(APPS, OperatorPages(server.operators.of_folder(NAME), server, dry_run).app)


PART = WebPart(
    serve=_serve,
    tabs=(("rules", POLICY, f"{NAME}.tab"),),
)
