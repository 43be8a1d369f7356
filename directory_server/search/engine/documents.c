/* The documents that match a plan, and their evidence. */

#include "engine.h"

/* Return a document, which is added if it is new; or NULL with the status set. It moves when others are added. */
Doc *doc_of(State *state, int32_t id) {
    if ((uint32_t)id >= (uint64_t)state->documents) {
        state->status = OUT_OF_RANGE;
        return NULL;
    }
    Cell *cell = &state->cells[id];
    if (cell->stamp == state->stamp)
        return &ITEM(*state->docs, Doc, cell->slot);
    Doc *doc = PUSH(state->docs, Doc);
    if (doc == NULL) {
        state->status = NO_MEMORY;
        return NULL;
    }
    memset(doc, 0, sizeof(*doc));
    doc->id = id;
    cell->stamp = state->stamp;
    cell->slot = (uint32_t)(state->docs->count - 1);
    return doc;
}

static int push_slot(State *state, Vector *slots, const Doc *doc) {
    uint32_t *slot = PUSH(slots, uint32_t);
    if (slot == NULL)
        return state->status = NO_MEMORY;
    *slot = (uint32_t)(doc - (const Doc *)state->docs->items);
    return 0;
}

/* Note the score of a document for the present group, of which its best one counts. */
static int note(State *state, int32_t id, float value) {
    Doc *doc = doc_of(state, id);
    if (doc == NULL)
        return state->status;
    if (doc->group_mark != state->group_mark) {
        doc->group_mark = state->group_mark;
        doc->group = value;
        return push_slot(state, &state->group_slots, doc);
    }
    if (value > doc->group)
        doc->group = value;
    return 0;
}

static int add_to_part(State *state, Doc *doc, float value) {
    if (doc->part_mark != state->part_mark) {
        doc->part_mark = state->part_mark;
        doc->part = value;
        return push_slot(state, &state->part_slots, doc);
    }
    doc->part += value;
    return 0;
}

static void next_group(State *state) {
    /* Marks are compared with those of old groups. Each document begins with 0. */
    if (++state->group_mark == 0)
        state->status = OUT_OF_RANGE;
    state->group_slots.count = 0;
}

static void next_part(State *state) {
    if (++state->part_mark == 0)
        state->status = OUT_OF_RANGE;
    state->part_slots.count = 0;
    next_group(state);
}

static float weight_of(const Plan *plan, const Group *group, int32_t term) {
    return (float)(plan->weights[group->first + term] * group->idf);
}

/* Note the documents with all terms of a group, by their least score. */
static int note_all(State *state, const Segment *segment, const Group *group) {
    const int64_t *terms = &state->plan.terms[group->first];
    Span shortest = {0}, span;
    int32_t driver = 0;
    for (int32_t i = 0; i < group->count; i++) {
        if (span_of(segment, terms[i], &span) < 0)
            return state->status = OUT_OF_RANGE;
        if (i == 0 || span.count < shortest.count) {
            shortest = span;
            driver = i;
        }
    }
    for (size_t at = 0; at < shortest.count && state->status == 0; at++) {
        int32_t id = shortest.ids[at], held = 0;
        float least = INFINITY;
        for (; held < group->count; held++) {
            span_of(segment, terms[held], &span);
            size_t place = held == driver ? at : place_among(span.ids, span.count, id);
            if (place == span.count || span.ids[place] != id)
                break;
            float value = weight_of(&state->plan, group, held) * ((float)span.impacts[place] * IMPACT_SCALE);
            least = value < least ? value : least;
        }
        if (held == group->count)
            note(state, id, least);
    }
    return state->status;
}

/* Note the scores of the documents of a group. */
static int note_group(State *state, const Segment *segment, const Group *group) {
    if (group->all && group->count > 1)
        return note_all(state, segment, group);
    for (int32_t i = 0; i < group->count; i++) {
        Span span;
        float weight = weight_of(&state->plan, group, i);
        if (span_of(segment, state->plan.terms[group->first + i], &span) < 0)
            return state->status = OUT_OF_RANGE;
        for (size_t at = 0; at < span.count; at++)
            if (note(state, span.ids[at], weight * ((float)span.impacts[at] * IMPACT_SCALE)) < 0)
                return state->status;
    }
    return 0;
}

/* Add the noted scores to the part. */
static void add_group_to_part(State *state) {
    for (size_t i = 0; i < state->group_slots.count && state->status == 0; i++) {
        Doc *doc = &ITEM(*state->docs, Doc, ITEM(state->group_slots, uint32_t, i));
        add_to_part(state, doc, doc->group);
    }
    next_group(state);
}

static void add_evidence(Doc *doc, float value, float limit, float share) {
    doc->matched += value;
    doc->covered += (value < limit ? value : limit) * share;
    doc->flags |= MATCHED;
}

/* Add the scores of a group to the evidence. */
static int add_group(State *state, const Segment *segment, const Group *group, float limit, float share) {
    next_group(state);
    note_group(state, segment, group);
    for (size_t i = 0; i < state->group_slots.count && state->status == 0; i++) {
        Doc *doc = &ITEM(*state->docs, Doc, ITEM(state->group_slots, uint32_t, i));
        add_evidence(doc, doc->group, limit, share);
    }
    return state->status;
}

/* Return the postings of a concept in a segment. */
static Vector *postings_of(const State *state, Py_ssize_t concept, Py_ssize_t segment) {
    return &ITEM(state->concepts, Vector, concept * state->segments->count + segment);
}

/* Collect the documents of a concept in a segment, and the sums of its groups. */
static int score_concept(State *state, Py_ssize_t number, const Concept *concept, Vector *into) {
    next_segment(state, number);
    state->docs->count = 0;
    next_part(state);
    for (int32_t g = concept->first; g < concept->first + concept->count && state->status == 0; g++)
        if (note_group(state, &state->segments->items[number], &state->plan.groups[g]) == 0)
            add_group_to_part(state);
    for (size_t i = 0; i < state->part_slots.count && state->status == 0; i++) {
        const Doc *doc = &ITEM(*state->docs, Doc, ITEM(state->part_slots, uint32_t, i));
        Posting *posting = PUSH(into, Posting);
        if (posting == NULL)
            return state->status = NO_MEMORY;
        *posting = (Posting){doc->id, doc->part};
    }
    return state->status;
}

/* Score the concepts in all segments: 1 for the best document of each, and the square root of its share for others. */
static int score_concepts(State *state) {
    Py_ssize_t segments = state->segments->count;
    for (Py_ssize_t c = 0; c < state->plan.concept_count; c++) {
        float most = 0;
        for (Py_ssize_t s = 0; s < segments; s++) {
            Vector *postings = postings_of(state, c, s);
            if (score_concept(state, s, &state->plan.concepts[c], postings) < 0)
                return state->status;
            for (size_t i = 0; i < postings->count; i++)
                most = ITEM(*postings, Posting, i).score > most ? ITEM(*postings, Posting, i).score : most;
        }
        float share = most > 0 ? (float)(1.0 / (double)most) : 0.0f;
        for (Py_ssize_t s = 0; s < segments; s++) {
            Vector *postings = postings_of(state, c, s);
            for (size_t i = 0; i < postings->count; i++) {
                Posting *posting = &ITEM(*postings, Posting, i);
                posting->score = sqrtf(posting->score * share);
            }
        }
    }
    return 0;
}

static void score_part(State *state, Py_ssize_t number, const Part *part) {
    const Segment *segment = &state->segments->items[number];
    if (part->count == 1 && part->shares == 0) {
        add_group(state, segment, &state->plan.groups[part->first], part->limit, part->share);
        return;
    }
    next_part(state);
    for (int32_t g = 0; g < part->count && state->status == 0; g++) {
        note_group(state, segment, &state->plan.groups[part->first + g]);
        /* Of alternatives, the best one counts. */
        if (!part->alternatives || g + 1 == part->count)
            add_group_to_part(state);
    }
    for (int32_t k = 0; k < part->shares && state->status == 0; k++) {
        const Share *share = &state->plan.shares[part->first_share + k];
        const Vector *postings = postings_of(state, share->concept, number);
        for (size_t i = 0; i < postings->count && state->status == 0; i++) {
            const Posting *posting = &ITEM(*postings, Posting, i);
            Doc *doc = doc_of(state, posting->id);
            if (doc != NULL)
                add_to_part(state, doc, posting->score * share->weight);
        }
    }
    for (size_t i = 0; i < state->part_slots.count && state->status == 0; i++) {
        Doc *doc = &ITEM(*state->docs, Doc, ITEM(state->part_slots, uint32_t, i));
        add_evidence(doc, doc->part, part->limit, part->share);
    }
}

/* Score matches of names. Slots of those that are not exact are added to `named`. */
static void score_names(State *state, const Segment *segment, Vector *named) {
    for (Py_ssize_t g = state->plan.exact; g < state->plan.group_count && state->status == 0; g++) {
        next_group(state);
        note_group(state, segment, &state->plan.groups[g]);
        for (size_t i = 0; i < state->group_slots.count && state->status == 0; i++) {
            Doc *doc = &ITEM(*state->docs, Doc, ITEM(state->group_slots, uint32_t, i));
            doc->whole += doc->group;
            doc->flags |= WHOLE;
            if (g >= state->plan.names)
                push_slot(state, named, doc);
        }
    }
}

static int score_segment(State *state, Py_ssize_t number) {
    const Plan *plan = &state->plan;
    const Segment *segment = &state->segments->items[number];
    next_segment(state, number);
    for (Py_ssize_t p = 0; p < plan->part_count && state->status == 0; p++)
        score_part(state, number, &plan->parts[p]);
    for (Py_ssize_t g = plan->others; g < plan->exact && state->status == 0; g++)
        add_group(state, segment, &plan->groups[g], 0, 0);
    for (Py_ssize_t c = 0; c < plan->concept_count; c++) {
        float context = plan->concepts[c].context;
        const Vector *postings = postings_of(state, c, number);
        for (size_t i = 0; context != 0 && i < postings->count && state->status == 0; i++) {
            const Posting *posting = &ITEM(*postings, Posting, i);
            Doc *doc = doc_of(state, posting->id);
            if (doc != NULL)
                add_evidence(doc, posting->score * context, 0, 0);
        }
    }
    score_names(state, segment, &MATCHES(state, number)->named);
    return state->status;
}

/* Collect the documents of all segments that match the plan. Returns 0 or a negative status. */
int collect_documents(State *state) {
    if (state->segments->count == 0)
        return 0;
    /* The documents of a concept are in the memory of the matches, which come later. */
    state->docs = &MATCHES(state, 0)->docs;
    int status = score_concepts(state);
    state->docs->count = 0;
    for (Py_ssize_t s = 0; s < state->segments->count && status == 0; s++) {
        state->docs = &MATCHES(state, s)->docs;
        status = score_segment(state, s);
    }
    return status;
}
