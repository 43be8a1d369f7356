"""Searches in other languages than those of the entries: their language, translations, and runs without spaces."""

from __future__ import annotations

import json
from collections.abc import Mapping
from errno import EMFILE
from pathlib import Path

import pytest

from directory_server.domain.errors import Unavailable
from directory_server.runtime.run_sync import inline
from directory_server.search import ImpactIndex
from directory_server.search.query import cost
from directory_server.search.query.parsing import parse
from directory_server.search.tables.files import Lazy
from directory_server.search.tables.languages import foreign_letters
from directory_server.search.tables.lexicon import lexicon, likely_language
from directory_server.search.tables.stop_words import ENGLISH
from tests.contract.index import make_entry

from . import OTHERS, RecordingOffload, index_of, plan_of, search_names, terms_of

ENTRIES = [
    make_entry("org.example/billing", "Creates an invoice and sends it"),
    make_entry("org.example/sky", "Weather forecast for any place"),
    make_entry("org.example/lark", "Feishu documents"),
    make_entry("org.example/db", "Reads a database"),
    make_entry("org.example/maker", "A builder of things"),
    make_entry("org.example/image", "Edits an image"),
    *(make_entry(f"org.example/{n}", "Something else that has the words of most other entries") for n in range(20)),
]


@pytest.fixture(scope="module")
def index() -> ImpactIndex:
    return index_of(*ENTRIES)


QUERIES = {
    "发票": "billing", "發票": "billing", "請求書を作成": "billing", "세금계산서 발행": "billing",
    "Rechnung schreiben": "billing", "crear facturas": "billing", "faire une facture": "billing",
    "emitir nota fiscal": "billing", "creare una fattura": "billing", "выставить счёт": "billing",
    "إنشاء الفواتير": "billing", "चालान बनाना": "billing", "tạo hóa đơn": "billing", "fatura oluşturma": "billing",
    "membuat faktur": "billing", "wystawić fakturę": "billing", "facturen versturen": "billing",
    "виставити рахунок": "billing", "Wettervorhersage": "sky", "Wetter für Rechnungen": "sky", "飞书": "lark",
    "base de datos": "db", "bilder": "image", "データベース": "db",
}  # fmt: skip


@pytest.mark.parametrize(("query", "name"), QUERIES.items())
def test_a_query_in_another_language_finds_entries_in_english(index: ImpactIndex, query: str, name: str) -> None:
    assert search_names(index, query)[0] == f"org.example/{name}"


def language_of(query: str) -> str:
    parsed = parse(query)
    return likely_language(parsed.spaced, parsed.letters, ENGLISH)


LIKELY = {
    "Rechnungen automatisch erstellen": "de", "buscar vuelos baratos": "es", "traduire un document": "fr",
    "agendar uma reunião": "pt", "cercare ricette di cucina": "it", "đặt vé máy bay": "vi",
    "hava durumu tahmini": "tr", "cari jadwal kereta api": "id", "weather forecast": "", "AI img gen": "",
    "envoyer un SMS": "fr", "war thunder": "", "in a database": "", "plan": "", "Kubernetes": "", "": "",
    "gửi email": "vi", "consultas no banco de dados": "pt", "movimenti del conto": "it",
    "faktury i księgowość": "pl", "zarzadzanie zadaniami w zespole": "pl", "create a plan for data export": "",
    "zoek goedkope treinkaartjes": "nl", "een geluidsopname uitschrijven": "nl",
    "Lobbyismus, Korruption und Transparenzregister": "de", "kausale Inferenz und Kontrafaktisches": "de",
    "demostración formal de teoremas": "es", "littérature médiévale et manuscrits": "fr",
}  # fmt: skip


@pytest.mark.parametrize(("query", "language"), LIKELY.items())
def test_the_language_is_told_by_known_words(query: str, language: str) -> None:
    assert language_of(query) == language


def test_few_english_queries_of_the_sets_are_in_another_language() -> None:
    folder = Path(__file__).parents[1] / "relevance"
    rows = [json.loads(line) for path in folder.glob("*.jsonl") for line in path.read_text("utf-8").splitlines()]
    english = [row["query"] for row in rows if row.get("language", "en") == "en"]
    assert len(english) > 500
    assert len([query for query in english if language_of(query)]) <= len(english) // 200


@pytest.mark.parametrize(
    ("text", "letters"), [("gửi Thư", "ửư"), ("mañana", "ñ"), ("Straße × 2", "ß"), ("weather", ""), ("天気", "")]
)
def test_letters_that_english_lacks_are_told(text: str, letters: str) -> None:
    assert foreign_letters(text) == {*letters}


TRANSLATED = {
    "Wettervorhersage und Regen": {"wettervorhersage": "weather forecast", "regen": "rain"},
    "bases de datos": {"bases de datos": "database"},
    "Musikstücke abspielen": {"musikstucke": "music", "abspielen": "play"},
    "minhas reuniões": {"reunioes": "meeting"},
    "las traducciones": {"traducciones": "translate"},
    "الإعلانية": {"الاعلانيه": "advertising"},
    "khai thuế": {"khai thue": "tax return"},
    "отправить сообщение": {"отправить": "send", "сообщение": "message"},
    "в календаре": {"календаре": "calendar"},
    "والطقس": {"والطقس": "weather"},
    "أسعار الأسهم": {"اسعار الاسهم": "stock price"},
    "किताबें": {"किताबें": "book"},
    "dự báo thời tiết": {"du bao": "forecast", "thoi tiet": "weather"},
    "яндекс карты": {"яндекс карты": "yandex maps"},
    "wysyłanie powiadomień": {"wysylanie": "send", "powiadomien": "notification"},
    "weerkaart voor de tuin": {"weerkaart": "weather map", "tuin": "garden"},
    "розумного будинку": {"розумного будинку": "smart home"},
    "відстежити посилку": {"відстежити": "track", "посилку": "package tracking"},
    "ceny i loty": {"ceny": "price", "loty": "flight"},
}


@pytest.mark.parametrize(("query", "expected"), TRANSLATED.items())
def test_expressions_are_translated(query: str, expected: Mapping[str, str]) -> None:
    """The longest expression at each place counts, in an inflected form, as a compound, or as a name."""
    plan = plan_of(index_of(), query)
    words, table, place, found = parse(query).spaced, lexicon(), 0, {}
    while place < len(words):
        translated, size = table.translate(plan.language, words, place)
        is_functional = size == 1 and words[place] in table.function_words[plan.language]
        if translated and not is_functional:
            found[" ".join(words[place : place + size])] = translated.english[0]
        place += size
    assert found == expected


RUNS = {
    "データベース管理": ["データベース", "管理"],
    "スキージャンプ場": ["スキー", "ジャンプ"],
    "新しいスキーマ": ["スキーマ"],
    "A股行情": ["a股", "行情"],
    "B站视频下载": ["b站", "视频下载"],
    "发票识别": ["发票", "识别"],
    "일정관리": ["일정", "관리"],
}


@pytest.mark.parametrize(("query", "words"), RUNS.items())
def test_a_run_is_divided_into_its_likeliest_words(query: str, words: list[str]) -> None:
    english = "database manage management ski jump schema stock quote bilibili video download invoice recognize china"
    index = index_of(make_entry("org.example/all", f"{english} schedule calendar market image ocr tidy"), *OTHERS)
    assert [word.text for word in plan_of(index, query).words if len(word.text) > 1 and word.english] == words


@pytest.mark.parametrize("name", ["outlook.office365", "com.rechnung.app"])
def test_the_parts_of_an_address_are_no_words_of_a_language(index: ImpactIndex, name: str) -> None:
    assert all(not word.english for word in plan_of(index, f"something of {name}").words)


def test_a_word_and_its_translation_count_once() -> None:
    index = index_of(*ENTRIES, make_entry("org.example/both", "Rechnung: an invoice"))
    assert {"rechnung", "invoic"} <= terms_of(index, "Rechnung schreiben", "rechnung")
    assert plan_of(index, "Rechnung schreiben").words[0].text == "rechnung"


def test_a_word_of_the_lexicon_has_the_vector_of_its_translation() -> None:
    index = index_of(*ENTRIES, make_entry("org.example/hive", "Feng shui and a compass"))
    assert plan_of(index, "Kompass und Rechnung").vector is not None
    assert plan_of(index, "zzyzx und qqwerv").vector is None


def test_function_words_and_particles_of_another_language_do_not_count() -> None:
    japanese, chinese = make_entry("org.example/a", "これは何でもしたいもの"), make_entry("org.example/b", "请求的")
    index = index_of(*ENTRIES, make_entry("org.example/uma", "uma meu minha"), japanese, chinese)
    assert search_names(index, "criar uma fatura")[0] == "org.example/billing"
    assert "org.example/uma" not in search_names(index, "criar uma fatura")
    assert search_names(index, "請求書にしたい")[0] == "org.example/billing"
    assert "org.example/a" not in search_names(index, "請求書にしたい")
    assert search_names(index, "したい") == ["org.example/a"]


def test_a_name_that_no_lexicon_has_weighs_no_more_than_a_translation(index: ImpactIndex) -> None:
    index = index_of(*ENTRIES, make_entry("org.example/acmecorp", "Acmecorp"))
    words = {word.text: word for word in plan_of(index, "Rechnungen für Acmecorp schreiben und senden").words}
    assert words["acmecorp"].value <= max(word.idf for word in words.values() if word.english)


def test_a_misspelt_name_is_corrected_though_it_may_be_a_word_of_another_language() -> None:
    index = index_of(
        *(make_entry(f"org.example/builder-{n}", "Builds a building") for n in range(5)),
        *(make_entry(f"org.example/binance-{n}", "Binance") for n in range(10)),
        *(make_entry(f"org.example/{n}", "Factura") for n in range(20)),
        make_entry("org.example/invoices", "Writes an invoice"),
    )
    assert "binance" in search_names(index, "binanse")[0]
    assert "org.example/invoices" in search_names(index, "facturas")


def test_the_first_search_loads_the_tables_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    index = ImpactIndex(offload := RecordingOffload())
    monkeypatch.setattr(cost, "_TABLES", (Lazy(list),))
    for _ in range(2):
        search_names(index, "mail")
        assert offload.functions == [cost.load_tables]


def test_tables_that_cannot_be_read_are_unavailable_until_they_can(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = [OSError(EMFILE, "Too many open files")]

    def read() -> list[object]:
        if errors:
            raise errors.pop()
        return []

    index = ImpactIndex(inline)
    monkeypatch.setattr(cost, "_TABLES", (Lazy(read),))
    with pytest.raises(Unavailable, match="cannot be read now: Too many open files"):
        search_names(index, "mail")
    assert search_names(index, "mail") == []
