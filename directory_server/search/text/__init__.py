"""Text analysis: tokens, stems, pinyin, transliteration, the thesaurus and the lexicon of other languages."""
