"""Stop words: words of a query that say nothing about servers."""

from __future__ import annotations

from ..text.analysis import COMMON_PARTS

_ENGLISH = """
a about above after again against all am an and any are as at be because been before being below between both but by
can cannot could do does doing down during each few for from further had has have having he her here hers herself
him himself his how i if im in into is it its itself me more most my myself no nor not of on once only or other ought
our ours ourselves out over own same she should so some such than that the their theirs them themselves then there
these they this those through to too under until up very was we were what when where which while who whom why will
with would you your yours yourself yourselves
"""
"""Function words: the English stop list of Snowball (snowballstem.org, BSD licence), without contractions."""

_REQUESTS = """
also anything best everything find finds found get gets getting give gives good help helps just know knows let lets
like look looking may might must need needs one ones please shall show shows somebody someone something tell tells
tool tools us use used user users using want wanted wants whether without
"""
"""Words by which a request begins, and for those who make it."""

_FOREIGN = """
au aux avec dans de des du en est et la le les mes mon pour sur un une
auf das dem den der die ein eine fur ich im ist mein meine meinen mit und von wann wie zu zum zur
como con de del el en es la las los mi mis para por que un una y
com da do dos em meu meus minha na no o os para por que um uma
"""
"""Frequent function words in French, German, Spanish and Portuguese."""

FUNCTION_WORDS = frozenset(f"{_ENGLISH} {_REQUESTS} {_FOREIGN}".split())

STOP_WORDS = COMMON_PARTS | FUNCTION_WORDS
"""Words that are ignored if the query has others."""
