"""Text analysis: tokens, stems, pinyin and the thesaurus."""
