"""The parts of a query: words, filters, phrases, exclusions; its capitals, and its bounds."""

from __future__ import annotations

import pytest

from directory_server.search.query.parsing import MAX_PHRASES, MAX_TEXT, MAX_WORDS, parse, topic
from directory_server.search.text import stem

CASES = {
    # Keywords: the words, the phrases, the terms that are excluded, and whether the last word is finished.
    'tag:mail "mail box" -letters post': ("mail box post", ["mail box"], ["letter"], False),
    'mail "BOX  for" ': ("mail box for", ["box for"], [], True),
    'add a task to my list every time the user says "remind me"': (
        "add a task to my list every time the user says remind me", [], [], True,
    ),
    "mail - box": ("mail box", [], [], False),
    "mail-box -": ("mail box", [], [], True),
    "l'mail d'accord mail's": ("mail accord mail", [], [], False),
    "http://x a:b ::": ("http x a b", [], [], True),
    '"" "': ("", [], [], False),
    "c++": ("cpp", [], [], False),
    "c++ ": ("cpp", [], [], True),
    "slack-": ("slack", [], [], False),
    "10.0.0.0/8 v1.2.3": ("10.0.0.0/8 v1.2.3", [], [], False),
    "전시 일정 알려줘": ("전시 일정", [], [], False),
    "문서를 번역해 주세요": ("문서를 번역", [], [], False),
    "날씨 보고 싶어요": ("날씨 보고", [], [], False),
    "我想查一下快递": ("查 快递", [], [], False),
    "請問怎麼翻譯文件": ("翻译文件", [], [], False),
    "怎么样": ("怎么样", [], [], False),
    "what to do": ("what to do", [], [], False),
}  # fmt: skip


@pytest.mark.parametrize(("keywords", "expected"), CASES.items())
def test_the_parts_of_keywords(keywords: str, expected: tuple[str, list[str], list[str], bool]) -> None:
    parsed = parse(keywords)
    words = " ".join(part for parts, _ in parsed.runs for part in parts)
    assert (words, parsed.phrases, parsed.excluded, parsed.is_complete) == expected


CAPITALS = {
    "Apple Health steps and heart rate": {"health"},
    "steps of Apple Health and a heart rate": {"apple", "health"},
    "PDF files that are merged": {"pdf"},
    "Find files. Then merge them with GitHub": {"github"},
    "Apple Health Steps": set(),
    "apple health steps": set(),
    "GitHub issues": set(),
    "открыть файлы в Excel": {"excel"},
}


@pytest.mark.parametrize(("query", "capitals"), CAPITALS.items())
def test_words_with_capitals_are_told(query: str, capitals: set[str]) -> None:
    assert parse(query).capitals == capitals


def test_the_topic_has_no_filters_and_exclusions() -> None:
    assert topic('Mail tag:red "in a Box" -news auth:none').split() == ["Mail", "in", "a", "Box"]
    assert parse("TypeScript-Linter").runs == [(("type", "script", "linter"), "typescriptlinter")]
    assert parse("TypeScript-Linter").whole == [(("typescript", "linter"), "typescriptlinter")]


@pytest.mark.parametrize(
    "keywords",
    ["ﷺ" * 4_096, "word " * 800, '"a b" ' * 600, "-" * 4_096, "-a " * 1_000, "a-" * 2_000, "天气" * 2_000, "a:b " * 999,
     "tag:" + "x" * 4_000, "C&D " * 900, "1." * 2_000, '"' * 4_000, "aB" * 2_000, "\ud800 " * 2_000, "'s " * 1_500],
)  # fmt: skip
def test_the_parts_of_hostile_keywords_are_bounded(keywords: str) -> None:
    parsed = parse(keywords)
    assert len(parsed.text) <= MAX_TEXT
    assert max(len(parsed.runs), len(parsed.whole)) <= MAX_WORDS
    assert len(parsed.phrases) <= MAX_PHRASES
    assert sum(len(part) for parts, _ in parsed.runs for part in parts) <= MAX_TEXT
    assert {stem(term) for term in parsed.excluded} <= {"a", ""}
