/* Feedback in the compiled module of the ranking: the terms that the first hits have in common. `ranking/feedback.py`
 * has it in Python. */

#ifndef DIRECTORY_SERVER_FEEDBACK_H
#define DIRECTORY_SERVER_FEEDBACK_H

#include "scores.h"

typedef struct {
    float score;
    int32_t id;
    Py_ssize_t segment;
} Hit;

static int is_before(const Hit *one, const Hit *other) {
    if (one->score != other->score)
        return one->score > other->score;
    return one->segment != other->segment ? one->segment < other->segment : one->id < other->id;
}

static int by_score(const void *one, const void *other) { return is_before(other, one) - is_before(one, other); }

/* Fill `hits` with the first documents in order. Returns their number. */
static size_t first_hits(const State *state, Hit *hits, size_t most) {
    size_t count = 0;
    for (Py_ssize_t s = 0; s < state->segments->count; s++) {
        const Matches *matches = MATCHES(state, s);
        for (size_t i = 0; i < matches->docs.count; i++) {
            float score = SCORES(matches)[i];
            if (score < 0 || (count == most && score < hits[count - 1].score))
                continue;
            Hit hit = {score, ITEM(matches->docs, Doc, i).id, s};
            if (count == most && !is_before(&hit, &hits[count - 1]))
                continue;
            size_t at = count < most ? count++ : count - 1;
            for (; at > 0 && is_before(&hit, &hits[at - 1]); at--)
                hits[at] = hits[at - 1];
            hits[at] = hit;
        }
    }
    return count;
}

/* How documents are expanded by what the first hits have in common: see the constants of `feedback.py`. */
typedef struct {
    Py_ssize_t hits, least_hits, least_frequency, terms, best, least_matches, letters;
    double share;
    PyObject *string; /* Returns the string of a number that is not in the table of the segments. */
} Feedback;

static int by_weight(const void *one, const void *other) {
    const Shared *a = one, *b = other;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return (a->term > b->term) - (a->term < b->term);
}

/* Add the terms of a hit to a table. Returns 0 or COLUMNS_DIFFER. */
static int add_terms(const Segment *segment, const Hit *hit, float share, Table *table) {
    int64_t first, last;
    int described;
    if (top_places(segment, hit->id, &first, &last, &described) < 0)
        return COLUMNS_DIFFER;
    for (int64_t i = first; i < last; i++) {
        int32_t term = segment->top_terms[i];
        float weight = (float)segment->top_impacts[i] * IMPACT_SCALE * share;
        uint32_t place = (uint32_t)term * 2654435761u % TABLE;
        /* There are fewer terms than places. */
        while (table->items[place].hits && table->items[place].term != term)
            place = (place + 1) % TABLE;
        Shared *each = &table->items[place];
        if (each->hits++ == 0) {
            table->used[table->count++] = (uint16_t)place;
            each->term = term;
            each->weight = 0;
        }
        each->weight += (double)weight;
    }
    return 0;
}

/* Return whether a string has enough letters of ASCII and nothing else; a negative status if it cannot be read. */
static int is_word(State *state, int64_t term, const Feedback *feedback) {
    const Strings *strings = &state->segments->strings;
    if (term < strings->count) {
        uint32_t at = strings->at[term], end = strings->at[term + 1];
        if (at > end || end > (size_t)strings->size)
            return NOT_WITHIN;
        if (end - at < (size_t)feedback->letters)
            return 0;
        for (; at < end; at++)
            if ((uint8_t)((strings->data[at] | 32) - 'a') >= 26)
                return 0;
        return 1;
    }
    hold(state);
    PyObject *string = PyObject_CallFunction(feedback->string, "L", (long long)term);
    Py_ssize_t length = string != NULL ? PyUnicode_GetLength(string) : -1;
    int is = length < 0 ? FAILED : length >= feedback->letters;
    for (Py_ssize_t i = 0; is > 0 && i < length; i++)
        is = (PyUnicode_ReadChar(string, i) | 32) - 'a' < 26;
    Py_XDECREF(string);
    return is;
}

/* Find the terms that some of the first hits share: the first words among them. Returns 0 or a negative status. */
static int share_terms(State *state, const Feedback *feedback, const Hit *hits) {
    const Segments *segments = state->segments;
    Table *table = &state->table;
    size_t count = 0;
    double sum = 0;
    int status = 0;
    for (Py_ssize_t i = 0; i < feedback->hits; i++)
        sum += hits[i].score;
    for (Py_ssize_t i = 0; i < feedback->hits && status == 0; i++)
        status = add_terms(&segments->items[hits[i].segment], &hits[i], hits[i].score / (float)sum, table);
    for (size_t i = 0; i < table->count; i++) {
        Shared *each = &table->items[table->used[i]];
        if (status == 0 && each->hits >= feedback->least_hits) {
            Py_ssize_t frequency = frequency_of(segments, each->term);
            if (frequency < 0) {
                status = OUT_OF_RANGE;
            } else if (frequency >= feedback->least_frequency) {
                each->weight *= idf_of(segments, frequency);
                table->found[count] = *each;
                count += each->weight > 0;
            }
        }
        each->hits = 0;
    }
    table->count = 0;
    qsort(table->found, count, sizeof(Shared), by_weight);
    state->feedback.count = 0;
    for (size_t i = 0; i < count && status == 0 && (Py_ssize_t)state->feedback.count < feedback->terms; i++) {
        int is = is_word(state, table->found[i].term, feedback);
        if (is > 0) {
            Term *term = push(&state->feedback, sizeof(Term));
            if (term == NULL)
                return NO_MEMORY;
            term->term = table->found[i].term;
            term->weight = table->found[i].weight;
        }
        status = is < 0 ? is : 0;
    }
    return status;
}

/* Add the postings of a term to `sums`, for the documents whose bit in `registered` is set. */
static int feed_registered(const Segment *segment, const Term *term, const uint8_t *registered, float *sums) {
    /* Most postings are of other documents. The bits fit in the fastest cache, the sums do not. */
    uint16_t kept[1024];
    Span span;
    float weight = (float)term->weight;
    if (span_of(segment, term->term, &span) < 0)
        return OUT_OF_RANGE;
    for (size_t from = 0, to; from < span.count; from = to) {
        size_t count = 0;
        uint32_t most = 0;
        to = from + 1024 < span.count ? from + 1024 : span.count;
        for (size_t at = from; at < to; at++)
            most = (uint32_t)span.ids[at] > most ? (uint32_t)span.ids[at] : most;
        if (most >= (uint64_t)segment->documents)
            return OUT_OF_RANGE;
        /* Without a branch, which could not be predicted. */
        for (size_t at = from; at < to; at++) {
            kept[count] = (uint16_t)(at - from);
            count += registered[span.ids[at] >> 3] >> (span.ids[at] & 7) & 1;
        }
        for (size_t i = 0; i < count; i++) {
            size_t at = from + kept[i];
            sums[span.ids[at]] += weight * ((float)span.impacts[at] * IMPACT_SCALE);
        }
    }
    return 0;
}

/* Add the postings of a term to `sums`, and each document whose sum was 0 to `touched`, which has room for it. */
static int feed_every(const Segment *segment, const Term *term, float *sums, Vector *touched) {
    Span span;
    float weight = (float)term->weight;
    if (span_of(segment, term->term, &span) < 0)
        return OUT_OF_RANGE;
    for (size_t at = 0; at < span.count; at++) {
        int32_t id = span.ids[at];
        if ((uint32_t)id >= (uint64_t)segment->documents)
            return OUT_OF_RANGE;
        ITEM(*touched, int32_t, touched->count) = id;
        touched->count += sums[id] == 0;
        sums[id] += weight * ((float)span.impacts[at] * IMPACT_SCALE);
    }
    return 0;
}

/* Note the sums of the terms for the documents with at least this score. */
static int feed_best(State *state, Py_ssize_t number, float least) {
    const Segment *segment = &state->segments->items[number];
    Matches *matches = MATCHES(state, number);
    uint8_t *registered = state->registered.items;
    float *sums = state->sums.items;
    int status = 0;
    for (size_t i = 0; i < matches->docs.count; i++) {
        int32_t id = ITEM(matches->docs, Doc, i).id;
        int is_best = SCORES(matches)[i] >= least;
        registered[id >> 3] |= (uint8_t)(is_best << (id & 7));
    }
    for (size_t t = 0; t < state->feedback.count && status == 0; t++)
        status = feed_registered(segment, &ITEM(state->feedback, Term, t), registered, sums);
    for (size_t i = 0; i < matches->docs.count; i++) {
        Doc *doc = &ITEM(matches->docs, Doc, i);
        registered[doc->id >> 3] = 0;
        if (sums[doc->id] > 0) {
            doc->group = sums[doc->id];
            doc->flags |= FED;
            sums[doc->id] = 0;
        }
    }
    return status;
}

/* Note the sums of the terms for all documents that have one. New documents are added. */
static int feed_all(State *state, Py_ssize_t number, size_t postings) {
    Work *work = &state->work;
    const Segment *segment = &state->segments->items[number];
    Matches *matches = MATCHES(state, number);
    float *sums = state->sums.items;
    Vector *touched = &state->items;
    work->docs = &matches->docs;
    work->documents = segment->documents;
    touched->count = 0;
    if (reserve(touched, postings + 1, sizeof(uint64_t)) < 0)
        return NO_MEMORY;
    for (size_t t = 0; t < state->feedback.count && work->status == 0; t++)
        work->status = feed_every(segment, &ITEM(state->feedback, Term, t), sums, touched);
    renew(&work->scratch);
    for (size_t i = 0; i < matches->docs.count; i++) {
        Cell *cell = &work->scratch.cells[ITEM(matches->docs, Doc, i).id];
        cell->stamp = work->scratch.stamp;
        cell->slot = (uint32_t)i;
    }
    for (size_t i = 0; i < touched->count && work->status == 0; i++) {
        int32_t id = ITEM(*touched, int32_t, i);
        Doc *doc = doc_of(work, id);
        /* A document with a sum of 0 may be there twice. */
        if (doc != NULL && !(doc->flags & FED)) {
            doc->group = sums[id];
            doc->flags |= FED;
            sums[id] = 0;
        }
    }
    return work->status;
}

/* Add the noted score of feedback to a document. */
static inline void apply(Doc *doc, float share, float *score, const Segment *segment, const Plan *plan) {
    if (doc->flags & FED) {
        doc->flags &= ~(uint32_t)FED;
        add_evidence(doc, doc->group * share, 0, 0);
        *score = score_of(doc, segment, plan);
    }
}

/* Add the noted scores of feedback to the documents of a segment. The most similar one of all has `most`. */
static int apply_all(State *state, Py_ssize_t number, float most, float share) {
    const Segment *segment = &state->segments->items[number];
    Matches *matches = MATCHES(state, number);
    Doc *docs = matches->docs.items;
    if (reserve(&matches->scores, matches->docs.count, sizeof(float)) < 0)
        return NO_MEMORY;
    float *scores = SCORES(matches);
    /* A name match is stronger evidence than similarity. */
    for (size_t i = 0; i < matches->named.count; i++) {
        uint32_t slot = ITEM(matches->named, uint32_t, i);
        docs[slot].flags |= FED;
        docs[slot].group = most;
    }
    for (size_t i = 0; i < matches->docs.count; i++)
        apply(&docs[i], share, &scores[i], segment, &state->plan);
    return 0;
}

/* Add the terms of feedback to the documents of all segments: the most similar one gets `max_score`.
 *
 * Only the `best` documents get a score, and those with a name that matches. With 0, all do, and others are added. */
static int add_feedback(State *state, double max_score, size_t best, size_t postings) {
    float most = 0, least = best ? least_of_best(state, best, INFINITY) : 0;
    size_t documents = (size_t)state->segments->most;
    if (least < 0 || reserve_zeros(&state->registered, documents / 8 + 1, 1) < 0 ||
        reserve_zeros(&state->sums, documents + 1, sizeof(float)) < 0)
        return NO_MEMORY;
    for (Py_ssize_t s = 0; s < state->segments->count; s++) {
        const Matches *matches = MATCHES(state, s);
        int status = best ? feed_best(state, s, least) : feed_all(state, s, postings);
        if (status < 0)
            return status;
        for (size_t i = 0; i < matches->docs.count; i++) {
            const Doc *doc = &ITEM(matches->docs, Doc, i);
            if (doc->flags & FED && doc->group > most)
                most = doc->group;
        }
    }
    float share = most > 0 ? (float)(max_score / (double)most) : 0.0f;
    for (Py_ssize_t s = 0; s < state->segments->count; s++)
        if (apply_all(state, s, most, share) < 0)
            return NO_MEMORY;
    return 0;
}

/* Expand the query by what the first of `count` documents have in common. Returns 0 or a negative status. */
static int expand(State *state, const Feedback *feedback, Py_ssize_t count) {
    Hit hits[MAX_HITS];
    if (first_hits(state, hits, (size_t)feedback->hits) < (size_t)feedback->hits)
        return 0;
    int status = share_terms(state, feedback, hits);
    if (status < 0 || state->feedback.count == 0)
        return status;
    int64_t postings = count_postings(state->segments, &state->feedback);
    if (postings < 0)
        return OUT_OF_RANGE;
    let_go(state, postings);
    size_t best = count >= feedback->least_matches ? (size_t)feedback->best : 0;
    return add_feedback(state, feedback->share * (double)hits[0].score, best, (size_t)postings);
}

#endif
