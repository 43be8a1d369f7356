"""The scores of a search equal those of a slow reference, which has a dict of every document and no segments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import log, sqrt
from random import Random

import numpy as np
import pytest
from attrs import frozen

from directory_server.domain.changes import Change
from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.domain.search import Position
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, TextAnalysis
from directory_server.search.index import arrays
from directory_server.search.index.bm25 import K1, NAME_BONUS
from directory_server.search.index.collection import Collection
from directory_server.search.index.document import WEIGHT
from directory_server.search.index.packing import unpack
from directory_server.search.query.concepts import ConceptEvidence
from directory_server.search.query.groups import TermGroup
from directory_server.search.query.parsing import parse
from directory_server.search.query.plan import Plan, build_plan
from directory_server.search.ranking import compiled, focus
from directory_server.search.ranking.coverage import COVERED, LOSS, MAX_RAISED, PRIOR_SHARE, RARE
from directory_server.search.ranking.feedback import FEEDBACK_HITS, FEEDBACK_SHARE, FEEDBACK_TERMS, MIN_FREQUENCY
from directory_server.search.ranking.scoring import (
    PINNED_SCORE,
    score_documents,
    top_documents,
)
from directory_server.search.text.analysis import stem

from . import using

Scores = dict[str, float]

WORDS = (
    *("mail", "letters", "weather", "forecast", "database", "github", "kubernetes", "deploys", "remote", "server"),
    *("reads", "邮件", "天气"),
)

QUERIES = (
    "mail", "weather forecast", "read letter", "mial", "databse quer", "gith", "server-1", "org.example/server-2",
    "do i need an umbrella", "邮件", "天气 mail", "remote -weather", '"reads mail"', "tag:blue", "official:false mail",
    "kubernetes deploys remote server", "-mail", "zzzz", "tag:red tag:blue weather", "serv",
)  # fmt: skip


@frozen
class Reference:
    """The impact of each term in each live entry, by name; the text for phrases; and the names of pinned entries.

    `described` has the terms of each description.
    """

    impacts: Mapping[str, Mapping[str, float]]
    phrases: Mapping[str, str]
    pinned: frozenset[str]
    priors: Mapping[str, float]
    described: Mapping[str, frozenset[str]]

    def group(self, group: TermGroup, collection: Collection) -> Scores:
        terms = {collection.vocabulary.string(term): weight for term, weight in group.terms.items()}
        found = {}
        for name, impacts in self.impacts.items():
            scores = [weight * group.idf * impacts[term] for term, weight in terms.items() if term in impacts]
            if scores and (len(scores) == len(terms) or not group.match_all):
                found[name] = min(scores) if group.match_all else max(scores)
        return found

    def concept(self, concept: ConceptEvidence, collection: Collection) -> Scores:
        scores = scaled(added(self.group(group, collection) for group in concept.terms), 1.0)
        return {name: sqrt(score) for name, score in scores.items()}

    def matches(self, name: str, plan: Plan, collection: Collection) -> bool:
        def has(term: int) -> bool:
            return collection.vocabulary.string(term) in self.impacts[name]

        return (
            all(term is not None and has(term) for term in plan.required)
            and not any(has(term) for term in plan.excluded)
            and all(phrase in self.phrases[name] for phrase in plan.phrases)
        )

    def totals(self, plan: Plan, collection: Collection, *more: Scores) -> Scores:
        """Return the scores of the evidence and of `more`: what covers little of the query loses some of them."""
        concepts = [(each, self.concept(each, collection)) for each in plan.concepts]
        parts = []
        for part in plan.parts:
            shares = [
                times(scores, share)
                for each, scores in concepts
                if (share := sum(each.shares.get(term, 0) for term in part.stems))
            ]
            groups = [self.group(group, collection) for group in part.groups]
            parts.append(added([*shares, *([best(groups)] if part.alternatives else groups)]))
        others = [self.group(group, collection) for group in plan.others]
        totals = added([*parts, *others, *(times(scores, each.context) for each, scores in concepts), *more])
        if len(parts) > 1:
            expanded = {stem for each in plan.concepts for stem in each.shares}
            limits = [COVERED * part.weight for part in plan.parts]
            rarities = [
                max(1.0, part.weight / RARE) ** (part.alternatives and not (part.is_corrected or part.stems & expanded))
                for part in plan.parts
            ]
            whole = sum(limit * rarity for limit, rarity in zip(limits, rarities, strict=True))
            for name in totals:
                every = zip(parts, limits, rarities, strict=True)
                covered = sum(min(part.get(name, 0), limit) * rarity for part, limit, rarity in every)
                totals[name] *= 1 - LOSS + LOSS * covered / whole
        return added([totals, *(self.group(group, collection) for group in (*plan.exact, *plan.names))])

    def scores(self, plan: Plan, collection: Collection) -> Scores:
        scores = self.matching(self.totals(plan, collection), plan, collection)
        named = {name for group in plan.names for name in self.group(group, collection)}
        if plan.allows_feedback and (more := self.feedback(scores, collection, named)):
            scores = self.matching(self.totals(plan, collection, more), plan, collection)
        if plan.allows_focus:
            scores = self.focused(scores, plan, collection)
        return {name: score + PINNED_SCORE * (name in self.pinned) for name, score in scores.items()}

    def focused(self, scores: Scores, plan: Plan, collection: Collection) -> Scores:
        """Return the scores, raised for the best documents by the part of their descriptions that the query has."""
        groups = [*(group for part in plan.parts for group in part.groups), *plan.others]
        groups += [group for concept in plan.concepts for group in concept.terms]
        asked = {collection.vocabulary.string(term) for group in groups for term in group.terms}
        least = (sorted(scores.values(), reverse=True)[focus.FOCUSED - 1 :] or [0.0])[0]
        # Scores differ in their last digits from those of the index.
        first = {name for name, score in scores.items() if score >= least - 1e-4}
        if len(first) > 2 * focus.FOCUSED:
            first = {name for name in first if scores[name] > least + 1e-4}
        found = dict(scores)
        for name in first:
            score, idfs = scores[name], {term: rarity(term, collection) for term in self.described[name]}
            if idfs:
                share = sum(idf for term, idf in idfs.items() if term in asked) / sum(idfs.values())
                found[name] += focus.FOCUS * sqrt(share) * score
        return found

    def matching(self, totals: Scores, plan: Plan, collection: Collection) -> Scores:
        """Return the scores with priors of the documents that match the filters."""
        if plan.filters_only:
            totals = dict.fromkeys(self.impacts, 1.0)
        return self.with_priors(
            {name: score for name, score in totals.items() if self.matches(name, plan, collection)}, plan
        )

    def with_priors(self, totals: Scores, plan: Plan) -> Scores:
        most = MAX_RAISED * plan.query_weight
        return {name: score + min(score, most) * PRIOR_SHARE * self.priors[name] for name, score in totals.items()}

    def feedback(self, scores: Scores, collection: Collection, named: set[str]) -> Scores:
        hits = sorted(scores.values(), reverse=True)[:FEEDBACK_HITS]
        if len(hits) < FEEDBACK_HITS:
            return {}
        first = [name for name, score in scores.items() if score >= hits[-1]]
        held = Counter(term for name in first for term in self.impacts[name])
        weights = {}
        for term, count in held.items():
            is_word = len(term) > 2 and term.isascii() and term.isalpha()
            if count > 1 and is_word and frequency_of(term, collection) >= MIN_FREQUENCY:
                share = sum(scores[name] / sum(hits) * self.impacts[name].get(term, 0) for name in first)
                weights[term] = share * rarity(term, collection)
        chosen = sorted(weights, key=lambda term: -weights[term])[:FEEDBACK_TERMS]
        totals = {
            name: total
            for name, impacts in self.impacts.items()
            if (total := sum(weights[term] * impacts.get(term, 0) for term in chosen))
        }
        most = max(totals.values(), default=0.0)
        return scaled(totals | dict.fromkeys(named, most), FEEDBACK_SHARE * hits[0])


def added(parts: Iterator[Scores] | Sequence[Scores]) -> Scores:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return dict(total)


def best(parts: Sequence[Scores]) -> Scores:
    return {name: max(part.get(name, 0.0) for part in parts) for name in {name for part in parts for name in part}}


def times(scores: Scores, factor: float) -> Scores:
    return {name: score * factor for name, score in scores.items() if factor}


def scaled(scores: Scores, most: float) -> Scores:
    return times(scores, most / max(scores.values())) if scores else {}


def frequency_of(term: str, collection: Collection) -> int:
    number = collection.vocabulary.find(term)
    return collection.document_frequency(number) if number is not None else 0


def rarity(term: str, collection: Collection) -> float:
    frequency = frequency_of(term, collection)
    return log(1 + (collection.size - frequency + 0.5) / (frequency + 0.5))


def described_in(change: Change) -> frozenset[str]:
    assert change.analysed is not None
    document = unpack(change.analysed)
    words = document.words.split()
    return frozenset(stem(words[position]) for position in document.described)


def impacts_of(change: Change) -> Mapping[str, float]:
    assert change.analysed is not None
    document = unpack(change.analysed)
    frequency: Counter[str] = Counter()
    named = set()
    weights = np.frombuffer(document.weights, WEIGHT).tolist()
    for position, (word, weight) in enumerate(zip(document.words.split(), weights, strict=True)):
        frequency[stem(word)] += weight
        if position < document.named:
            named.add(stem(word))
    impacts = {term: count / (count + K1) + NAME_BONUS * (term in named) for term, count in frequency.items()}
    return impacts | dict.fromkeys(document.special_terms, 1.0)


def changes_of(random: Random, seq: int) -> list[Change]:
    analysis, changes = TextAnalysis(), []
    for number in random.sample(range(40), random.choice([1, 3, 20])):
        words = random.choices(WORDS, k=random.choice([2, 5, 9])) if random.random() < 0.8 else ["reads mail", "remote"]
        publisher = {"tags": random.sample(["red", "blue"], 1), "stars": random.choice([0, 0, 500])}
        server = {"name": f"org.example/server-{number}", "version": "1", "description": " ".join(words)}
        entry = Entry({**server, "_meta": {PUBLISHER: publisher}})
        gone = random.random() < 0.2
        analysed = None if gone else analysis(entry)
        changes.append(Change(seq, "changed", entry.mcp_id, b"{}", analysed, pinned=random.random() < 0.05))
    return changes


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "kernel", dict.fromkeys([None, arrays.kernel]), ids=lambda kernel: "compiled" if kernel else "numpy"
)
def test_scores_are_those_of_the_reference(seed: int, kernel: object, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (focus, compiled):
        monkeypatch.setattr(module, "FOCUSED", (64, 5)[seed % 2])
    random = Random(seed)
    index = ImpactIndex(inline, sizes=(2, 6))
    current: dict[str, Change] = {}
    with using(arrays.kernel if kernel else None):
        for seq in range(random.choice([1, 4, 9])):
            changes = changes_of(random, seq)
            run_sync(index.apply(changes))
            current |= {change.mcp_id: change for change in changes}
        for keywords in QUERIES:
            check(index, [change for change in current.values() if change.analysed is not None], keywords)


def check(index: ImpactIndex, changes: Sequence[Change], keywords: str) -> None:
    collection, *_ = index._collection(index._snapshot)
    documents = {change: unpack(change.analysed) for change in changes if change.analysed is not None}
    names = {document.row.name: change for change, document in documents.items()}
    priors = {
        name: float(segment.priors[number])
        for name, change in names.items()
        for part, segment in zip(index._snapshot.parts, collection.segments, strict=True)
        if (number := segment.rows.find(change.mcp_id)) is not None and part.live[number]
    }
    pinned = frozenset(name for name, change in names.items() if change.pinned)
    phrases = {document.row.name: document.row.phrases for document in documents.values()}
    impacts = {name: impacts_of(change) for name, change in names.items()}
    described = {name: described_in(change) for name, change in names.items()}
    reference = Reference(impacts, phrases, pinned, priors, described)
    plan = build_plan(parse(keywords), collection)
    if plan.allows_feedback and has_equal_hits(reference, plan, collection):
        return
    expected = reference.scores(plan, collection)

    found: list[tuple[float, str]] = []
    after = None
    while True:
        ranked = ranked_by(index, plan, after)
        found += ranked
        if len(ranked) < 7:
            break
        after = Position(*ranked[-1])

    assert {name: score for score, name in found} == {
        name: pytest.approx(score, rel=1e-4, abs=1e-4) for name, score in expected.items()
    }
    assert found == sorted(found, key=lambda hit: (-hit[0], hit[1]))
    assert len(found) == len(expected)


def ranked_by(index: ImpactIndex, plan: Plan, after: Position | None) -> list[tuple[float, str]]:
    collection, live, pinned = index._collection(index._snapshot)
    scored = score_documents(plan, collection, live, pinned)
    ranked = top_documents(plan, collection.segments, scored, 7, after)
    return [(score, collection.segments[number].rows.name(doc_id)) for score, number, doc_id in ranked]


def has_equal_hits(reference: Reference, plan: Plan, collection: Collection) -> bool:
    """Return whether equal scores decide which hits feedback takes, as the order in the segments does."""
    scores = sorted(reference.with_priors(reference.totals(plan, collection), plan).values(), reverse=True)
    return len(scores) > FEEDBACK_HITS and scores[FEEDBACK_HITS - 1] - scores[FEEDBACK_HITS] < 1e-4
