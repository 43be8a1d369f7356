"""Names with symbols, such as "C#" and "A/B"."""

from __future__ import annotations

import pytest

from tests.contract.index import make_entry

from . import index_of, search_names

OTHERS = [
    *(make_entry(f"org.example/letters-{n}", f"Vitamin C, plan B, p, l, n and a net {n}") for n in range(8)),
    *(make_entry(f"org.example/{n}", "Something else") for n in range(40)),
]


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
    }.items(),
)
def test_symbols_are_part_of_a_name(text: str, queries: list[str]) -> None:
    index = index_of(make_entry("org.example/wanted", text), *OTHERS)
    assert [query for query in queries if search_names(index, query) != ["org.example/wanted"]] == []


def test_name_after_a_dot_is_one_word_if_entries_have_it() -> None:
    wanted = [make_entry(f"org.example/wanted-{n}", f"Assemblies of .NET {n}") for n in range(4)]
    index = index_of(*wanted, *OTHERS)
    assert {name.partition("-")[0] for name in search_names(index, ".NET")} == {"org.example/wanted"}
    index = index_of(*wanted[1:], *OTHERS)
    assert len(search_names(index, ".NET")) == len(wanted[1:]) + 8


def test_name_with_a_symbol_may_be_unfinished() -> None:
    index = index_of(make_entry("org.example/csharptooling", "Analyses programs"), *OTHERS)
    assert search_names(index, "c#") == ["org.example/csharptooling"]
    assert search_names(index, "c# ") == []
