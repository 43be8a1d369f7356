"""Views of entries, in lists and in full. The metadata of fields are keywords of JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import Factory, field, frozen

from ..client_config import Installation
from .check_views import VerificationView
from .checks import VerifiedStatus
from .ending_views import EndingView
from .kinds import KINDS, SERVER, Use, kind_of
from .limits import BRIEF, LONG, MAX_STARS, NAME, SUMMARY, TOOLS, URL
from .marks import MAX_MARKS, MarkView
from .notes import FLAGS, FlagView

MCP_ID = {
    "format": "uuid",
    "description": "Id of an entry, the same in every directory: UUIDv5 of a published namespace and the name.",
    "examples": ["41d18bdd-f870-5370-a6db-68de9251dacf"],
}
"""JSON Schema keywords of an `mcp_id`."""


ACTIVE = "active"
"""The status of an entry that its registry says nothing about."""


IDENTITY_MARKS = (
    "namespace_proven",
    "vendor",
    "package_names_server",
    "package_names_other",
    "provenance",
    "provenance_of_other",
    "archived",
    "package_deprecated",
    "released",
)
"""The kinds of facts about who is behind an entry. They are part of the public API."""


@frozen
class IdentityView:
    """A fact about who is behind an entry."""

    mark: str = field(metadata={"description": "The fact: a word that does not change.", "enum": list(IDENTITY_MARKS)})
    source: str = field(metadata={"description": "Where it comes from, such as official registry or npm."})
    date: str | None = field(metadata={"description": "When it was stated or checked (RFC 3339); null if unknown."})
    detail: str = field(metadata={"description": "What it is about: a namespace, package, repository or reason."})


@frozen
class Tool:
    """A tool that an entry lists."""

    name: str = field(metadata={"description": "Name of the tool."})
    description: str = field(metadata={"description": "Description; empty if the publisher gives none."})


@frozen
class Hit:
    """The view of an entry in lists: sanitized strings within limits.

    `summary` is the brief if that is whole and short, see `Entry.summary`. `updated` is the day of the last update (RFC
    3339, full-date), empty if it is unknown. `flags` are the kinds of its flags. `retired` is whether nobody
    maintains the server, `ends` when it ends. `tool_hints` are as in VerificationView.
    """

    mcp_id: str
    name: str
    brief: str
    website_url: str
    server_name: str = ""
    auth: str = "unknown"
    runs: Sequence[str] = ()
    verified: str = "unverified"
    status: str = ACTIVE
    status_message: str = ""
    summary: str = Factory(lambda hit: hit.brief, takes_self=True)
    vendor: bool = False
    installable: bool = False
    stars: int | None = None
    updated: str = ""
    flags: Sequence[str] = ()
    publisher: str = "unknown"
    retired: bool = False
    tool_hints: Sequence[str] = ()
    ends: EndingView | None = None

    @property
    def kind(self) -> str:
        """The kind of the entry, which its name tells."""
        return kind_of(self.server_name)


@frozen
class Detail:
    """The full view of an entry.

    A field that the entry lacks is empty or None. `install` is derived from packages and remotes. `server` is the
    document as published, empty if it is too large. Dates are RFC 3339 strings as the registry wrote them. All texts
    are sanitized and within limits; `omitted` names the fields that were cut or left out for that reason.
    """

    mcp_id: str = field(metadata=MCP_ID)
    name: str = field(
        metadata={"description": "Title, or the registered name if there is no title.", "maxLength": NAME}
    )
    brief: str = field(metadata={"description": "What the server does, in one sentence.", "maxLength": BRIEF})
    summary: str = field(
        metadata={
            "description": "What the server does, in at most 200 characters: the description, or the beginning of the "
            "long one if its source has cut the description. A shortened text ends with a sentence or a word.",
            "maxLength": SUMMARY,
        }
    )
    website_url: str = field(
        metadata={"description": "Website or repository; empty if neither is known.", "maxLength": URL}
    )
    server_name: str = field(
        metadata={"description": "The registered name, such as io.github.crystaldba/postgres-mcp.", "maxLength": NAME}
    )
    title: str = field(metadata={"description": "Title; empty if there is none.", "maxLength": NAME})
    version: str = field(metadata={"description": "The version that this entry describes."})
    long_description: str = field(
        metadata={"description": "Long description; empty if there is none.", "maxLength": LONG}
    )
    descriptions: Mapping[str, str] = field(metadata={"description": "Descriptions by language tag (BCP 47)."})
    tags: Sequence[str] = field(metadata={"description": "Tags of the publisher."})
    categories: Sequence[str] = field(metadata={"description": "Categories of the publisher."})
    tools: Sequence[Tool] = field(metadata={"description": "Tools that the publisher declares.", "maxItems": TOOLS})
    repository: Mapping[str, Any] | None = field(metadata={"description": "As in the server.json."})
    packages: Sequence[Mapping[str, Any]] = field(
        metadata={"description": "Ways to run the server locally, as in the server.json."}
    )
    remotes: Sequence[Mapping[str, Any]] = field(
        metadata={"description": "URLs of the hosted server, as in the server.json."}
    )
    installable: bool = field(
        metadata={"description": "Whether the entry has a package or remote that can be configured as declared."}
    )
    install: Sequence[Installation] = field(
        metadata={
            "description": "Installation options, each with configurations to paste into editors, or the reason for "
            "having none."
        }
    )
    icons: Sequence[Mapping[str, Any]] = field(metadata={"description": "As in the server.json."})
    license: str = field(metadata={"description": "Licence; empty if the publisher names none."})
    stars: int | None = field(
        metadata={
            "description": f"Stars of the repository, as the publisher states them; null above {MAX_STARS:,}.",
            "minimum": 0,
            "maximum": MAX_STARS,
        }
    )
    status: str = field(
        metadata={"description": "As in the entry's registry, such as active or deprecated; active if it has none."}
    )
    status_message: str = field(
        metadata={
            "description": "Why its status is not active, by its publisher; empty if no reason is known.",
            "maxLength": BRIEF,
        }
    )
    official: bool = field(
        metadata={
            "description": "Whether the official registry lists the entry, according to a source that the "
            "operator trusts."
        }
    )
    vendor: bool = field(
        metadata={
            "description": "Whether the vendor of the product publishes the entry: its namespace, which the official "
            "registry has verified, bears the name of the product."
        }
    )
    publisher: str = field(
        metadata={
            "description": "verified if the publisher has proven to own the namespace, at the official registry, or if "
            "the package names this entry as its server; else unknown, which is not bad.",
            "enum": ["verified", "unknown"],
        }
    )
    published_at: str | None = field(metadata={"description": "As in the entry's registry (RFC 3339)."})
    updated_at: str | None = field(metadata={"description": "As in the entry's registry (RFC 3339)."})
    auth: str = field(
        metadata={
            "description": "Whether the server needs a secret, as the entry declares or says: none, key, oauth or "
            "unknown.",
            "enum": ["none", "key", "oauth", "unknown"],
        }
    )
    runs: Sequence[str] = field(
        metadata={
            "description": "Where the server runs: local, remote or both; empty if unknown.",
            "items": {"type": "string", "enum": ["local", "remote"]},
        }
    )
    verified: str = field(
        metadata={
            "description": "Result of the checks of its remotes and packages by this directory: works, needs_login, "
            "available (the package exists), failing, down, or unverified, which is not bad.",
            "enum": [status.value for status in VerifiedStatus],
        }
    )
    verification: VerificationView | None = field(
        metadata={"description": "Checks of its remotes and packages by this directory; null if there were none."}
    )
    server: Mapping[str, Any] = field(
        metadata={"description": "The server.json document, without invisible characters; empty if it is too large."}
    )
    ends: EndingView | None = field(
        default=None,
        metadata={"description": "Its end of life, or its move; null for none."},
    )
    flags: Sequence[str] = field(
        default=(),
        metadata={
            "description": "What this directory has found against the entry: lookalike, its name, package or remote "
            "imitates or repeats that of another owner's entry; duplicate, it repeats one of the same owner; or a kind "
            "of its marks. Empty for nothing.",
            "items": {"type": "string", "enum": list(FLAGS)},
        },
    )
    identity: Sequence[IdentityView] = field(
        default=(), metadata={"description": "Who is behind the entry: facts, each with its source and date."}
    )
    flag_notes: Sequence[FlagView] = field(
        default=(),
        metadata={"description": "The flags with reasons and dates, and those of other entries that name this one."},
    )
    marks: Sequence[MarkView] = field(
        default=(),
        metadata={
            "description": "Marks of texts that may command a model, which are withheld: the rule and the place.",
            "maxItems": 2 * MAX_MARKS,
        },
    )
    trust: str = field(
        default="",
        metadata={
            "description": "What this directory knows of the entry, in a few words: publisher, status, flags, checks, "
            "tools and the time of the last check (UTC). Unknown is not bad."
        },
    )
    kind: str = field(
        default=SERVER,
        metadata={
            "description": "What the entry is. The document of an entry that is no server has its card in _meta.",
            "enum": [SERVER, *KINDS],
        },
    )
    uses: Sequence[Use] = field(
        default=(), metadata={"description": "Ways to use an entry that is no server; empty for servers."}
    )
    omitted: Sequence[str] = field(
        default=(), metadata={"description": "Fields that are shortened or omitted because the entry is too large."}
    )
