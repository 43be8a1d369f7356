/* Feedback: the query is expanded by the terms that the first hits have in common. */

#include "engine.h"

static int by_weight(const void *one, const void *other) {
    const Shared *a = one, *b = other;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return (a->term > b->term) - (a->term < b->term);
}

/* Add the terms of a hit to a table. Returns 0 or COLUMNS_DIFFER. */
static int add_terms(const Segment *segment, const Hit *hit, float share, const Vector *table) {
    int64_t first, last;
    int described;
    if (top_places(segment, hit->id, &first, &last, &described) < 0)
        return COLUMNS_DIFFER;
    for (int64_t i = first; i < last; i++) {
        Shared *shared = place_of(table, segment->top_terms[i]);
        shared->term = segment->top_terms[i];
        shared->hits++;
        shared->weight += (double)((float)segment->top_impacts[i] * IMPACT_SCALE * share);
    }
    return 0;
}

static int is_letter(uint32_t character) { return (character | 32) - 'a' < 26; }

/* Return whether a string has enough letters of ASCII and nothing else; a negative status if it cannot be read. */
static int is_word(State *state, int64_t term, const Feedback *feedback) {
    const Strings *strings = &state->segments->strings;
    if (term < strings->count) {
        uint32_t at = strings->at[term], end = strings->at[term + 1];
        if (at > end || end > (size_t)strings->size)
            return NOT_WITHIN;
        if (end - at < (size_t)feedback->min_letters)
            return 0;
        while (at < end && is_letter((uint8_t)strings->data[at]))
            at++;
        return at == end;
    }
    hold(state);
    PyObject *string = PyObject_CallFunction(feedback->string, "L", (long long)term);
    Py_ssize_t length = string != NULL ? PyUnicode_GetLength(string) : -1;
    int is = length < 0 ? FAILED : length >= feedback->min_letters;
    for (Py_ssize_t i = 0; is > 0 && i < length; i++)
        is = is_letter(PyUnicode_ReadChar(string, i));
    Py_XDECREF(string);
    return is;
}

/* Keep the terms of a table that enough hits and documents have, with their weights; the first of them are returned in
 * their order. Returns their number, or a negative status. */
static Py_ssize_t weigh_terms(const Segments *segments, const Feedback *feedback, Vector *table) {
    Shared *terms = table->items;
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (terms[i].hits == 0 || terms[i].hits < feedback->min_hits)
            continue;
        Py_ssize_t frequency = frequency_of(segments, terms[i].term);
        if (frequency < 0)
            return OUT_OF_RANGE;
        if (frequency < feedback->min_frequency)
            continue;
        Shared term = terms[i];
        term.weight *= idf_of(segments, frequency);
        terms[count] = term;
        count += term.weight > 0;
    }
    qsort(terms, count, sizeof(Shared), by_weight);
    return (Py_ssize_t)count;
}

/* Find the terms that some of the first hits share: the first words among them. Returns 0 or a negative status. */
static int share_terms(State *state, const Feedback *feedback) {
    const Segments *segments = state->segments;
    const Hit *hits = state->hits.items;
    double sum = 0;
    int status = clear_table(&state->table, (size_t)feedback->hits * MAX_TERMS) < 0 ? NO_MEMORY : 0;
    for (Py_ssize_t i = 0; i < feedback->hits; i++)
        sum += hits[i].score;
    for (Py_ssize_t i = 0; i < feedback->hits && status == 0; i++)
        status = add_terms(&segments->items[hits[i].segment], &hits[i], hits[i].score / (float)sum, &state->table);
    Py_ssize_t count = status < 0 ? status : weigh_terms(segments, feedback, &state->table);
    state->feedback.count = 0;
    for (Py_ssize_t i = 0; i < count && (Py_ssize_t)state->feedback.count < feedback->terms; i++) {
        const Shared *shared = &ITEM(state->table, Shared, i);
        int is = is_word(state, shared->term, feedback);
        if (is < 0)
            return is;
        if (is && reserve(&state->feedback, state->feedback.count + 1, sizeof(Shared)) < 0)
            return NO_MEMORY;
        if (is)
            ITEM(state->feedback, Shared, state->feedback.count++) = *shared;
    }
    return count < 0 ? (int)count : 0;
}

/* Add the postings of a term to the sums. Their documents are added to `items`, which has room for them. */
static int add_postings(State *state, const Segment *segment, const Shared *term) {
    Span span;
    float weight = (float)term->weight, *sums = state->sums.items;
    int32_t *documents = state->items.items;
    if (span_of(segment, term->term, &span) < 0)
        return OUT_OF_RANGE;
    for (size_t at = 0; at < span.count; at++) {
        int32_t id = span.ids[at];
        if ((uint32_t)id >= (uint64_t)segment->documents)
            return OUT_OF_RANGE;
        documents[state->items.count] = id;
        state->items.count += sums[id] == 0;
        sums[id] += weight * ((float)span.impacts[at] * IMPACT_SCALE);
    }
    return 0;
}

static void feed(Doc *doc, float sum) {
    doc->group = sum;
    doc->flags |= FED;
}

/* Note the sums of the terms for the documents with at least the score `least`; with `adds`, for all that have one. */
static int feed_segment(State *state, Py_ssize_t number, float least, int adds) {
    Matches *matches = MATCHES(state, number);
    float *sums = state->sums.items;
    int status = 0;
    state->items.count = 0;
    for (size_t t = 0; t < state->feedback.count && status == 0; t++)
        status = add_postings(state, &state->segments->items[number], &ITEM(state->feedback, Shared, t));
    next_segment(state, number);
    state->docs = &matches->docs;
    for (size_t i = 0; i < matches->docs.count; i++) {
        Doc *doc = &ITEM(matches->docs, Doc, i);
        state->cells[doc->id] = (Cell){state->stamp, (uint32_t)i};
        if (SCORES(matches)[i] >= least && sums[doc->id] > 0)
            feed(doc, sums[doc->id]);
    }
    for (size_t i = 0; i < state->items.count; i++) {
        int32_t id = ITEM(state->items, int32_t, i);
        Doc *doc = adds && status == 0 ? doc_of(state, id) : NULL;
        if (doc != NULL)
            feed(doc, sums[id]);
    }
    for (size_t i = 0; i < state->items.count; i++)
        sums[ITEM(state->items, int32_t, i)] = 0;
    return status < 0 ? status : state->status;
}

/* Add the noted scores to the documents of a segment. The most similar one of all has `most`. */
static int add_noted(State *state, Py_ssize_t number, float most, float share) {
    Matches *matches = MATCHES(state, number);
    if (reserve(&matches->scores, matches->docs.count, sizeof(float)) < 0)
        return NO_MEMORY;
    /* A name match is stronger evidence than similarity. */
    for (size_t i = 0; i < matches->named.count; i++)
        feed(&ITEM(matches->docs, Doc, ITEM(matches->named, uint32_t, i)), most);
    for (size_t i = 0; i < matches->docs.count; i++) {
        Doc *doc = &ITEM(matches->docs, Doc, i);
        if (doc->flags & FED) {
            doc->flags = (doc->flags & ~(uint32_t)FED) | MATCHED;
            doc->matched += doc->group * share;
            SCORES(matches)[i] = score_of(doc, &state->segments->items[number], &state->plan);
        }
    }
    return 0;
}

/* Expand the query by what the first of `count` documents have in common. Returns 0 or a negative status.
 *
 * The most similar document gets a share of the score of the first hit. Where enough documents match, only the best ones
 * get a score, and those with a name that matches. Elsewhere all do, and others are added. */
int expand(State *state, const Feedback *feedback, Py_ssize_t count) {
    float least = least_of_best(state, (size_t)feedback->hits, INFINITY), most = 0;
    if (least < 0 || collect_hits(state, least, INFINITY) < 0)
        return NO_MEMORY;
    if ((Py_ssize_t)state->hits.count < feedback->hits)
        return 0;
    double max_score = feedback->share * (double)ITEM(state->hits, Hit, 0).score;
    int status = share_terms(state, feedback);
    if (status < 0 || state->feedback.count == 0)
        return status;
    int64_t postings = 0;
    for (size_t t = 0; t < state->feedback.count; t++)
        postings += frequency_of(state->segments, ITEM(state->feedback, Shared, t).term);
    let_go(state, postings);
    int adds = count < feedback->min_matches || feedback->best == 0;
    least = adds ? 0 : least_of_best(state, (size_t)feedback->best, INFINITY);
    if (least < 0 || reserve(&state->items, (size_t)postings + 1, sizeof(uint32_t)) < 0)
        return NO_MEMORY;
    for (Py_ssize_t s = 0; s < state->segments->count; s++) {
        const Matches *matches = MATCHES(state, s);
        if ((status = feed_segment(state, s, least, adds)) < 0)
            return status;
        for (size_t i = 0; i < matches->docs.count; i++) {
            const Doc *doc = &ITEM(matches->docs, Doc, i);
            most = doc->flags & FED && doc->group > most ? doc->group : most;
        }
    }
    float share = most > 0 ? (float)(max_score / (double)most) : 0.0f;
    for (Py_ssize_t s = 0; s < state->segments->count; s++)
        if (add_noted(state, s, most, share) < 0)
            return NO_MEMORY;
    return 0;
}
