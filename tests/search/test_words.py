"""Words of a query, and what stands for them: completions, corrections, compounds, names in camelCase, weights."""

from __future__ import annotations

import pytest

from directory_server.domain.entries import Entry
from directory_server.search import ImpactIndex
from directory_server.search.query import rows
from directory_server.search.tables.stop_words import GENERAL_STEMS, GENERAL_WORDS, STOP_WORDS
from directory_server.search.text import stem
from tests.contract.index import make_entry

from . import OTHERS, index_of, plan_of, search_names, terms_of, word_of

MAIL = [make_entry(f"org.example/box-{number}", f"Calendars and meetings of office {number}") for number in range(9)]
LIVE = [make_entry(f"io.github.a{number}/music-{number}", "Controls Ableton Live") for number in range(6)]


@pytest.fixture
def large_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let words of a few documents be as rare as in a large collection."""
    monkeypatch.setattr(rows, "KNOWN_OF", 1)


@pytest.fixture(scope="module")
def office() -> ImpactIndex:
    return index_of(*MAIL, make_entry("org.example/x", "Counts foxes by carriage"), *OTHERS)


@pytest.mark.parametrize(
    ("keywords", "word", "terms"),
    [
        ("calendar meetings", "calendar", {"calendar"}),
        # One edit, two, and two swapped letters.
        ("kalendars meetings", "kalendars", {"calendar"}),
        ("meetnigs calendar", "meetnigs", {"meet"}),
        ("callendrs meetings", "callendrs", {"calendar"}),
        # The last word may be a beginning, unless something follows.
        ("meetings calen", "calen", {"calendar"}),
        ("meetings carr", "carr", {"carriag"}),
    ],
)
def test_words_are_searched_by_terms(office: ImpactIndex, keywords: str, word: str, terms: set[str]) -> None:
    assert terms_of(office, keywords, word) == terms


@pytest.mark.parametrize("keywords", ["calen meetings", "calen ", "xyzzyq", "12345", "c"])
def test_words_that_are_finished_short_or_far_from_all_others_have_no_terms(office: ImpactIndex, keywords: str) -> None:
    assert [word.text for word in plan_of(office, keywords).words if word.text != "meetings"] == []


def test_a_known_word_is_not_corrected() -> None:
    index = index_of(*(make_entry(f"org.example/{name}") for name in ("mails", "mains", "rails")))
    assert search_names(index, "mails") == ["org.example/mails"]
    assert search_names(index, "maims")[:2] == ["org.example/mails", "org.example/mains"]


@pytest.mark.usefixtures("large_collection")
def test_a_rare_word_may_be_misspelt_and_counts_more_than_its_corrections() -> None:
    servers = [make_entry(f"org.example/{number}", "A server of meetinks") for number in range(20)]
    word = word_of(index_of(make_entry("org.example/x", "Counts servir"), *servers), "servir meetinks", "servir")
    assert [row[0] for row in word.rows] == ["servir", "server"]
    assert word.idf == word.rows[0][3] > 2 * word.rows[1][3]


@pytest.mark.usefixtures("large_collection")
def test_a_rare_word_of_the_table_of_vectors_is_no_misspelling() -> None:
    boxes = [make_entry(f"org.example/{number}", "Sells boxes") for number in range(20)]
    assert terms_of(index_of(make_entry("org.example/foxes", "Counts foxes"), *boxes), "foxes", "foxes") == {"fox"}


def test_a_word_of_five_letters_has_one_edit() -> None:
    index = index_of(make_entry("org.example/files", "Reads files"), *OTHERS)
    assert search_names(index, "tides ") == []
    assert search_names(index, "filse ") == ["org.example/files"]


def test_the_correction_of_an_english_word_is_uncertain(office: ImpactIndex) -> None:
    assert not word_of(office, "carriages foxen", "carriages").is_corrected
    assert word_of(office, "meetings kalendars", "kalendars").is_certain
    assert not word_of(office, "meetings calender", "calender").is_certain


def test_a_query_of_mostly_unknown_words_is_not_corrected(office: ImpactIndex) -> None:
    unknown = " ".join(f"unknown{letter}" for letter in "abcdefgh")
    assert [word.text for word in plan_of(office, f"meetings kalendars {unknown}").words] == ["meetings"]


def test_corrections_and_completions_are_bounded() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = " ".join(f"zeppelin{one}{other}" for one in letters for other in letters)
    index = index_of(make_entry("org.example/words", words[:4_000]), *MAIL)
    assert len(terms_of(index, "zeppel", "zeppel")) == 24
    assert len(terms_of(index, "zeppelin12 ", "zeppelin12")) == 12
    misspelt = "kalendars oficce calandars offfice calenders offise "
    assert len(plan_of(index, misspelt).words) == 4


def test_a_known_word_is_not_as_common_as_its_completions() -> None:
    rides = [make_entry(f"org.example/ride-{n}", f"Routes of a bus in city {n} and other things") for n in range(24)]
    business = [make_entry(f"org.example/business-{n}", "Business business business") for n in range(300)]
    names = search_names(index_of(*rides, *business), "bus", 10)
    assert {name.partition("-")[0] for name in names} == {"org.example/ride"}


@pytest.mark.parametrize(
    ("keywords", "names"),
    [
        ("homeserverbox", ["org.example/homeserver"]),
        ("smallhomeserver", ["org.example/homeserver"]),
        ("homeserverinacupboard", []),
        ("群岛", []),
        ("parcels", []),
        ("homeserverbox tag:none", []),
        ("zzzqqq xxyyzz blorptang", []),
    ],
)
def test_a_part_of_a_word_matches_when_nothing_else_does(keywords: str, names: list[str]) -> None:
    index = index_of(make_entry("org.example/homeserver", "Runs it"), make_entry("org.example/zh", "管理集群"))
    assert search_names(index, keywords) == names


@pytest.mark.parametrize("keywords", ["abletonlive", "abletonlive music"])
def test_joined_words_find_entries_that_separate_them(keywords: str) -> None:
    joined = make_entry("org.example/joined", "Controls abletonlive")
    index = index_of(*LIVE, make_entry("org.example/other", "Ableton and more"), *OTHERS)
    assert set(search_names(index, keywords)[:6]) == {entry.name for entry in LIVE}
    assert "ableton live" in terms_of(index, keywords, "abletonlive")
    many = index_of(*LIVE, joined, *OTHERS)
    assert "org.example/joined" in search_names(many, keywords)


def test_words_that_are_together_by_chance_are_no_compound() -> None:
    entries = [make_entry(f"org.example/x{n}", "Content" if n % 2 else "Full") for n in range(40)]
    index = index_of(*entries, make_entry("org.example/y", "Full content"), *OTHERS)
    assert all(row[0] == row[1] for word in plan_of(index, "contentfull").words for row in word.rows)


def test_words_written_as_one_cover_both() -> None:
    index = index_of(
        make_entry("org.example/rise", "Sunrise at any place and time"),
        make_entry("org.example/sun", "Sun, sun and sun"),
        make_entry("org.example/time", "Time of a rise, at any place"),
        *(make_entry(f"org.example/{n}", "Something else, at a place") for n in range(40)),
    )
    assert search_names(index, "sun rise")[0] == "org.example/rise"
    assert "sunris" in terms_of(index, "sun rise", "sun") & terms_of(index, "sun rise", "rise")


def test_names_of_conversions_are_joined() -> None:
    index = index_of(make_entry("org.example/md2pdf", "Documents"), make_entry("org.example/pdf", "Of md"), *OTHERS)
    assert "md2pdf" in terms_of(index, "md to pdf", "pdf")


def test_function_words_are_not_joined_with_their_neighbours() -> None:
    index = index_of(
        make_entry("org.example/x", "Aboutmail does it"), make_entry("org.example/y", "Sends mailbox contents")
    )
    assert search_names(index, "about mail box") == ["org.example/y"]


WHOLE = [make_entry(f"org.example/whole-{n}", f"Runs TypeScript programs {n}") for n in range(4)]
HALVES = [make_entry(f"org.example/halves-{n}", f"Type a script {n}") for n in range(4)]


@pytest.mark.parametrize(
    ("entries", "keywords", "parts"),
    [
        ([*WHOLE, *HALVES], "TypeScript programs", ["typescript", "programs"]),
        ([*WHOLE[1:], *HALVES], "TypeScript programs", ["type", "script", "programs"]),
        ([make_entry("x/ksef", "Sends to KSeF"), make_entry("x/k", "F key, se")], "invoices KSeF", ["ksef"]),
        ([make_entry("x/a", "By PagBank"), make_entry("x/b", "A bank")], "charges PagBank", ["pagbank"]),
        (WHOLE, "TypeScript-linter", ["typescript"]),
    ],
)  # fmt: skip
def test_names_in_camel_case_are_one_word_where_entries_have_them(
    entries: list[Entry], keywords: str, parts: list[str]
) -> None:
    index = index_of(*entries, *OTHERS)
    assert [word.text for word in plan_of(index, keywords).words if word.rows] == parts


LETTERS = [make_entry(f"org.example/{n}", f"Vitamin C, plan B, p, l, n, a net, 1, 2 and 10 {n}") for n in range(8)]


@pytest.mark.parametrize(
    ("text", "queries"),
    {
        "Analyses C# programs": ["C#", "c# programs", "csharp"],
        "Compiles C++": ["C++", "c++ compiler", "cpp"],
        "Edits with Notepad++": ["Notepad++", "notepadpp"],
        "Statements of P&L": ["P&L", "p&l statement", "pnl"],
        "The pnl of an account": ["P&L", "P&L report"],
        "Runs A/B tests": ["A/B", "a/b testing", "AB tests"],
        "Techniques of MITRE ATT&CK": ["ATT&CK", "attck techniques"],
        "Assemblies of .NET": [".NET", ".net assemblies", "dotnet"],
        "Scans 10.0.0.0/8": ["10.0.0.0/8", "scan 10.0.0.0/8"],
        "Speaks MQTT v5.0.1": ["v5.0.1", "mqtt v5.0.1"],
    }.items(),
)
def test_symbols_addresses_and_versions_are_part_of_a_name(text: str, queries: list[str]) -> None:
    index = index_of(make_entry("org.example/wanted", text), *LETTERS, *OTHERS)
    assert [query for query in queries if search_names(index, query) != ["org.example/wanted"]] == []


def test_a_name_with_a_symbol_may_be_unfinished() -> None:
    index = index_of(make_entry("org.example/csharptooling", "Analyses programs"), *OTHERS)
    assert search_names(index, "c#") == ["org.example/csharptooling"]
    assert search_names(index, "c# ") == []


def test_words_of_a_request_are_ignored() -> None:
    index = index_of(
        make_entry("org.example/mail", "Sends mail"),
        make_entry("org.example/someone", "Someone needs something because everything was wanted, s or l"),
        *OTHERS,
    )
    for query in ("I need something because someone wanted mail", "show me everything about mail's", "l'mail"):
        assert search_names(index, query) == ["org.example/mail"]
    assert "org.example/someone" in search_names(index, "someone")


MEDICINES = [
    make_entry("org.example/pharmacy", "Looks up medicines"),
    make_entry("org.example/crowd", "Brings teams together"),
    *(make_entry(f"org.example/{number}", "Medicines of a shop, number by number") for number in range(9)),
    *(make_entry(f"org.example/other-{number}", "Something else, of notes") for number in range(20)),
]


@pytest.mark.parametrize(
    ("keywords", "weights"),
    [
        ("together medicines", [0.5, 1]),
        ("together", [1]),
        ("medicines of a Pharmacy", [1, 1.4]),
        ("Medicines of a pharmacy", [1, 1]),
    ],
)
def test_words_weigh_less_if_general_and_more_with_capitals(keywords: str, weights: list[float]) -> None:
    assert [word.weight for word in plan_of(index_of(*MEDICINES), keywords).words] == weights


def test_a_general_word_does_not_decide_and_is_not_corrected() -> None:
    index = index_of(*MEDICINES, make_entry("org.example/x", "Tokens"))
    assert search_names(index, "medicines that are taken together")[0] == "org.example/pharmacy"
    assert [word.text for word in plan_of(index, "medicines taken").words] == ["medicines"]


def test_general_words_are_no_stop_words_and_no_topics() -> None:
    topics = "word words person order open run view list place course care case business container reason specification"
    assert not GENERAL_WORDS & STOP_WORDS
    assert not GENERAL_STEMS & {stem(word) for word in topics.split()}
