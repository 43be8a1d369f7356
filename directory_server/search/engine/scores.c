/* The scores of the documents that match a plan, and the selection of the best ones. */

#include "engine.h"

/* Return the factor of the score of a document with `facts`, which covers the share `covered` of the query. */
static float factor_of(const Plan *plan, uint64_t facts, float covered) {
    float factor = 1, topic = sqrtf(covered);
    for (Py_ssize_t i = 0; i < plan->condition_count; i++) {
        const Condition *condition = &plan->conditions[i];
        if (facts & condition->full)
            factor += condition->reward * topic;
        else if (facts & condition->partial)
            factor += condition->partial_reward * topic;
        else if (facts & condition->contrary)
            factor += condition->penalty;
    }
    return factor > plan->least_factor ? factor : plan->least_factor;
}

/* Return the score of a document: what it covers, names, prior and conditions; DEAD if it is not live. */
float score_of(const Doc *doc, const Segment *segment, const Plan *plan) {
    if (!(doc->flags & (MATCHED | WHOLE)) || !segment->live[doc->id])
        return DEAD;
    float score = doc->matched, covered = doc->flags & MATCHED ? 1 : 0;
    if (plan->part_count > 1) {
        covered = doc->covered;
        score = score * (plan->least_kept + covered * (1 - plan->least_kept));
    }
    if (doc->flags & WHOLE)
        score += doc->whole;
    float raised = score < plan->most_raised ? score : plan->most_raised;
    score = score + raised * (plan->prior_share * segment->priors[doc->id]);
    if (plan->condition_count)
        score = score * factor_of(plan, segment->facts[doc->id], covered);
    return score;
}

/* Score the documents of all segments. Returns the number of live ones, or a negative status. */
Py_ssize_t match(State *state) {
    int64_t postings = 0;
    for (Py_ssize_t t = 0; t < state->plan.term_count; t++) {
        Py_ssize_t count = count_documents(state->segments, state->plan.terms[t]);
        if (count < 0)
            return OUT_OF_RANGE;
        postings += count;
    }
    let_go(state, postings);
    int status = collect_documents(state);
    Py_ssize_t live = 0;
    for (Py_ssize_t s = 0; s < state->segments->count && status == 0; s++) {
        Matches *matches = MATCHES(state, s);
        if (reserve(&matches->scores, matches->docs.count, sizeof(float)) < 0)
            return NO_MEMORY;
        for (size_t i = 0; i < matches->docs.count; i++) {
            float score = score_of(&ITEM(matches->docs, Doc, i), &state->segments->items[s], &state->plan);
            SCORES(matches)[i] = score;
            live += score >= 0;
        }
    }
    return status < 0 ? status : live;
}

/* Return the count-th greatest of the items, which are at least as many. They are moved. */
static uint32_t select_greatest(uint32_t *items, size_t held, size_t count) {
    enum { DIGITS = 2048 };
    /* By 11 bits at a time: the first ones are the exponent and enough of the mantissa to tell most scores apart. */
    for (int shift = 20; shift >= 0 && held > 1; shift -= 10) {
        uint32_t counts[DIGITS] = {0}, digit = DIGITS - 1;
        size_t kept = 0;
        for (size_t i = 0; i < held; i++)
            counts[items[i] >> shift & (DIGITS - 1)]++;
        while (count > counts[digit])
            count -= counts[digit--];
        for (size_t i = 0; i < held; i++) {
            uint32_t item = items[i];
            items[kept] = item;
            kept += (item >> shift & (DIGITS - 1)) == digit;
        }
        held = kept;
    }
    return items[0];
}

/* Return the count-th greatest score that is at most `below`, 0 if there are fewer, or NO_MEMORY. */
float least_of_best(State *state, size_t count, float below) {
    size_t held = 0, capacity = 1;
    for (Py_ssize_t s = 0; s < state->segments->count; s++)
        capacity += MATCHES(state, s)->docs.count;
    if (count == 0 || capacity <= count)
        return 0;
    if (reserve(&state->items, capacity, sizeof(uint32_t)) < 0)
        return NO_MEMORY;
    uint32_t *items = state->items.items;
    float floor = count <= state->above && below == INFINITY ? state->floor : 0;
    for (Py_ssize_t s = 0; s < state->segments->count; s++) {
        const Matches *matches = MATCHES(state, s);
        for (size_t i = 0; i < matches->docs.count; i++) {
            float score = SCORES(matches)[i];
            /* Scores are not negative, so their order is that of their bits. */
            memcpy(&items[held], &score, sizeof(score));
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

/* Return the number of scores from `least` to `below`. */
size_t count_scores(const State *state, float least, float below) {
    size_t count = 0;
    for (Py_ssize_t s = 0; s < state->segments->count; s++)
        for (size_t i = 0; i < MATCHES(state, s)->docs.count; i++)
            count += SCORES(MATCHES(state, s))[i] >= least && SCORES(MATCHES(state, s))[i] <= below;
    return count;
}

static int by_score(const void *one, const void *other) {
    const Hit *a = one, *b = other;
    if (a->score != b->score)
        return a->score < b->score ? 1 : -1;
    if (a->segment != b->segment)
        return a->segment < b->segment ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

/* Fill `hits` with the documents whose scores are from `least` to `below`, the best first. Returns 0 or NO_MEMORY. */
int collect_hits(State *state, float least, float below) {
    state->hits.count = 0;
    for (Py_ssize_t s = 0; s < state->segments->count; s++) {
        const Matches *matches = MATCHES(state, s);
        for (size_t i = 0; i < matches->docs.count; i++) {
            float score = SCORES(matches)[i];
            if (score < least || score > below)
                continue;
            Hit *hit = PUSH(&state->hits, Hit);
            if (hit == NULL)
                return NO_MEMORY;
            *hit = (Hit){score, ITEM(matches->docs, Doc, i).id, s};
        }
    }
    if (state->hits.count > 1)
        qsort(state->hits.items, state->hits.count, sizeof(Hit), by_score);
    return 0;
}
