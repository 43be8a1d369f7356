"""The lexicon of other languages, and its data."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Mapping, Sequence
from importlib.resources import files

import pytest

from directory_server.search.text.analysis import fold, words
from directory_server.search.text.dictionary import dictionary
from directory_server.search.text.translation_tables import read_translations, translations
from directory_server.search.text.translations import Match
from directory_server.search.text.word_forms import with_accents

LANGUAGES = ("zh", "ja", "ko", "de", "es", "fr", "pt", "it", "ru", "ar", "hi", "vi", "tr", "id", "pl", "nl", "uk")

SCRIPTS = {
    "zh": "[\u3400-\u9fff]",
    "ja": "[\u3040-\u30ff\u3400-\u9fff]|[A-Z][A-Z1]",
    "ko": "[\uac00-\ud7a3]|[A-Z]{3}",
    "ru": "[\u0400-\u04ff]",
    "uk": "[\u0400-\u04ff]",
    "ar": "[\u0600-\u06ff]",
    "hi": "[\u0900-\u097f]",
}

MAX_BYTES = 600_000
"""Bytes of the tables together."""

MAX_MEMORY = 9_000_000
"""Bytes of the loaded lexicon."""


def table(name: str) -> Sequence[Sequence[str]]:
    text = files("directory_server.search").joinpath("data", f"{name}.tsv").read_text("utf-8")
    assert text.endswith("\n")
    return [line.split("\t") for line in text.splitlines()]


def cells() -> Sequence[tuple[str, Sequence[str]]]:
    """Return the expressions of each cell of the table of senses, with its language."""
    header, *rows = table("senses")
    return [(language, cell.split(",")) for row in rows for language, cell in zip(header, row, strict=True) if cell]


def test_senses_have_a_cell_for_each_language() -> None:
    header, *rows = table("senses")
    assert tuple(header) == ("en", *LANGUAGES)
    assert [row for row in rows if len(row) != len(header) or not row[0] or not any(row[1:])] == []
    assert len(rows) > 1_100


def test_each_language_has_most_senses() -> None:
    filled = [language for language, _ in cells()]
    _, *rows = table("senses")
    assert {language for language in LANGUAGES if filled.count(language) < len(rows) * 0.75} == set()


def test_cells_have_no_duplicates_and_no_spaces_at_ends() -> None:
    assert [
        cell for _, cell in cells() if len(set(cell)) < len(cell) or any(each != each.strip() for each in cell)
    ] == []
    assert [cell for _, cell in cells() if not all(cell)] == []


def test_expressions_are_in_the_script_of_their_language() -> None:
    foreign = re.compile("[\u0370-\uffff]")
    wrong = [
        (language, each)
        for language, cell in cells()
        for each in cell
        if not (
            re.search(SCRIPTS[language], each)
            if language in SCRIPTS
            else not foreign.search(re.sub("[\u1e00-\u1eff\u2019]", "", each))
        )
    ]
    assert wrong == []


def test_no_two_senses_are_equal() -> None:
    _, *rows = table("senses")
    english = [frozenset(row[0].split(",")) for row in rows]
    assert sorted(each for each in set(english) if english.count(each) > 1) == []


def test_english_is_folded() -> None:
    every = [each for language, cell in cells() if language == "en" for each in cell]
    every += [each for row in table("names") for each in row[0].split(",")]
    assert [each for each in every if each != fold(each).casefold()] == []


def test_names_have_two_cells_and_no_duplicates() -> None:
    rows = table("names")
    assert [row for row in rows if len(row) != 2 or not all(row)] == []
    names = [name for _, others in rows for name in others.split(",")]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


def test_function_words_are_of_the_languages_with_spaces() -> None:
    rows = table("function_words")
    assert [row[0] for row in rows] == ["en", *LANGUAGES[3:]]
    assert [(row[0], len(row[1].split())) for row in rows if not 50 <= len(set(row[1].split())) <= 200] == []


def test_data_and_memory_are_bounded() -> None:
    folder = files("directory_server.search").joinpath("data")
    texts = [folder.joinpath(f"{name}.tsv").read_text("utf-8") for name in ("senses", "names", "function_words")]
    assert sum(len(text.encode()) for text in texts) <= MAX_BYTES
    tracemalloc.start()
    lexicon = read_translations(dictionary(), *texts)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert lexicon.senses
    assert used <= MAX_MEMORY


def parts(query: str) -> Sequence[str]:
    return [part for word in words(query, humps=True) if word.spaced for part in word.parts]


LIKELY = {
    "Rechnungen automatisch erstellen": "de",
    "buscar vuelos baratos": "es",
    "traduire un document": "fr",
    "agendar uma reunião": "pt",
    "cercare ricette di cucina": "it",
    "đặt vé máy bay": "vi",
    "hava durumu tahmini": "tr",
    "cari jadwal kereta api": "id",
    "weather forecast": "",
    "AI img gen": "",
    "envoyer un SMS": "fr",
    "war thunder": "",
    "in a database": "",
    "plan": "",
    "Kubernetes": "",
    "погода": "",
    "": "",
    "gửi email": "vi",
    "consultas no banco de dados": "pt",
    "movimenti del conto": "it",
    "exporter des contacts": "fr",
    "café server": "",
    "wyślij wiadomość do zespołu": "pl",
    "faktury i księgowość": "pl",
    "zarzadzanie zadaniami w zespole": "pl",
    "create a plan for data export": "",
    "zoek goedkope treinkaartjes": "nl",
    "een geluidsopname uitschrijven": "nl",
}


@pytest.mark.parametrize(("query", "language"), LIKELY.items())
def test_language_is_told_by_known_words(query: str, language: str) -> None:
    assert translations().likely_language(parts(query), with_accents(query)) == language


def test_function_words_are_ignored_in_their_language_only() -> None:
    lexicon = translations()
    assert lexicon.ignored(["wetter", "fur", "die", "schweiz"], "de") == {"fur", "die"}
    assert lexicon.ignored(["die", "hard"], "") == set()
    assert lexicon.ignored(["погода", "в"], "") == {"в"}


def first(matches: Sequence[Match]) -> Mapping[str, str]:
    """Return the first English expression for the words of each match."""
    return {" ".join(match.words): " ".join(match.senses[0][0]) for match in matches}


TRANSLATED = {
    "Wettervorhersage": {"wettervorhersage": "weather forecast"},
    "Rechnungsverwaltung": {"rechnungsverwaltung": "invoice manage"},
    "bases de datos": {"bases de datos": "database"},
    "Musikstücke abspielen": {"musikstucke": "music", "abspielen": "play"},
    "veritabanında arama": {"veritabaninda": "database", "arama": "phone call"},
    "dosyaları": {"dosyalari": "file"},
    "minhas reuniões": {"reunioes": "meeting"},
    "las traducciones": {"traducciones": "translate"},
    "الإعلانية": {"الاعلانيه": "advertising"},
    "thuê nhà": {"thue": "rent", "nha": "home"},
    "khai thuế": {"khai thue": "tax return"},
    "phát nhạc": {"phat": "play", "nhac": "music"},
    "facturas": {"facturas": "invoice"},
    "отправить сообщение": {"отправить": "send", "сообщение": "message"},
    "в календаре": {"календаре": "calendar"},
    "والطقس": {"والطقس": "weather"},
    "الترجمة": {"الترجمه": "translate"},
    "أسعار الأسهم": {"اسعار الاسهم": "stock price"},
    "किताबें": {"किताबें": "book"},
    "dự báo thời tiết": {"du bao thoi tiet": "weather forecast"},
    "яндекс карты": {"яндекс карты": "yandex maps"},
    "мониторинг": {"мониторинг": "monitor"},
    "मॉनिटरिंग": {"मॉनिटरिंग": "monitoring"},
    "wysyłanie powiadomień": {"wysylanie": "send", "powiadomien": "notification"},
    "tłumaczenie dokumentów": {"tlumaczenie": "translate", "dokumentow": "document"},
    "baza danych": {"baza danych": "database"},
    "facturen versturen": {"facturen": "invoice", "versturen": "send"},
    "weerkaart voor de tuin": {"weerkaart": "weather map", "tuin": "garden"},
    "testgegevens": {"testgegevens": "test data"},
    "розумного будинку": {"розумного будинку": "smart home"},
    "згенерувати пісню": {"згенерувати": "create", "пісню": "music"},
    "відстежити посилку": {"відстежити": "track", "посилку": "package tracking"},
    "ceny i loty": {"ceny": "price", "loty": "flight"},
    "github": {},
    "qwertz": {},
}


@pytest.mark.parametrize(("query", "expected"), TRANSLATED.items())
def test_words_are_translated(query: str, expected: Mapping[str, str]) -> None:
    lexicon, query_parts = translations(), parts(query)
    accented = with_accents(query)
    language = lexicon.likely_language(query_parts, accented)
    assert first([*lexicon.spaced(query_parts, language, lambda part: False, accented)]) == expected


def test_known_words_are_translated_in_their_language_only() -> None:
    lexicon = translations()
    assert first([*lexicon.spaced(["receta"], "", lambda part: True)]) == {}
    assert first([*lexicon.spaced(["receta"], "", lambda part: False)]) == {"receta": "recipe"}
    assert first([*lexicon.spaced(["receta"], "es", lambda part: True)]) == {"receta": "recipe"}


RUNS = {
    "データベース管理": {"データベース": "database", "管理": "manage"},
    "アナリティクス": {"アナリティクス": "analytics"},
    "コンバーター": {"コンバーター": "converter"},
    "スキーマ": {"スキーマ": "schema"},
    "スキージャンプ場": {"スキー": "ski", "ジャンプ": "jump"},
    "雨が降る": {"雨": "rain", "降る": "come"},
    "谷雨茶": {},
    "A股行情": {"a股": "stock china", "行情": "quote"},
    "B站视频下载": {"b站": "bilibili", "视频下载": "video download"},
    "发票识别": {"发票": "invoice", "识别": "recognize"},
    "發票": {"发票": "invoice"},
    "일정관리": {"일정": "schedule", "관리": "manage"},
    "책을": {"책": "book"},
    "산책하기": {"산책": "stroll"},
}


@pytest.mark.parametrize(("query", "expected"), RUNS.items())
def test_words_in_runs_are_translated(query: str, expected: Mapping[str, str]) -> None:
    (word,) = words(query, humps=True)
    assert first(translations().in_run(word.parts[0])) == expected


LETTERS = {
    "gửi thư": ["vi"],
    "mañana": ["es"],
    "açık mı": ["tr"],
    "café": ["es", "fr", "it", "pt", "vi", "nl"],
    "Straße": ["de"],
    "łódź": ["pl"],
    "řeka": [],
    "weather": [],
    "天気": [],
}
