"""The entries that a newcomer wants first for the name of a product: the vendor's own, and the best known ones.

They were written down from the catalogue (owners, stars, packages and remotes) before the order of such queries was
worked on. Servers of an archive are not among them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_WANTED = """
airtable: com.airtable/mcp domdomegg/airtable-mcp-server rashidazarang/airtable-mcp
discord: SaseQ/discord-mcp PaSympa/discord-mcp iprashantraj/mcp-discord-bridge
docker: ckreiling/mcp-server-docker QuantGeekDev/docker-mcp docker/hub-mcp docker/mcp-gateway
elasticsearch: elastic/mcp-server-elasticsearch cr7258/elasticsearch-mcp-server awesimon/elasticsearch-mcp
excel: haris-musa/excel-mcp-server sbroenne/mcp-server-excel
figma: com.figma.mcp/mcp GLips/Figma-Context-MCP dannote/figma-use
github: github/github-mcp-server
gmail: ai.waystation/gmail com.mintmcp/gmail com.pulsemcp/gmail taylorwilsdon/google_workspace_mcp
grafana: grafana/mcp-grafana tumf/grafana-loki-mcp com.mcparmory/grafana
hubspot: com.hubspot.app/HubSpot com.hubspot.developer/HubSpot hubspot/mcp-server
jira: com.atlassian/atlassian-mcp-server com.atlassian.mcp/Atlassian sooperset/mcp-atlassian nguyenvanduocit/jira-mcp
kubernetes: manusa/kubernetes-mcp-server Flux159/mcp-server-kubernetes Azure/aks-mcp
linear: app.linear/linear app.linear/Linear tacticlaunch/mcp-linear
mongodb: mongodb-js/mongodb-mcp-server kiliczsh/mcp-mongo-server furey/mongodb-lens
notion: com.notion/mcp makenotion/notion-mcp-server suekou/mcp-notion-server
obsidian: MarkusPfundstein/mcp-obsidian bitbonsai/mcp-obsidian rps321321/obsidian-mcp-pro
pdf: NameetP/pdfmux pspdfkit/nutrient-dws-mcp-server danielkennedy1/pdf-tools-mcp AryanBV/pdf-toolkit-mcp
playwright: microsoft/playwright-mcp executeautomation/mcp-playwright Automata-Labs-team/MCP-Server-Playwright
postgres: crystaldba/postgres-mcp ai.waystation/postgres
redis: redis/mcp-redis redis/mcp-redis-2 redis/mcp-redis-cloud
salesforce: ai.cirra/salesforce-mcp ai.smithery/kodey-ai-salesforce-mcp CDataSoftware/salesforce-mcp-server-by-cdata
sentry: getsentry/sentry-mcp dev.sentry.mcp/Sentry getsentry/sentry-mcp-stdio
shopify: Shopify/dev-mcp geli2001/shopify-mcp den-indance/shopify-mcp-pro
slack: korotovsky/slack-mcp-server ai.waystation/slack
snowflake: Snowflake-Labs/mcp isaacwasserman/mcp-snowflake-server YannBrrd/simple_snowflake_mcp
stripe: com.stripe/mcp stripe/ai
supabase: com.supabase/mcp supabase-community/supabase-mcp alexander-zuev/supabase-mcp-server
telegram: chigwell/telegram-mcp chaindead/telegram-mcp overpod/mcp-telegram
weather: isdaniel/mcp_weather_server TimLukaHorstmann/mcp-weather devilcoder01/weather-mcp-server
youtube: kimtaeyoon83/mcp-server-youtube-transcript anaisbetts/mcp-youtube anwerj/youtube-uploader-mcp
"""


def _name(short: str) -> str:
    """Return a registered name; one without a domain is that of an owner on GitHub."""
    return short if "." in short.partition("/")[0] else f"io.github.{short}"


FIRST_HITS: Mapping[str, Sequence[str]] = {
    query: [*map(_name, names.split())]
    for query, _, names in (line.partition(":") for line in _WANTED.split("\n")[1:-1])
}
"""The wanted entries, by query."""
