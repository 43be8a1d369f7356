/* Scores in the compiled module of the ranking, from the evidence of a plan. `ranking/coverage.py` has them in Python. */

#ifndef DIRECTORY_SERVER_SCORES_H
#define DIRECTORY_SERVER_SCORES_H

#include "search_state.h"
#include "selection.h"

/* Set the scores of all documents. Returns the number of live ones, or NO_MEMORY. */
static Py_ssize_t finish(State *state) {
    Py_ssize_t count = 0;
    for (Py_ssize_t s = 0; s < state->segments->count; s++) {
        Matches *matches = MATCHES(state, s);
        if (reserve(&matches->scores, matches->docs.count, sizeof(float)) < 0)
            return NO_MEMORY;
        for (size_t i = 0; i < matches->docs.count; i++) {
            float score = score_of(&ITEM(matches->docs, Doc, i), &state->segments->items[s], &state->plan);
            SCORES(matches)[i] = score;
            count += score >= 0;
        }
    }
    return count;
}

static int score_all(State *state) {
    const Segments *segments = state->segments;
    Work *work = &state->work;
    if (segments->count == 0)
        return 0;
    /* The documents of a concept are in the memory of the matches, which come later. */
    work->docs = &MATCHES(state, 0)->docs;
    int status = score_concepts(work, segments, &state->plan, state->concepts.items);
    work->docs->count = 0;
    for (Py_ssize_t s = 0; s < segments->count && status == 0; s++) {
        work->docs = &MATCHES(state, s)->docs;
        status = score_segment(work, &segments->items[s], &state->plan, (Vector *)state->concepts.items + s,
                               (size_t)segments->count, &MATCHES(state, s)->named);
    }
    return status;
}

/* Score the documents of all segments. Returns the number of live ones, or a negative status. */
static Py_ssize_t match(State *state) {
    int64_t postings = count_postings(state->segments, &state->plan.terms);
    if (postings < 0)
        return OUT_OF_RANGE;
    if (reserve_cells(&state->work.scratch, (size_t)state->segments->most + 1) < 0)
        return NO_MEMORY;
    let_go(state, postings);
    int status = score_all(state);
    return status < 0 ? status : finish(state);
}

/* Return the count-th greatest score that is at most `below`, 0 if there are fewer, or NO_MEMORY. */
static float least_of_best(State *state, size_t count, float below) {
    size_t held = 0, capacity = 1;
    for (Py_ssize_t s = 0; s < state->segments->count; s++)
        capacity += MATCHES(state, s)->docs.count;
    if (count == 0 || capacity <= count)
        return 0;
    if (reserve(&state->items, capacity, sizeof(uint64_t)) < 0)
        return NO_MEMORY;
    uint32_t *items = state->items.items;
    float floor = count <= state->above && below == INFINITY ? state->floor : 0;
    for (Py_ssize_t s = 0; s < state->segments->count; s++) {
        const Matches *matches = MATCHES(state, s);
        for (size_t i = 0; i < matches->docs.count; i++) {
            float score = SCORES(matches)[i];
            items[held] = bits_of(score);
            held += score >= floor && score <= below;
        }
    }
    float least = 0;
    if (held >= count) {
        uint32_t bits = select_greatest(items, held, count);
        memcpy(&least, &bits, sizeof(bits));
    }
    return least;
}

#endif
