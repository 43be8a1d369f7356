"""The tables of the search: words of other languages, concepts, conditions, word vectors and function words."""
