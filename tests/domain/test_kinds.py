"""Kinds of entries: their names, what their cards say, and which cards are invalid."""

from __future__ import annotations

from typing import Any

import pytest

from directory_server.domain.details import detail_of
from directory_server.domain.entries import Entry
from directory_server.domain.errors import BadInput
from directory_server.domain.kinds import KINDS, TYPES, Use, is_asked, kind_of, short_name, skill
from directory_server.domain.kinds.skill import front_matter
from directory_server.serialization import decode, decode_entry, encode_entry, restore_entry

from ..kinds import AGENT, AGENT_CARD, PLUGIN, SKILL, SKILL_FILE, of_kind


@pytest.mark.parametrize(
    ("name", "kind", "short"),
    [
        ("com.acme/weather", "server", "weather"),
        ("com.acme/agent:weather", "agent", "weather"),
        ("com.acme/skill:a:b", "skill", "a:b"),
        ("com.acme/other:weather", "server", "other:weather"),
        ("agent:weather", "server", "agent:weather"),
        ("agent:com.acme/weather", "server", "weather"),
    ],
)
def test_a_name_tells_the_kind(name: str, kind: str, short: str) -> None:
    assert (kind_of(name), short_name(name)) == (kind, short)


def test_media_types_belong_to_one_kind() -> None:
    assert len(TYPES) == sum(len(kind.all_types) for kind in KINDS.values())
    assert all(meant in kind.media_types for kind, meant in TYPES.values())


@pytest.mark.parametrize("item", [AGENT, SKILL, PLUGIN])
def test_an_entry_is_the_same_after_its_stored_form(item: dict[str, Any]) -> None:
    entry = of_kind(item)
    assert decode_entry(decode(encode_entry(entry))) == restore_entry(encode_entry(entry)) == entry
    detail = detail_of(entry)
    assert (detail.kind, detail.uses, detail.install) == (entry.kind, tuple(entry.uses), ())


def test_an_agent_has_the_texts_and_skills_of_its_card() -> None:
    entry = of_kind(AGENT)
    assert (entry.name, entry.version, entry.title) == ("com.acme/agent:routes", "1.2.0", "Route planner")
    assert [tool.name for tool in entry.tools] == ["plan_route"]
    assert (entry.tags, entry.hit().website_url) == (("cycling",), "https://acme.com/routes")
    assert entry.uses == [Use("endpoint", "https://agents.acme.com/routes")]


def test_a_card_at_a_url_is_used_by_that_and_an_agent_of_version_1_has_interfaces() -> None:
    card = {key: value for key, value in AGENT_CARD.items() if key != "url"}
    interfaces = [{"url": "https://a.example/v1", "protocolBinding": "JSONRPC"}, {"url": "javascript:x"}]
    entry = of_kind(AGENT, data={**card, "supportedInterfaces": interfaces})
    assert entry.uses == [Use("endpoint", "https://a.example/v1")]
    url = "https://acme.com/.well-known/agent-card.json"
    assert of_kind({**AGENT, "url": url, "data": None}).uses == [Use("card", url)]


def test_a_skill_has_the_text_of_its_file() -> None:
    entry = of_kind(SKILL)
    assert (entry.name, entry.brief) == ("com.acme/skill:invoice-check", "Check invoices against purchase orders.")
    assert entry.readme.startswith("# Check invoices")
    assert entry.publisher["license"] == "Apache-2.0"


def test_a_member_of_a_front_matter_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []

    def indented(text: str) -> str:
        read.append(text)
        return "text"

    monkeypatch.setattr(skill, "_indented", indented)
    text = "---\n" + "name:\n" * 3_000 + "description: >\n---\n"
    assert front_matter(text) == {"name": "text", "description": "text"}
    assert len(read) == 2


@pytest.mark.parametrize(
    ("url", "use"),
    [
        (
            "https://github.com/acme/skills/blob/main/pdf/SKILL.md",
            Use(
                "file",
                "https://github.com/acme/skills/blob/main/pdf/SKILL.md",
                "curl -gfsSL --create-dirs -o .claude/skills/invoice-check/SKILL.md "
                "https://raw.githubusercontent.com/acme/skills/main/pdf/SKILL.md",
            ),
        ),
        ("https://acme.com/a'$(b).md", Use("file", "https://acme.com/a'$(b).md", None)),  # type: ignore[arg-type]
        ("http://acme.com/SKILL.md", Use("file", "http://acme.com/SKILL.md")),
        ("https://acme.com/skill.zip", Use("archive", "https://acme.com/skill.zip")),
        ("https://github.com/acme/skill", Use("folder", "https://github.com/acme/skill")),
    ],
)
def test_a_skill_is_used_by_its_url(url: str, use: Use) -> None:
    (found,) = of_kind({**SKILL, "data": None, "url": url}).uses
    if use.command is None:
        # What a shell would read is quoted.
        assert found.command.endswith("""'https://acme.com/a'"'"'$(b).md'""")
    else:
        assert found == use


@pytest.mark.parametrize(
    ("text", "name", "description"),
    [
        ("---\nname: a\ndescription: 'It''s'\n---\n", "a", "It's"),
        ('---\r\nname: "a"\r\ndescription: b: c\r\n---\r\n', "a", "b: c"),
        ("---\ndescription:\n  one\n  two\nname: a\n---", "a", "one two"),
        ("---\ndescription: |-\n\tone\nname: a\nname: b\n---\nname: c", "a", "one"),
        ("name: a\ndescription: b\n", None, None),
    ],
)
def test_front_matter(text: str, name: str | None, description: str | None) -> None:
    found = front_matter(text)
    assert (found.get("name"), found.get("description")) == (name, description)


def test_a_plugin_keeps_its_media_type() -> None:
    entry = of_kind(PLUGIN)
    assert (entry.name, entry.card.type) == ("com.acme/plugin:tools.reviewer", PLUGIN["type"])
    manifest = {"name": "reviewer", "description": "Reviews.", "keywords": ["git"], "homepage": "https://acme.com"}
    entry = of_kind({**PLUGIN, "url": None, "data": manifest})
    assert (entry.brief, entry.tags) == ("Reviews.", ("git", "review"))


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({**AGENT, "type": "application/parquet"}, "type: must be one of application/a2a-agent-card"),
        ({**AGENT, "type": 5}, "type: must be one of"),
        ({**AGENT, "identifier": "urn:x:acme.com:a"}, "identifier: must be urn:air:"),
        ({**AGENT, "identifier": f"urn:air:acme.com:{'a' * 300}"}, "server.name: must be 1 to 200"),
        ({**AGENT, "url": "https://acme.com"}, "must have either url or data"),
        ({**PLUGIN, "displayName": " "}, "displayName: is required without data"),
        ({**PLUGIN, "url": "javascript:alert(1)"}, "url: must be an http or https URL"),
        ({**PLUGIN, "url": f"https://acme.com/{'a' * 2_000}"}, "url: must be an http or https URL"),
        ({**PLUGIN, "url": {"a": 1}}, "url: must be an http or https URL"),
        ({**AGENT, "data": [1]}, "the agent's card: must be an object"),
        ({**AGENT, "data": ""}, "the agent's card: must be an object"),
        ({**AGENT, "data": {}}, "the agent's card: name is required"),
        ({**SKILL, "data": ""}, "the skill's card: must have 1 to"),
        ({**AGENT, "data": {"name": "a"}}, "the agent's card: description is required"),
        ({**AGENT, "data": {**AGENT_CARD, "skills": [{}]}}, r"the agent's card: skills\[0\].name is required"),
        ({**AGENT, "data": {**AGENT_CARD, "skills": [{"name": "a"}] * 201}}, "skills must have at most 200 items"),
        ({**AGENT, "data": {**AGENT_CARD, "provider": "a"}}, "provider must be an object"),
        ({**AGENT, "data": {**AGENT_CARD, "x": "a" * 70_000}}, "the agent's card has more than 65,536 bytes"),
        ({**SKILL, "data": {"text": SKILL_FILE}}, "the skill's card: must be a string"),
        ({**SKILL, "data": "# No front matter"}, "must be a SKILL.md whose front matter has a name"),
        ({**SKILL, "data": "---\nname: a\n---\n"}, "front matter has a description"),
        ({**PLUGIN, "url": None, "data": {"name": "a" * 201, "description": "b"}}, "name must have 1 to 200"),
    ],
)
def test_invalid_entries_are_rejected(item: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        of_kind(item)


@pytest.mark.parametrize("card", [None, 1, {}, {"type": "application/ai-skill"}, {"type": [], "url": 5, "data": {}}])
def test_the_card_of_a_stored_form_is_checked(card: Any) -> None:
    server = {**of_kind(AGENT).server, "_meta": {"io.github.mcp-directory-server/card": card}}
    with pytest.raises(BadInput, match="must be a card of the type application/a2a-agent-card"):
        decode_entry({"server": server})
    assert Entry(server).uses == []


def test_a_server_may_have_a_member_with_the_key_of_cards() -> None:
    server = {"name": "com.acme/a", "version": "1", "description": "", "_meta": of_kind(AGENT).server["_meta"]}
    assert decode_entry(server).kind == "server"


def test_changes_of_other_kinds_are_for_those_who_ask_for_kinds() -> None:
    asked = [is_asked("com.acme/agent:a", keywords) for keywords in (None, "", "mail", "mail KIND:skill", "mankind:x")]
    assert asked == [False, False, False, True, False]
    assert is_asked("com.acme/a", None)
