"""Commands of `directory-server` in the documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from directory_server.command_line import all_commands
from directory_server.features import FEATURES
from directory_server.request_resource import RequestResource

from ._examples import CHAPTERS, ROOT

DOCUMENTS = "\n".join(
    path.read_text("utf-8") for path in (ROOT / "README.md", ROOT / "docs" / "operations.md", *CHAPTERS)
)


def commands(group: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of the commands below `group`, such as "key create"."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{path}{name} ")
        else:
            yield f"{path}{name}"


def is_documented(path: str) -> bool:
    """Return whether a document shows the command with its program, or its name alone as code."""
    names = re.escape(path)
    return bool(re.search(rf"directory-server (?:--\S+ \S+ )*{names}(?![\w-])|`{names}(?=[` ])", DOCUMENTS))


def usual() -> set[str]:
    """Return the paths of the commands of all kinds of requests, which the chapter about requests describes once."""
    resources = [feature.part(name) for feature in FEATURES for name in feature.resources]
    names = [resource.command for resource in resources if isinstance(resource, RequestResource)]
    return {f"{name} {action}" for name in names for action in ("list", "log", "ask", "decline")}


def test_every_command_is_in_the_documents() -> None:
    missing = [path for path in commands(all_commands()) if not is_documented(path) and path not in usual()]
    assert missing == [], "operations.md in docs or in the folder of the feature: describe these commands"


def test_other_words_are_no_documentation_of_a_command() -> None:
    assert is_documented("key create")
    assert not is_documented("key destroy")
