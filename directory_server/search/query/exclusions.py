"""Stop words, and what a search excludes in words: "stock prices but no crypto", "calendar, not Google"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..index.collection import Collection
from ..text.analysis import COMMON_PARTS, Word, stem

_BEFORE = (
    ("but", "no"), ("but", "not"), ("and", "not"), ("except",), ("except", "for"), ("excluding",), ("other", "than"),
    ("instead", "of"), ("rather", "than"), ("apart", "from"),
    ("aber", "kein"), ("aber", "keine"), ("aber", "nicht"), ("ausser",), ("sauf",), ("mais", "pas"), ("excepto",),
    ("pero", "no"), ("exceto",), ("mas", "nao"), ("maar", "geen"), ("maar", "niet"), ("behalve",),
    ("але", "не"), ("крім",), ("окрім",), ("но", "не"), ("кроме",), ("ma", "non"), ("tranne",), ("ale", "nie"),
    ("oprocz",),
)  # fmt: skip
"""Words before what is excluded: English; German, French, Spanish, Portuguese; Dutch, Ukrainian, Russian, Italian,
Polish."""

_BEFORE_NAMES = "not"
"""A word that excludes names only: "not working" and "not found" are topics."""

_BOTH = (("only",), ("just",))
"""Words after a negation that excludes nothing: "not only Gmail"."""

_OR = "or"
"""A word between two that are excluded."""

MIN_NAMED = 0.25
"""The share of the entries with a word that have it in their names, from which it may be a name."""


def without_exclusions(query: Sequence[Word], collection: Collection) -> Sequence[Word]:
    """Return the words of a query without those that it excludes, if it has others.

    Entries with such a word are still found: many say that they can do both.
    """
    if not any(word.parts[0] in _STARTS for word in query):
        return query
    kept: list[Word] = []
    place = 0
    while place < len(query):
        end = _excluded(query, place, collection)
        if end == place:
            kept.append(query[place])
            end += 1
        place = end
    has_topic = any(part not in STOP_WORDS for word in kept for part in word.parts)
    return kept if has_topic else query


_STARTS = {words[0] for words in (*_BEFORE, (_BEFORE_NAMES,))}
_LONGEST_FIRST = sorted(_BEFORE, key=len, reverse=True)


def _excluded(query: Sequence[Word], place: int, collection: Collection) -> int:
    """Return the end of the words that exclude something, and of what they exclude, or `place` if there are none."""
    parts = [word.parts[0] if len(word.parts) == 1 else "" for word in query[place : place + 2]]
    before = next((words for words in _LONGEST_FIRST if tuple(parts[: len(words)]) == words), None)
    if before is None and parts[0] != _BEFORE_NAMES:
        return place
    end = place + (len(before) if before else 1)
    if end < len(query) and query[end].parts in _BOTH:
        return place
    while end < len(query) and FUNCTION_WORDS.issuperset(query[end].parts):
        end += 1
    if end == len(query) or not (before or _is_name(query[end], collection)):
        return place
    end += 1
    if end + 1 < len(query) and query[end].parts == (_OR,) and FUNCTION_WORDS.isdisjoint(query[end + 1].parts):
        end += 2
    return end


def _is_name(word: Word, collection: Collection) -> bool:
    terms = [term for part in word.parts if (term := collection.word(part)[0]) is not None]
    return bool(terms) and collection.name_ratio(terms, [1.0] * len(terms)) >= MIN_NAMED


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

UNSEGMENTED_REQUESTS = re.compile(
    # Korean: "show me", "please do", "I want to", "how to", "is there".
    "(?:알려|보여|찾아|가르쳐) ?(?:줘요?|주세요|줄래요?|달라고?|주라)"
    "|(?:(?<=[가-힣])해 ?)?(?:줘요?|주세요|줄래요?)(?![가-힣])"
    "|(?:하고 ?)?싶(?:어요?|다|습니다|은데요?)|하는 ?(?:방법|법)(?![가-힣])|어떻게|부탁(?:해요?|드려요|드립니다)"
    "|(?:있나요|있을까요?|인가요|뭐야|뭔가요|무엇인가요)(?![가-힣])"
    # Chinese: "excuse me", "I want to", "how", "is there", "tell me".
    "|请问|我想要?|想要|给我|怎么样?|如何|怎样|有没有|能不能|可不可以|一下|告诉我"
)
"""Requests in scripts without spaces: folded text that says nothing about servers."""

_GENERAL = """
able absolutely according accordingly across actual actually additional afford again ago ahead alike allow allowed
allows almost alone along already alright although altogether always among amount another answer answers anybody
anyhow anymore anyone anyway anywhere apart appear appearing appears approach around ask asked asking asks aspect
assume attempt avoid aware away bad badly became become becomes begin beginning begins begun behave behind believe
belong belongs beside besides better beyond big bigger both bother bring brings brought came capable carry cause
causes certain certainly chance choose chose chosen clear clearly close come comes coming common complete completely
concern concerned concerning concerns confused consider consists constantly convenient correct correctly couple
currently dear decide decided deeply definitely despite detail detailed details determine different differently
difficult discover easier easiest easily easy effort either else elsewhere enable enables enough ensure entire
entirely especially even eventually ever every everybody everyone everywhere exact exactly except exist existing
exists expect expected explain extra fairly familiar far fast faster favorite favourite feel few fewer final finally
fine finish finished first five follow followed following follows former forth forward four frequently friend friends
fully further gave general generally give given gives giving glad got gotten great greatly guess guy half handle
handles handling happen happened happening happens happy hard hardly having hear heard hears hence hope hopefully
however huge hundred idea ideal immediately include included includes including indeed instead involve involves keep
keeping keeps kept kind kinds knew knowing known knows lack large larger last lately later latest least less lets
likely little long longer looked looking looks lot lots low made main mainly make makes making man manner many matter
maybe mean meaning means meant meanwhile merely moment month months mostly much must myself near nearby nearly
necessary neither never nevertheless new newly next nice night nobody none normal normally nothing notice nowadays
nowhere obvious obviously occasionally occur often okay old one ones onto opinion opposite otherwise ought overall own
owner part partially particular particularly past people per perfect perfectly perhaps pick piece pieces plenty plus
possible possibly practical prefer preferably preferred prepare prepared preparing pretty previous previously probably
problem problems proper properly provide provided provides providing purpose put puts putting quick quickly quite
rarely rather ready really recent recently regard regarding regardless relevant rely remain remaining requested right
roughly said sake same say saying says second see seeing seek seem seems seen serious several shall short simple
simply since situation six slow slowly small smaller somebody somehow someone somewhat somewhere soon sorry sort start
started starting starts still straight stuff such sudden suddenly sufficient suggest suitable suppose supposed sure
surely take taken takes taking talk tell ten thank thanks thing things third thought three throughout thus till
together told tomorrow tonight took toward towards trouble true truly try trying turn turned turns twice two type
types typical typically unable unfortunately unless unlike unlikely until upcoming upon usable useful useless usual
usually various vary versus via wait waiting wanted wants way ways week weeks well whatever whenever whereas wherever
whether whichever whoever whole whom whose wide widely willing wish woman wonder wonderful wondering work worked
working works worry worse worst worth wrong yes yesterday yet
"""
"""Words of English sentences on any topic: adverbs, general verbs, nouns and adjectives. Written for this project."""

GENERAL_WORDS = frozenset(_GENERAL.split()) - STOP_WORDS
"""Words that weigh less beside others, and are not misspelt.

Entries of servers are short, so that words such as "together" and "appear" are rare in them, and not because they tell
much.
"""

GENERAL_STEMS = frozenset(map(stem, GENERAL_WORDS))
"""Their stems."""
