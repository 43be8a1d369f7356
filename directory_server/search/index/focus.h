/* Focus in the compiled module of the ranking: the share of a description that the query has. `ranking/focus.py` has it
 * in Python. */

#ifndef DIRECTORY_SERVER_FOCUS_H
#define DIRECTORY_SERVER_FOCUS_H

#include "scores.h"

#define SIEVE 4096 /* Bits of the sieve, a power of two. */

/* The terms of a query, by their hash; -1 for a place without a term. Most other terms have no bit in the sieve. */
typedef struct {
    int64_t *items;
    size_t mask;
    uint64_t sieve[SIEVE / 64];
} Terms;

static inline int64_t *place_of(const Terms *terms, int64_t term) {
    size_t place = (uint32_t)term * 2654435761u & terms->mask;
    while (terms->items[place] != term && terms->items[place] >= 0)
        place = (place + 1) & terms->mask;
    return &terms->items[place];
}

static inline int has_term(const Terms *terms, int32_t term) {
    return terms->sieve[(uint32_t)term % SIEVE / 64] >> ((uint32_t)term % 64) & 1 && *place_of(terms, term) == term;
}

/* Fill a table with the terms of concepts, parts and other evidence of a plan. Returns 0 or NO_MEMORY. */
static int read_terms(State *state, Terms *terms) {
    const Plan *plan = &state->plan;
    const Group *groups = plan->groups.items;
    size_t count = plan->exact ? groups[plan->exact - 1].first + groups[plan->exact - 1].count : 0, capacity = 64;
    while (capacity < 2 * count)
        capacity *= 2;
    if (reserve(&state->items, capacity, sizeof(uint64_t)) < 0)
        return NO_MEMORY;
    terms->items = state->items.items;
    terms->mask = capacity - 1;
    memset(terms->items, 0xff, capacity * sizeof(int64_t));
    memset(terms->sieve, 0, sizeof(terms->sieve));
    for (size_t i = 0; i < count; i++) {
        int64_t term = ITEM(plan->terms, Term, i).term;
        *place_of(terms, term) = term;
        terms->sieve[(uint32_t)term % SIEVE / 64] |= (uint64_t)1 << ((uint32_t)term % 64);
    }
    return 0;
}

/* Return the sum of the inverse document frequencies of `count` terms, or OUT_OF_RANGE. */
static double sum_of_idfs(const Segments *segments, const int32_t *terms, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        Py_ssize_t frequency = frequency_of(segments, terms[i]);
        if (frequency < 0)
            return OUT_OF_RANGE;
        sum += idf_of(segments, frequency);
    }
    return sum;
}

/* Return how much of the description of a document the terms cover, from 0 to 1; or a negative status. */
static double coverage_of(const State *state, const Segment *segment, int32_t id, const Terms *terms) {
    int64_t first, last;
    int described;
    if (top_places(segment, id, &first, &last, &described) < 0)
        return COLUMNS_DIFFER;
    double found = 0, length = atomic_load_explicit(&segment->lengths[id], memory_order_relaxed);
    if (length == 0) {
        length = sum_of_idfs(state->segments, segment->top_terms + first, described);
        if (length < 0)
            return OUT_OF_RANGE;
        atomic_store_explicit(&segment->lengths[id], length, memory_order_relaxed);
    }
    for (int64_t place = first; place < first + described; place++) {
        int32_t term = segment->top_terms[place];
        if (has_term(terms, term)) {
            Py_ssize_t frequency = frequency_of(state->segments, term);
            if (frequency < 0)
                return OUT_OF_RANGE;
            found += idf_of(state->segments, frequency);
        }
    }
    return found > 0 ? found / length : 0;
}

/* Raise the scores of the documents of a segment with at least the score `least`. Returns 0 or a negative status. */
static int raise_focused(State *state, Py_ssize_t number, const Terms *terms, float least, float most) {
    const Segment *segment = &state->segments->items[number];
    const Matches *matches = MATCHES(state, number);
    for (size_t i = 0; i < matches->docs.count; i++) {
        float *score = &SCORES(matches)[i];
        if (*score < 0 || *score < least)
            continue;
        double covered = coverage_of(state, segment, ITEM(matches->docs, Doc, i).id, terms);
        if (covered < 0)
            return (int)covered;
        if (covered > 0)
            *score *= 1 + most * (float)sqrt(covered);
    }
    return 0;
}

static size_t count_from(const State *state, float least) {
    size_t count = 0;
    for (Py_ssize_t s = 0; s < state->segments->count; s++) {
        const Matches *matches = MATCHES(state, s);
        for (size_t i = 0; i < matches->docs.count; i++)
            count += SCORES(matches)[i] >= least;
    }
    return count;
}

/* Raise the scores of the `count` best documents: by `most` times themselves for a description that the query covers.
 *
 * Those equal to the last one are raised too, unless there are too many. Returns 0 or a negative status. */
static int focus(State *state, size_t count, float most) {
    Terms terms;
    int status = 0;
    float least = least_of_best(state, count, INFINITY);
    if (least < 0 || read_terms(state, &terms) < 0)
        return NO_MEMORY;
    size_t above = count_from(state, least);
    if (above > 2 * count) {
        least = nextafterf(least, INFINITY);
        above = count_from(state, least);
    }
    /* Scores only rise. */
    state->floor = least;
    state->above = above;
    for (Py_ssize_t s = 0; s < state->segments->count && status == 0; s++)
        status = raise_focused(state, s, &terms, least, most);
    return status;
}

#endif
