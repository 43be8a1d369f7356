"""Entries: published MCP servers, and their views in lists."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any
from uuid import UUID, uuid5

from attrs import field, frozen

from ..texts.sanitize import clean_line, shorten
from .errors import BadInput
from .kinds import KINDS, Card, Use, card_of, kind_of, short_name
from .limits import BRIEF, MAX_STARS, NAME, SUMMARY, WORD, url
from .namespaces import is_proven
from .tools import MAX_OFFERED, OfferedTool, offered_tool
from .views import ACTIVE, Hit, Tool
from .vocabulary import RETIRED, RETIRED_REPOSITORY, RETIRED_TEXT

NAMESPACE = UUID("7d9a1a47-8c6b-42d7-96dd-0a8aa272d25a")
"""The published namespace of every `mcp_id`: `uuid5(NAMESPACE, server name)`."""

OFFICIAL = "io.modelcontextprotocol.registry/official"
"""The key of `_meta` under which the official registry stores status and dates."""

PUBLISHER = "io.modelcontextprotocol.registry/publisher-provided"
"""The key of `server._meta` for publisher data outside the schema."""

_ELLIPSES = "…", "..."
"""The ends of a description that its source has cut."""

MAX_NAME, MAX_VERSION = 200, 255
"""Characters of a server's name (server.json schema: 3 to 200) and of a version. Cursors of the registry API hold both.
"""


def check_name(name: str) -> None:
    """Raise BadInput for an invalid server name. A valid one has no control characters and no lone surrogates."""
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise BadInput(f"server.name: must be 1 to {MAX_NAME} printable characters.")


def check_version(version: str) -> None:
    """Raise BadInput for an invalid version, by the same rules."""
    if not version.strip():
        raise BadInput("server.version: must not be empty.")
    if len(version) > MAX_VERSION or not version.isprintable():
        raise BadInput(f"server.version: must be 1 to {MAX_VERSION} printable characters.")


def is_storable(text: str) -> bool:
    """Return whether every database can hold `text`: it has no NUL and no lone surrogates. Others are in no entry."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def storable(text: str) -> str:
    """Return `text` with U+FFFD in place of what some databases cannot hold."""
    if is_storable(text):
        return text
    return text.replace("\0", "\ufffd").encode(errors="surrogatepass").decode(errors="replace")


_TRIAL = re.compile(r"\b(test|example|demo|everything|sample|hello|template)\b", re.IGNORECASE)
"""A word in the names of servers that are for trying something out."""

_STAGING = re.compile(r"\.[^./]+(?<!\.github)(?<!\.gitlab)\.staging[./]", re.IGNORECASE)
"""The part of a namespace that a publisher deploys to before the public one."""


def is_trial(title: str, name: str) -> bool:
    """Return whether a title and a registered name are those of a server that is for trying something out."""
    return bool(_TRIAL.search(f"{title} {name.rpartition('/')[2]}") or _STAGING.search(name))


def mcp_id_of(name: str) -> str:
    """Return the id of the server `name`, the same in every directory (UUID version 5, RFC 9562)."""
    return str(uuid5(NAMESPACE, name))


@frozen
class Entry:
    """One MCP server: the official `server.json` document and the registry's `_meta`, both unchanged.

    An entry of another `kind` has its card in the `_meta` of the document.

    Real documents hold values of unexpected types in optional fields; the properties skip such values. `is_official`
    is whether the official registry lists the entry. The operator or a trusted source sets it, because any publisher
    can write `_meta`. `has_proof` is whether the namespace was proven here when the entry was published here.
    """

    server: Mapping[str, Any]
    meta: Mapping[str, Any] = field(factory=dict)
    is_official: bool = False
    has_proof: bool = False

    @property
    def name(self) -> str:
        return str(self.server["name"])

    @property
    def version(self) -> str:
        return str(self.server["version"])

    @cached_property
    def mcp_id(self) -> str:
        return mcp_id_of(self.name)

    @property
    def kind(self) -> str:
        """The kind of the entry: `server`, or one of `domain.kinds`."""
        return kind_of(self.name)

    @property
    def card(self) -> Card:
        """The card of an entry of another kind."""
        return card_of(self.server)

    @property
    def uses(self) -> Sequence[Use]:
        """The ways to use an entry of another kind."""
        kind = KINDS.get(self.kind)
        return kind.uses(self.card, short_name(self.name)) if kind is not None else ()

    @property
    def is_proven(self) -> bool:
        """Whether the publisher has proven to own the namespace, at the official registry or here."""
        return is_proven(self.name, self.is_official or self.has_proof)

    @property
    def title(self) -> str:
        return as_text(self.server.get("title"))

    @property
    def brief(self) -> str:
        return as_text(self.server.get("description"))

    @property
    def whole_brief(self) -> str:
        """The description, or the long one if it ends in an ellipsis; cleaned, and cut at BRIEF characters."""
        is_cut = self.brief.endswith(_ELLIPSES)
        return (is_cut and clean_line(self.long_description, BRIEF)) or clean_line(self.brief, BRIEF)

    @property
    def summary(self) -> str:
        """The whole description, shortened."""
        return shorten(self.whole_brief, SUMMARY)

    @cached_property
    def official(self) -> Mapping[str, Any]:
        """Status and dates under the key of the official registry."""
        return as_mapping(self.meta.get(OFFICIAL))

    @cached_property
    def publisher(self) -> Mapping[str, Any]:
        """Publisher data outside the schema."""
        return as_mapping(as_mapping(self.server.get("_meta")).get(PUBLISHER))

    @property
    def status(self) -> str:
        """The status in the entry's registry, such as `deprecated`; `active` if it has none."""
        return as_text(self.official.get("status")) or ACTIVE

    @property
    def status_message(self) -> str:
        """The reason of a status other than `active`; empty if there is none."""
        return "" if self.status == ACTIVE else as_text(self.official.get("statusMessage"))

    @property
    def is_trial(self) -> bool:
        """Whether the name says that the server is for trying something out."""
        return is_trial(self.title, self.name)

    @property
    def is_retired(self) -> bool:
        """Whether nobody maintains the server, as far as its registry, description, labels or repository say."""
        labels = {label.casefold() for label in (*self.categories, *self.tags)}
        repository = as_text(as_mapping(self.server.get("repository")).get("url"))
        is_stated = RETIRED_TEXT.match(self.brief) or RETIRED_REPOSITORY.search(repository[-MAX_NAME:])
        return self.status != ACTIVE or bool(is_stated) or not RETIRED.isdisjoint(labels)

    @property
    def stars(self) -> int | None:
        """Stars of the repository as the publisher states them; None if absent or not credible."""
        stars = self.publisher.get("stars")
        return stars if isinstance(stars, int) and not isinstance(stars, bool) and 0 <= stars <= MAX_STARS else None

    @property
    def long_description(self) -> str:
        return as_text(self.publisher.get("longDescription"))

    @property
    def alternative_descriptions(self) -> tuple[str, ...]:
        return _texts(self.publisher.get("alternativeDescriptions"))

    @property
    def descriptions(self) -> dict[str, str]:
        """Descriptions by language tag (BCP 47)."""
        return {tag: text for tag, text in as_mapping(self.publisher.get("descriptions")).items() if as_text(text)}

    @property
    def readme(self) -> str:
        """The README, in Markdown."""
        return as_text(self.publisher.get("readme"))

    @property
    def tags(self) -> tuple[str, ...]:
        return _texts(self.publisher.get("tags"))

    @property
    def categories(self) -> tuple[str, ...]:
        return _texts(self.publisher.get("categories"))

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(
            Tool(as_text(tool["name"]), as_text(tool.get("description")))
            for tool in as_mappings(self.publisher.get("tools"))
            if as_text(tool.get("name"))
        )

    @property
    def offered_tools(self) -> tuple[OfferedTool, ...]:
        """The first MAX_OFFERED tools, as searches name them."""
        declared = as_mappings(self.publisher.get("tools"))[:MAX_OFFERED]
        return tuple(tool for definition in declared if (tool := offered_tool(definition)) is not None)

    @property
    def packages(self) -> tuple[Mapping[str, Any], ...]:
        """Ways to run the server locally."""
        return as_mappings(self.server.get("packages"))

    @property
    def remotes(self) -> tuple[Mapping[str, Any], ...]:
        """URLs at which the server is offered."""
        return as_mappings(self.server.get("remotes"))

    @property
    def transports(self) -> tuple[str, ...]:
        """Transports (`stdio`, `streamable-http` or `sse`), one for each package and remote."""
        offered = [*(as_mapping(package.get("transport")) for package in self.packages), *self.remotes]
        return tuple(kind for target in offered if (kind := as_text(target.get("type"))))

    def hit(self) -> Hit:
        """Return the view of this entry in lists."""
        repository = as_mapping(self.server.get("repository"))
        server_name = clean_line(self.name, NAME)
        return Hit(
            mcp_id=self.mcp_id,
            name=clean_line(self.title, NAME) or server_name or self.mcp_id,
            brief=clean_line(self.brief, BRIEF),
            website_url=url(as_text(self.server.get("websiteUrl"))) or url(as_text(repository.get("url"))),
            server_name=server_name,
            status=clean_line(self.status, WORD) or ACTIVE,
            status_message=clean_line(self.status_message, BRIEF),
            summary=self.summary,
        )


def as_text(value: object) -> str:
    """Return `value` if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str) and item) if isinstance(value, list) else ()


def as_mapping(value: object) -> Mapping[str, Any]:
    """Return `value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_mappings(value: object) -> tuple[Mapping[str, Any], ...]:
    return tuple(item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()
