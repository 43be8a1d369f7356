"""Translations: the same keys in every language, and language negotiation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment, nodes

import directory_server
from directory_server.composition import extensions
from directory_server.web.pages._translations import LANGUAGES, _category_key, _table, choose, load

TEXTS = load(extensions())

PACKAGE = Path(directory_server.__file__).parent


def places(text: str) -> set[str]:
    return set(re.findall(r"{(\w+)}", text))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_keys(language: str) -> None:
    assert TEXTS[language].keys == TEXTS["en"].keys


def test_placeholders_are_the_same_in_every_language() -> None:
    # A singular form may omit the number.
    for texts, key in product(TEXTS.values(), TEXTS["en"].keys):
        assert texts.template(key).strip(), key
        assert places(texts.template(key)) - {"count"} == places(TEXTS["en"].template(key)) - {"count"}, key


def keys_of_templates() -> Iterator[tuple[str, str, bool]]:
    """Yield each key of a text in a template, with the template and whether it is only the beginning of a key."""
    folders = [PACKAGE / "web" / "pages" / "templates", *PACKAGE.glob("features/*/templates")]
    for path in sorted(path for folder in folders for path in folder.rglob("*.*ml")):
        for call in Environment().parse(path.read_text("utf-8")).find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name == "t":
                first = call.args[0]
                start = first.nodes[0] if isinstance(first, nodes.Concat) else first
                if isinstance(start, nodes.Const):
                    yield str(path.relative_to(PACKAGE)), start.value, start is not first


def test_texts_of_templates_exist() -> None:
    found = list(keys_of_templates())
    assert len(found) > 300
    keys = TEXTS["en"].keys
    assert [
        f"{template}: no text {key}"
        for template, key, is_beginning in found
        if not (any(each.startswith(key) for each in keys) if is_beginning else key in keys)
    ] == []


def messages_of_sync_runs() -> Iterator[str]:
    """Yield the errors in the code, with a number in place of each value."""
    wrappers = {
        "UpstreamFailed": "{}",
        "BadResponse": "{}",
        "_fail": "It {}.",
        "_failure": "It {}.",
    }
    package = Path(directory_server.__file__).parent
    for path in sorted([*package.glob("mirror/*.py"), *package.glob("http_client/*.py")]):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in wrappers and isinstance(node.args[0], ast.Constant | ast.JoinedStr):
                yield wrappers[name].format(with_numbers(node.args[0]))


def with_numbers(text: ast.expr) -> str:
    parts = text.values if isinstance(text, ast.JoinedStr) else [text]
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else "7 entries" if "entries(" in ast.unparse(part) else "7"
        for part in parts
    )


MESSAGES = sorted({*messages_of_sync_runs()} - {"7", "7.", "It 7."})


def test_messages_of_sync_runs_are_found() -> None:
    assert len(MESSAGES) > 25


def test_errors_of_sync_runs_are_translated() -> None:
    assert [each for each in MESSAGES if not re.search(r"[\u4e00-\u9fff]", TEXTS["zh"].upstream_error(each))] == []
    assert [TEXTS["en"].upstream_error(each) for each in MESSAGES] == MESSAGES


@pytest.mark.parametrize("message", sorted(_table("upstream_errors")["zh"]))
def test_errors_keep_their_numbers_and_quoted_texts(message: str) -> None:
    quoted = {name: "1,234" if re.fullmatch(r"n\d", name) else f"<{name}.{{x}}>" for name in places(message)}
    found = TEXTS["zh"].upstream_error(re.sub(r"{(\w+)}", lambda place: quoted[place[1]], message))
    assert not [each for each in quoted.values() if each not in found]
    assert found == re.sub(r"{(\w+)}", lambda place: quoted[place[1]], _table("upstream_errors")["zh"][message])


@pytest.mark.parametrize(
    "message", ["", "Unknown.", "It answered teapot.", "It answered 5", "x" * 500, "It cannot be\n"]
)
def test_other_errors_stay_as_they_are(message: str) -> None:
    assert TEXTS["zh"].upstream_error(message) == message


def test_chinese_texts_are_translated() -> None:
    untranslated = [key for key in TEXTS["zh"].keys if not re.search(r"[\u4e00-\u9fff]", TEXTS["zh"].template(key))]
    assert untranslated == []


def test_categories_are_named_in_every_spelling_and_language() -> None:
    names = _table("categories")
    assert names.keys() < LANGUAGES.keys()
    for language, named in names.items():
        assert [key for key in named if _category_key(key) != key] == []
        for label in ("Task & Project Management", "task-and-project_management"):
            assert TEXTS[language].category(label) == named["task project management"]
        assert TEXTS[language].category("zebras") == "zebras"
    assert TEXTS["en"].category("Databases") == "Databases"


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("zh", "zh"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("zh-Hant-TW", "zh"),
        ("en-GB,zh;q=0.5", "en"),
        ("fr, zh;q=0.3, en;q=0.2", "zh"),
        ("fr", "en"),
        ("zh;q=0, en;q=0.1", "en"),
        ("*", "en"),
        (";;;q=x", "en"),
    ],
)
def test_the_best_accepted_language_is_chosen(accepted: str, language: str) -> None:
    assert choose(accepted) == language


@given(st.text(st.characters(max_codepoint=255)))
def test_any_accept_language_value_yields_a_language(accepted: str) -> None:
    assert choose(accepted) in LANGUAGES


def test_a_count_of_one_selects_the_singular() -> None:
    assert TEXTS["en"]("error.retry", count=1) == "Try again in 1 second."
    assert TEXTS["en"]("error.retry", count=2) == "Try again in 2 seconds."
