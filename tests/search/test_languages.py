"""Searches in other languages than those of the entries."""

from __future__ import annotations

from errno import EMFILE

import pytest

from bench.engines.explanation import explain
from directory_server.domain.errors import Unavailable
from directory_server.domain.search import Query
from directory_server.run_sync import inline
from directory_server.search import ImpactIndex
from directory_server.search.query import concepts, cost
from directory_server.search.query.foreign import bounded
from directory_server.search.query.groups import TermGroup
from directory_server.search.query.parsing import parse
from directory_server.search.query.plan import build_plan
from directory_server.search.query.translation import translate
from directory_server.search.text.tables import Lazy
from directory_server.search.text.translation_tables import translations
from tests.contract.index import make_entry

from . import RecordingOffload, index_of, search_names

ENTRIES = [
    make_entry("org.example/billing", "Creates an invoice and sends it"),
    make_entry("org.example/sky", "Weather forecast for any place"),
    make_entry("org.example/lark", "Feishu documents"),
    make_entry("org.example/charts", "Web analytics of your visitors"),
    make_entry("org.example/db", "Reads a database"),
    make_entry("org.example/maker", "A builder of things"),
    make_entry("org.example/image", "Edits an image"),
    *(make_entry(f"org.example/{n}", "Something else that has the words of most other entries") for n in range(20)),
]

QUERIES = {
    "发票": "org.example/billing", "發票": "org.example/billing", "請求書を作成": "org.example/billing",
    "세금계산서 발행": "org.example/billing", "Rechnung schreiben": "org.example/billing",
    "crear facturas": "org.example/billing", "faire une facture": "org.example/billing",
    "emitir nota fiscal": "org.example/billing", "creare una fattura": "org.example/billing",
    "выставить счёт": "org.example/billing", "إنشاء الفواتير": "org.example/billing",
    "चालान बनाना": "org.example/billing",
    "tạo hóa đơn": "org.example/billing", "fatura oluşturma": "org.example/billing",
    "membuat faktur": "org.example/billing", "Wettervorhersage": "org.example/sky", "飞书": "org.example/lark",
    "アナリティクス": "org.example/charts", "base de datos": "org.example/db",
}  # fmt: skip


def test_a_rare_word_of_an_english_sentence_is_not_translated() -> None:
    """Of five words, three or more of which entries have: "senate" is the German and Spanish word as well."""
    index = index_of(*ENTRIES, make_entry("org.example/mps", "The parliament"))

    def is_translated(keywords: str) -> bool:
        return bool(translate(parse(keywords), translations(), index.snapshot.collection).words)

    assert is_translated("senate")
    assert is_translated("something else of xylophone dulcimer zither senate")
    assert not is_translated("something else with the words for the senate")


def test_query_in_another_language_finds_entries_in_english() -> None:
    index = index_of(*ENTRIES)
    assert {q: search_names(index, q)[:1] for q in QUERIES} == {q: [name] for q, name in QUERIES.items()}


def test_translated_word_is_not_corrected() -> None:
    index = index_of(*ENTRIES)
    assert search_names(index, "bilder") == ["org.example/image"]


@pytest.mark.parametrize(("query", "is_found"), [("Slacku", True), ("slacku", False)])
def test_a_name_in_another_language_may_have_an_ending(query: str, is_found: bool) -> None:
    slack = [make_entry(f"org.example/slack-{n}", "Channels of Slack") for n in range(4)]
    index = index_of(*ENTRIES, *slack)
    names = search_names(index, f"faktury i bazy danych na {query}")
    assert any(name.startswith("org.example/slack") for name in names) == is_found


def test_a_long_word_of_another_language_may_be_an_english_one_with_another_ending() -> None:
    coins, lists = make_entry("org.example/coins", "Finds the hexagram"), make_entry("org.example/list", "Lists")
    index = index_of(*ENTRIES, coins, lists)
    assert "org.example/coins" in search_names(index, "encontrar el hexagrama de las facturas")
    assert "org.example/list" not in search_names(index, "encontrar el lizts de las facturas")


def test_the_rarest_translated_word_tells_the_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Conversions of files are not asked for beside braille, as in English."""
    monkeypatch.setattr(concepts, "TELLING", 4.0)
    files = (make_entry(f"org.example/{n}", "File conversion: converts PDF documents") for n in range(40))
    others = (make_entry(f"org.example/other-{n}", "Something else") for n in range(100))
    index = index_of(make_entry("org.example/dots", "Braille"), *files, *others)
    assert search_names(index, "점자 변환")[0] == "org.example/dots"
    assert "concept" not in explain(index, Query("점자 변환"))


def test_a_word_and_its_translation_count_once() -> None:
    index = index_of(*ENTRIES, make_entry("org.example/both", "Rechnung: an invoice"))
    (part,) = build_plan(parse("Rechnung schreiben"), index.snapshot.collection).parts[:1]
    assert part.alternatives
    assert [group.label for group in part.groups] == ["rechnung", "rechnung in English"]


def test_a_word_of_the_dictionary_has_the_vector_of_its_translation() -> None:
    index = index_of(*ENTRIES, make_entry("org.example/hive", "Feng shui and a compass"))
    plan = build_plan(parse("Kompass und Rechnung"), index.snapshot.collection)
    assert plan.vector == build_plan(parse("Rechnung compass"), index.snapshot.collection).vector is not None


def test_function_words_of_another_language_do_not_count() -> None:
    index = index_of(*ENTRIES, make_entry("org.example/uma", "uma meu minha"))
    assert search_names(index, "criar uma fatura")[0] == "org.example/billing"
    assert "org.example/uma" not in search_names(index, "criar uma fatura")


def test_first_search_loads_the_tables_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    index = ImpactIndex(offload := RecordingOffload())
    monkeypatch.setattr(cost, "_TABLES", (Lazy(list),))
    search_names(index, "mail")
    assert offload.functions == [cost.load_tables]
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


def test_country_of_the_language_breaks_ties() -> None:
    places = ("Japan", "Korea", "Russia", "Norway")
    index = index_of(*ENTRIES, *(make_entry(f"org.example/{place}", f"Stock prices of {place}") for place in places))
    queries = {"株価を調べる": "Japan", "주가": "Korea", "цена акций": "Russia"}
    assert {q: search_names(index, q)[0] for q in queries} == {
        q: f"org.example/{place}" for q, place in queries.items()
    }
    assert "country of the language ja" in explain(index, Query("株価を調べる"))
    assert "country" not in explain(index, Query("stock price"))


def test_misspelt_name_is_corrected_though_it_may_be_a_word_of_another_language() -> None:
    index = index_of(
        *ENTRIES,
        make_entry("org.example/exchange", "Trades on binance"),
        make_entry("org.example/house", "Construction of a building"),
    )
    assert "org.example/exchange" in search_names(index, "binanse")
    assert search_names(index, "binanse trades")[0] == "org.example/exchange"


def test_english_stem_of_a_foreign_word_does_not_count() -> None:
    index = index_of(
        *ENTRIES, make_entry("org.example/cv", "Writes a resume"), make_entry("org.example/sum", "A summary")
    )
    assert search_names(index, "résumer la météo") == ["org.example/sky", "org.example/sum"]


def test_foreign_word_weighs_no_more_than_its_translation() -> None:
    native, english = TermGroup("gui", {1: 1.0}, 6.0), TermGroup("gui in English", {2: 0.9}, 4.0)
    assert [group.idf for group in bounded([native], [english])] == [4.0]
    assert bounded([english], [native]) == [english]
    assert bounded([native], []) == [native]


def test_particles_do_not_count() -> None:
    index = index_of(
        *ENTRIES, make_entry("org.example/a", "これは何でもしたいもの"), make_entry("org.example/b", "请求的")
    )
    assert search_names(index, "請求書にしたい") == ["org.example/billing", "org.example/b"]
    assert search_names(index, "したい") == ["org.example/a"]


REQUESTS = {
    "전시 일정 알려줘": "전시 일정",
    "문서를 번역해 주세요": "문서를 번역",
    "날씨 보고 싶어요": "날씨 보고",
    "我想查一下快递": "查 快递",
    "請問怎麼翻譯文件": "翻译文件",
    "天气怎么样": "天气",
    "怎么样": "怎么样",
    "what to do": "what to do",
}


@pytest.mark.parametrize(("query", "rest"), REQUESTS.items())
def test_requests_without_spaces_are_ignored(query: str, rest: str) -> None:
    assert " ".join(part for word in parse(query).words for part in word.parts) == rest
