"""Make the lexicon of the search: English expressions for words and names of other languages.

    python -m search_data.lexicon

It merges three tables of `sources/`: `senses.tsv` (words of the domain in the languages of queries), `names.tsv` (names
of services in other scripts), both written by hand, and `dictionary.npz`, which `search_data.dictionary` makes. Words
of the first two come before those of the dictionary. Run it after a change of one of them, and raise the number of the
index in `search/index/packing.py` if documents depend on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from attrs import define, field

from directory_server.search import tables
from directory_server.search.tables.languages import LANGUAGES, LEXICONS, NAMES, UNSPACED, forms_of, language_of_script
from directory_server.search.text import fold, is_unspaced

SOURCES = Path(__file__).parent / "sources"
OUTPUT = Path(tables.__file__).parents[1] / "data" / "lexicon.npz"

MAX_ENGLISH, KEY_BYTES, ENGLISH_BYTES = 8, 32, 24
"""English expressions of a key, bytes of the longest key, and of the longest English expression."""

UNKNOWN_RARITY, MAX_SURE_RARITY = 255, 40
"""Ten times the rarity of a word that no dictionary has, and at most of a word of the domain."""

_WORD = re.compile(r"[^\s,./+'’-]+")
_LATIN = "abcdefghijklmnopqrstuvwxyz0123456789"


@define
class Row:
    """What the lexicon has for a key: expressions of the domain, others, and ten times the rarity."""

    sure: dict[str, None] = field(factory=dict)
    others: dict[str, None] = field(factory=dict)
    rarity: int = UNKNOWN_RARITY

    @property
    def english(self) -> list[str]:
        """The expressions, the best first."""
        return [*dict.fromkeys([*self.sure, *self.others])][:MAX_ENGLISH]


def main() -> None:
    """Merge the tables and write the lexicon."""
    rows = dict[str, Row]()
    read_dictionary(rows)
    firsts: list[tuple[str, list[str]]] = []
    for key, english in written_rows():
        rows.setdefault(key, Row()).sure[english[0]] = None
        firsts.append((key, english))
    # The best expression of each sense comes before further ones of any.
    for key, english in firsts:
        rows[key].sure |= dict.fromkeys(english)
    write(rows)


def read_dictionary(rows: dict[str, Row]) -> None:
    """Add the rows of the dictionary to `rows`."""
    with np.load(SOURCES / "dictionary.npz") as file:
        keys, numbers, english, rarities = (file[name] for name in ("keys", "numbers", "english", "rarities"))
    for key, of_key, rarity in zip(keys.tolist(), numbers.tolist(), rarities.tolist(), strict=True):
        words = [english[number].decode() for number in of_key if number >= 0]
        rows[key.decode()] = Row(others=dict.fromkeys(words), rarity=rarity)


def written_rows() -> Iterator[tuple[str, list[str]]]:
    """Yield the key of each form of an expression of the tables written by hand, and its English expressions."""
    header, *senses = _cells("senses.tsv")
    cells = [(row[0], [*zip(header[1:], row[1:], strict=True)]) for row in senses]
    cells += [(latin, [(NAMES, others)]) for latin, others in _cells("names.tsv")]
    for english, columns in cells:
        expressions = [" ".join(_WORD.findall(expression)) for expression in english.split(",")]
        for language, cell in columns:
            for written in filter(None, cell.split(",")):
                yield from ((key, expressions) for key in keys_of(language, written))


def keys_of(language: str, written: str) -> Iterator[str]:
    """Yield the keys of an expression of a language."""
    parts = _WORD.findall(written)
    if is_unspaced(written.lstrip(_LATIN)):
        yield f"{UNSPACED} {''.join(parts)}"
        return
    its = language_of_script(parts[0]) or (language if language in LANGUAGES else LEXICONS.get(language, NAMES))
    forms = [forms_of(its, part) for part in parts]
    for number in range(max(map(len, forms))):
        yield f"{its} {' '.join(of_part[min(number, len(of_part) - 1)] for of_part in forms)}"


def write(rows: Mapping[str, Row]) -> None:
    """Write the lexicon, and print its size."""
    kept = sorted((key.encode(), row) for key, row in rows.items() if len(key.encode()) <= KEY_BYTES)
    english = sorted({text.encode() for _, row in kept for text in row.english if len(text.encode()) <= ENGLISH_BYTES})
    places = {text.decode(): place for place, text in enumerate(english)}
    numbers = [[places[text] for text in row.english if text in places] for _, row in kept]
    np.savez_compressed(
        OUTPUT,
        keys=np.array([key for key, _ in kept]),
        counts=np.array([len(of_key) for of_key in numbers], np.uint8),
        numbers=np.array([number for of_key in numbers for number in of_key], np.int32),
        rarities=np.array([min(row.rarity, MAX_SURE_RARITY) if row.sure else row.rarity for _, row in kept], np.uint8),
        sure=np.array([bool(row.sure) for _, row in kept]),
        english=np.array(english),
    )
    print(f"{len(kept):,} keys, {len(english):,} English expressions, {OUTPUT.stat().st_size:,} bytes in {OUTPUT}")


def _cells(name: str) -> list[list[str]]:
    """Return the cells of the rows of a table, folded."""
    text = fold((SOURCES / name).read_text("utf-8")).casefold()
    return [line.split("\t") for line in text.splitlines()]


if __name__ == "__main__":
    main()
