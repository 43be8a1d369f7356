/* Focus: the scores of the best documents are raised by the share of their descriptions that the query has. */

#include "engine.h"

/* Fill the table with the terms of concepts, parts and other evidence of a plan. Returns 0 or NO_MEMORY. */
static int read_terms(State *state) {
    const Plan *plan = &state->plan;
    const Group *last = plan->exact ? &plan->groups[plan->exact - 1] : NULL;
    int32_t count = last != NULL ? last->first + last->count : 0;
    if (clear_table(&state->table, (size_t)count) < 0)
        return NO_MEMORY;
    for (int32_t i = 0; i < count; i++)
        if (plan->terms[i] <= INT32_MAX) {
            Shared *place = place_of(&state->table, (int32_t)plan->terms[i]);
            place->term = (int32_t)plan->terms[i];
            place->hits = 1;
        }
    return 0;
}

/* Return the sum of the inverse document frequencies of `count` terms, only of those of the query with `asked`; or
 * OUT_OF_RANGE. */
static double sum_of_idfs(const State *state, const int32_t *terms, int count, int asked) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        if (asked && !place_of(&state->table, terms[i])->hits)
            continue;
        Py_ssize_t frequency = frequency_of(state->segments, terms[i]);
        if (frequency < 0)
            return OUT_OF_RANGE;
        sum += idf_of(state->segments, frequency);
    }
    return sum;
}

/* Return how much of the description of a document the query has, from 0 to 1; or a negative status. */
static double coverage_of(const State *state, const Segment *segment, int32_t id) {
    int64_t first, last;
    int described;
    if (top_places(segment, id, &first, &last, &described) < 0)
        return COLUMNS_DIFFER;
    const int32_t *terms = segment->top_terms + first;
    double length = atomic_load_explicit(&segment->lengths[id], memory_order_relaxed);
    if (length == 0) {
        length = sum_of_idfs(state, terms, described, 0);
        if (length < 0)
            return OUT_OF_RANGE;
        atomic_store_explicit(&segment->lengths[id], length, memory_order_relaxed);
    }
    double found = sum_of_idfs(state, terms, described, 1);
    return found > 0 ? found / length : found;
}

/* Raise the scores of the documents of a segment with at least the score `least`. Returns 0 or a negative status. */
static int raise_scores(State *state, Py_ssize_t number, float least, float most) {
    const Segment *segment = &state->segments->items[number];
    const Matches *matches = MATCHES(state, number);
    for (size_t i = 0; i < matches->docs.count; i++) {
        float *score = &SCORES(matches)[i];
        if (*score < least)
            continue;
        double covered = coverage_of(state, segment, ITEM(matches->docs, Doc, i).id);
        if (covered < 0)
            return (int)covered;
        if (covered > 0)
            *score *= 1 + most * (float)sqrt(covered);
    }
    return 0;
}

/* Raise the scores of the `count` best documents: by `most` times themselves for a description that the query has.
 *
 * Those equal to the last one are raised too, unless there are too many. Returns 0 or a negative status. */
int focus(State *state, size_t count, float most) {
    float least = least_of_best(state, count, INFINITY);
    int status = 0;
    if (least < 0 || read_terms(state) < 0)
        return NO_MEMORY;
    size_t above = count_scores(state, least, INFINITY);
    if (above > 2 * count) {
        least = nextafterf(least, INFINITY);
        above = count_scores(state, least, INFINITY);
    }
    /* Scores only rise. */
    state->floor = least;
    state->above = above;
    for (Py_ssize_t s = 0; s < state->segments->count && status == 0; s++)
        status = raise_scores(state, s, least, most);
    return status;
}
