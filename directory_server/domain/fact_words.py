"""Expressions in the texts of entries that state a fact. Written by hand, for the vocabulary of server descriptions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

RETIRED = frozenset({"archived", "deprecated", "discontinued", "retired", "unmaintained"})
"""Labels of servers that nobody maintains, and words that begin the description of one: `DEPRECATED: use …`."""

RETIRED_TEXT = re.compile(rf"\W*(?:{'|'.join(sorted(RETIRED))})(?:\W*$|\s*[^\w\s]\s|\s+v?\d)", re.IGNORECASE)
"""Such a description. "Archived web pages" are a topic."""

RETIRED_REPOSITORY = re.compile(r"[-_/](?:archived|deprecated)(?:\.git)?/*$")
"""The end of the URL of a repository that is kept for its past."""

STATEMENTS: Mapping[str, Sequence[str]] = {
    "NO_KEY": (
        *("no api key", "no api keys", "no api key needed", "no api key required", "no api keys required", "no key"),
        *("no keys", "zero api keys", "zero api key", "no key needed", "no key required", "without api key"),
        *("without api keys", "without an api key", "without any api key", "without any api keys", "keyless"),
        *("without requiring api keys", "without requiring an api key", "without the need for api keys", "no auth"),
        *("without the need for an api key", "without needing an api key", "without needing api keys", "authless"),
        *("without requiring any api keys", "api key not required", "api keys not required", "no auth required"),
        *("no authentication", "no authentication required", "without authentication", "no login", "without login"),
        *("no login required", "no account", "no account needed", "no account required", "without an account"),
        *("no registration", "no registration required", "without registration", "no signup", "no sign up"),
        *("no signup required", "no token", "no token required", "no tokens", "no credentials", "no auth needed"),
        *("no credentials required", "no api token", "without credentials", "no subscription or api key"),
        *("无需密钥", "免密钥", "无需api key", "无需 api key", "无需api密钥", "无需 api 密钥", "无需登录", "免登录"),
        *("无需注册", "免注册", "不需要密钥", "不需要api key", "无需账号", "无需认证", "apiキー不要", "apiキーなし"),
        *(
            "登録不要",
            "ログイン不要",
            "認証不要",
            "api 키 없이",
            "api키 없이",
            "키 없이",
            "로그인 없이",
            "회원가입 없이",
        ),
    ),
    "KEY": (
        *("api key", "api keys", "api token", "api tokens", "access token", "personal access token", "bearer token"),
        *("api credentials", "client secret", "service account", "your credentials", "app password", "apikey"),
        *("requires a token", "requires authentication", "requires a subscription", "requires an account"),
        *("free key", "free api key", "license key", "api密钥", "密钥", "apiキー", "인증키", "api 키", "api키"),
    ),
    "OAUTH": ("oauth", "oauth2", "oauth 2", "oidc", "single sign on"),
    "LOCAL": (
        *("locally", "runs local", "local first", "on your machine", "on your computer", "your own machine"),
        *("runs on your", "local mcp server", "local mcp", "local server", "on device", "ondevice", "local only"),
        *("100 local", "fully local", "entirely local", "local stdio", "stdio mcp server", "single binary"),
        *("local machine", "self contained", "本地运行", "本地部署", "ローカルで", "로컬에서"),
    ),
    "OFFLINE": (
        *("offline", "no cloud", "without cloud", "no network", "air gapped", "airgapped", "on device", "ondevice"),
        *("never leaves your", "never leave your", "stays on your", "stay on your", "100 local", "fully local"),
        *("without internet", "no internet", "entirely local", "local only", "no data leaves", "nothing leaves"),
        *("runs entirely on", "local first", "离线", "オフライン", "오프라인"),
    ),
    "REMOTE": (
        *("hosted remote", "remote mcp server", "remote mcp", "hosted mcp", "hosted mcp server", "cloud hosted"),
        *("fully hosted", "hosted server", "hosted api", "remote server", "no install", "no installation"),
        *("hosted", "remotely hosted", "cloudflare workers mcp server"),
    ),
    "CLOUD": ("cloud service", "saas", "cloud api", "x402", "cloud based"),
    "SELF_HOSTED": (
        *("self hosted", "selfhosted", "self host", "self hosting", "self hostable", "on premise", "on premises"),
        *("on prem", "onprem", "homelab", "home lab", "your own server", "your own instance", "自托管", "私有化部署"),
        *("自部署", "セルフホスト", "자체 호스팅"),
    ),
    "READ_ONLY": (
        *("read only", "readonly", "read only access", "no writes", "no write access", "never writes", "select only"),
        *("只读", "読み取り専用", "읽기 전용"),
    ),
    "WRITES": (
        *("read write", "read and write", "reading and writing", "create update", "creating updating", "crud"),
        *("create update delete", "create and manage", "send emails", "sending emails", "and sending", "and send"),
        *("write operations", "send and", "full access"),
    ),
    "CONTAINER": (
        *("docker image", "dockerized", "docker container", "via docker", "using docker", "docker support"),
        *("docker compose", "runs in docker", "in docker", "docker based", "container image", "containerized"),
        *("with docker", "docker deployment", "oci image", "docker hub", "ghcr", "podman", "kali container"),
    ),
    "OPEN_SOURCE": (
        *("open source", "opensource", "open sourced", "mit license", "mit licensed", "mit licence"),
        *("license mit", "under mit", "apache license", "apache licensed", "apache 2", "apache 2 0", "gplv3", "lgpl"),
        *(
            "apache 2 0 license",
            "license apache",
            "gpl 3 0",
            "agpl 3 0",
            "agplv3",
            "gpl",
            "agpl",
            "foss",
            "free software",
            "libre",
            "开源",
            "オープンソース",
            "오픈소스",
        ),
    ),
    "MIT_LICENSE": ("mit license", "mit licensed", "mit licence", "license mit", "under mit"),
    "APACHE_LICENSE": (
        *("apache license", "apache licensed", "apache 2", "apache 2 0", "apache 2 0 license", "license apache"),
    ),
    "GPL_LICENSE": ("gpl", "gplv3", "gpl 3 0", "lgpl"),
    "AGPL_LICENSE": ("agpl", "agplv3", "agpl 3 0"),
    "FREE": (
        *(
            "free",
            "free of charge",
            "no cost",
            "zero cost",
            "at no cost",
            "for free",
            "keyless",
            "免费",
            "無料",
            "무료",
        ),
    ),
    "PAID": (
        *("x402", "micropayment", "micropayments", "pay per call", "pay per use", "paid", "usdc", "per call"),
        *("subscription required", "requires a subscription", "free trial", "prepaid", "credits required"),
    ),
    "OFFICIAL_CLAIM": ("official", "officially", "first party", "官方", "公式", "공식"),
}
"""For each fact the expressions that state it, in lower case. The longest expression at a place counts."""

IGNORED = (
    *("free trial", "free text", "free form", "freeform", "ad free", "risk free", "hands free", "free tier of"),
    *("unofficial", "not official", "not affiliated", "hosted zone", "duty free", "free time", "free busy"),
    *("self hosted remote", "local llm", "local business", "local businesses", "hosted by", "leaked api keys"),
    *("gas free", "token free", "error free", "dependency free", "no read only", "api key management", "tax free"),
)
"""Expressions that state nothing, though they have one that does."""

_PRODUCTS = """
actualbudget adguard apprise appwrite audiobookshelf authentik baserow bazarr bitwarden bookstack calibre
changedetection chatwoot cloudron coolify dawarich directus docmost dokku emby erpnext espocrm etherpad fireflyiii
forgejo freshrss frigate ghostfolio gitea grafana grist grocy hedgedoc homeassistant homebox hoarder immich jellyfin
jellyseerr jenkins joplin karakeep kavita keycloak komga linkding linkwarden listmonk loki lidarr mastodon matomo
mattermost mealie meilisearch metabase miniflux minio mautic n8n navidrome netbird netbox netdata nextcloud nocodb
nocobase odoo openproject opnsense overseerr owncloud paperless peertube pfsense photoprism pihole plausible plex
pocketbase pocketid portainer posthog prometheus prowlarr proxmox qbittorrent radarr readeck redmine romm sabnzbd
searx searxng seafile sonarr sonarqube stash stirling supabase suitecrm synology syncthing tandoor tautulli teable
traccar traefik transmission trilium triliumnext truenas twenty typesense umami unraid uptimekuma vaultwarden vikunja
wallabag wazuh wekan wikijs yacht zabbix zammad zigbee2mqtt
"""

SELF_HOSTED_PRODUCTS = frozenset(_PRODUCTS.split())
"""Products that their users run on servers of their own."""
