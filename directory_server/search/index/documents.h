/* The documents of a segment that match a plan, and their evidence, in the compiled module of the ranking. */

#ifndef DIRECTORY_SERVER_DOCUMENTS_H
#define DIRECTORY_SERVER_DOCUMENTS_H

#include "segments.h"
#include "plan.h"

/* And OUT_OF_RANGE. With FAILED an error is set. */
enum { FAILED = -1, NO_MEMORY = -2, COLUMNS_DIFFER = -4, NOT_WITHIN = -5 };

enum { MATCHED = 1, WHOLE = 2, FED = 4 };

#define DEAD (-1.0f) /* The score of a document that is not live, or that has no evidence. Scores are 0 or more. */

/* Two of them are in a line of the cache: a common word has many documents. */
typedef struct {
    int32_t id;
    uint16_t group_mark, part_mark; /* The last group and part that the document has. */
    uint32_t flags;
    float group; /* The best score of this group; with FED, the score of feedback. */
    float part, matched, covered, whole;
} Doc;

typedef struct {
    Scratch scratch;
    Vector *docs;
    Py_ssize_t documents;
    Vector group_slots, part_slots;
    uint16_t group_mark, part_mark;
    int status;
} Work;

/* Return a document, which is added if it is new; or NULL with the status set. It moves when others are added. */
static inline Doc *doc_of(Work *work, int32_t id) {
    if ((uint32_t)id >= (uint64_t)work->documents) {
        work->status = OUT_OF_RANGE;
        return NULL;
    }
    Cell *cell = &work->scratch.cells[id];
    if (cell->stamp != work->scratch.stamp) {
        Doc *doc = push(work->docs, sizeof(Doc));
        if (doc == NULL) {
            work->status = NO_MEMORY;
            return NULL;
        }
        memset(doc, 0, sizeof(*doc));
        doc->id = id;
        cell->stamp = work->scratch.stamp;
        cell->slot = (uint32_t)(work->docs->count - 1);
        return doc;
    }
    return &ITEM(*work->docs, Doc, cell->slot);
}

static inline int push_slot(Work *work, Vector *slots, const Doc *doc) {
    uint32_t *slot = push(slots, sizeof(uint32_t));
    if (slot == NULL)
        return work->status = NO_MEMORY;
    *slot = (uint32_t)(doc - (const Doc *)work->docs->items);
    return 0;
}

/* Note the score of a document for the present group, of which its best one counts. */
static inline int note(Work *work, int32_t id, float value) {
    Doc *doc = doc_of(work, id);
    if (doc == NULL)
        return work->status;
    if (doc->group_mark != work->group_mark) {
        doc->group_mark = work->group_mark;
        doc->group = value;
        return push_slot(work, &work->group_slots, doc);
    }
    if (value > doc->group)
        doc->group = value;
    return 0;
}

static inline int add_to_part(Work *work, Doc *doc, float value) {
    if (doc->part_mark != work->part_mark) {
        doc->part_mark = work->part_mark;
        doc->part = value;
        return push_slot(work, &work->part_slots, doc);
    }
    doc->part += value;
    return 0;
}

static inline void add_evidence(Doc *doc, float value, float limit, float share) {
    doc->matched += value;
    doc->covered += (value < limit ? value : limit) * share;
    doc->flags |= MATCHED;
}

/* Return the first place from `from` on whose document is not before `id`. */
static size_t gallop(const Span *span, size_t from, int32_t id) {
    size_t step = 1, low = from, high = from;
    while (high < span->count && span->ids[high] < id) {
        low = high + 1;
        high += step;
        step *= 2;
    }
    if (high > span->count)
        high = span->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (span->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Note the documents with all terms of a group, by their least score. */
static int note_all(Work *work, const Segment *segment, const Term *terms, size_t count) {
    Span shortest, span;
    size_t driver = 0;
    for (size_t i = 0; i < count; i++) {
        if (span_of(segment, terms[i].term, &span) < 0)
            return work->status = OUT_OF_RANGE;
        if (i == 0 || span.count < shortest.count) {
            shortest = span;
            driver = i;
        }
    }
    size_t *places = calloc(count + 1, sizeof(size_t));
    if (places == NULL)
        return work->status = NO_MEMORY;
    for (size_t at = 0; at < shortest.count && work->status == 0; at++) {
        int32_t id = shortest.ids[at];
        float least = (float)terms[driver].weight * ((float)shortest.impacts[at] * IMPACT_SCALE);
        size_t held = 1;
        for (size_t i = 0; i < count; i++) {
            if (i == driver)
                continue;
            span_of(segment, terms[i].term, &span);
            places[i] = gallop(&span, places[i], id);
            if (places[i] == span.count || span.ids[places[i]] != id)
                break;
            float value = (float)terms[i].weight * ((float)span.impacts[places[i]] * IMPACT_SCALE);
            least = value < least ? value : least;
            held++;
        }
        if (held == count)
            note(work, id, least);
    }
    free(places);
    return work->status;
}

/* Note the scores of the documents of a group. */
static int note_group(Work *work, const Segment *segment, const Plan *plan, const Group *group) {
    const Term *terms = &ITEM(plan->terms, Term, group->first);
    if (group->all && group->count > 1)
        return note_all(work, segment, terms, group->count);
    for (size_t i = 0; i < group->count; i++) {
        Span span;
        float weight = (float)terms[i].weight;
        if (span_of(segment, terms[i].term, &span) < 0)
            return work->status = OUT_OF_RANGE;
        for (size_t at = 0; at < span.count; at++)
            if (note(work, span.ids[at], weight * ((float)span.impacts[at] * IMPACT_SCALE)) < 0)
                return work->status;
    }
    return 0;
}

static void next_group(Work *work) {
    /* Marks are compared with those of old groups. Each document begins with 0. */
    if (++work->group_mark == 0)
        work->status = OUT_OF_RANGE;
    work->group_slots.count = 0;
}

/* Add the noted scores to the part. */
static int flush_to_part(Work *work) {
    for (size_t i = 0; i < work->group_slots.count && work->status == 0; i++) {
        Doc *doc = &ITEM(*work->docs, Doc, ITEM(work->group_slots, uint32_t, i));
        add_to_part(work, doc, doc->group);
    }
    next_group(work);
    return work->status;
}

static void begin_part(Work *work) {
    if (++work->part_mark == 0)
        work->status = OUT_OF_RANGE;
    work->part_slots.count = 0;
    next_group(work);
}

/* Add the scores of a group directly to the evidence: each of its documents has one. */
static int add_group(Work *work, const Segment *segment, const Plan *plan, const Group *group, float limit,
                     float share) {
    const Term *term = &ITEM(plan->terms, Term, group->first);
    if (group->count == 1) {
        Span span;
        float weight = (float)term->weight;
        if (span_of(segment, term->term, &span) < 0)
            return work->status = OUT_OF_RANGE;
        for (size_t at = 0; at < span.count; at++) {
            Doc *doc = doc_of(work, span.ids[at]);
            if (doc == NULL)
                return work->status;
            add_evidence(doc, weight * ((float)span.impacts[at] * IMPACT_SCALE), limit, share);
        }
        return 0;
    }
    next_group(work);
    note_group(work, segment, plan, group);
    for (size_t i = 0; i < work->group_slots.count && work->status == 0; i++) {
        Doc *doc = &ITEM(*work->docs, Doc, ITEM(work->group_slots, uint32_t, i));
        add_evidence(doc, doc->group, limit, share);
    }
    return work->status;
}

/* The documents of a concept in a segment, and their scores. */
typedef struct {
    int32_t id;
    float score;
} Posting;

static int score_concept(Work *work, const Segment *segment, const Plan *plan, const Concept *concept, Vector *into) {
    renew(&work->scratch);
    work->docs->count = 0;
    work->documents = segment->documents;
    begin_part(work);
    for (size_t g = 0; g < concept->count && work->status == 0; g++)
        if (note_group(work, segment, plan, &ITEM(plan->groups, Group, concept->first + g)) == 0)
            flush_to_part(work);
    for (size_t i = 0; i < work->part_slots.count && work->status == 0; i++) {
        const Doc *doc = &ITEM(*work->docs, Doc, ITEM(work->part_slots, uint32_t, i));
        Posting *posting = push(into, sizeof(Posting));
        if (posting == NULL)
            return work->status = NO_MEMORY;
        posting->id = doc->id;
        posting->score = doc->part;
    }
    return work->status;
}

/* Score the concepts in all segments: 1 for the best document of each, and the square root of its share for others. */
static int score_concepts(Work *work, const Segments *segments, const Plan *plan, Vector *found) {
    for (size_t c = 0; c < plan->concepts.count; c++) {
        float most = 0;
        for (Py_ssize_t s = 0; s < segments->count; s++) {
            Vector *postings = &found[c * (size_t)segments->count + (size_t)s];
            int status = score_concept(work, &segments->items[s], plan, &ITEM(plan->concepts, Concept, c), postings);
            if (status < 0)
                return status;
            for (size_t i = 0; i < postings->count; i++)
                if (ITEM(*postings, Posting, i).score > most)
                    most = ITEM(*postings, Posting, i).score;
        }
        float share = most > 0 ? (float)(1.0 / (double)most) : 0.0f;
        for (Py_ssize_t s = 0; s < segments->count; s++) {
            Vector *postings = &found[c * (size_t)segments->count + (size_t)s];
            for (size_t i = 0; i < postings->count; i++) {
                Posting *each = &ITEM(*postings, Posting, i);
                each->score = sqrtf(each->score * share);
            }
        }
    }
    return 0;
}

static int score_part(Work *work, const Segment *segment, const Plan *plan, const Part *part, const Vector *concepts,
                      size_t stride) {
    if (part->count == 1 && part->shares == 0)
        return add_group(work, segment, plan, &ITEM(plan->groups, Group, part->first), part->limit, part->share);
    begin_part(work);
    for (size_t g = 0; g < part->count && work->status == 0; g++) {
        note_group(work, segment, plan, &ITEM(plan->groups, Group, part->first + g));
        /* Of alternatives, the best one counts. */
        if (work->status == 0 && (!part->alternatives || g + 1 == part->count))
            flush_to_part(work);
    }
    for (size_t k = 0; k < part->shares && work->status == 0; k++) {
        const Share *share = &ITEM(plan->shares, Share, part->first_share + k);
        const Vector *postings = &concepts[share->concept * stride];
        for (size_t i = 0; i < postings->count && work->status == 0; i++) {
            const Posting *each = &ITEM(*postings, Posting, i);
            Doc *doc = doc_of(work, each->id);
            if (doc != NULL)
                add_to_part(work, doc, each->score * share->weight);
        }
    }
    for (size_t i = 0; i < work->part_slots.count && work->status == 0; i++) {
        Doc *doc = &ITEM(*work->docs, Doc, ITEM(work->part_slots, uint32_t, i));
        add_evidence(doc, doc->part, part->limit, part->share);
    }
    return work->status;
}

/* Score matches of names. Slots of those that are not exact are added to `named`. */
static int score_names(Work *work, const Segment *segment, const Plan *plan, Vector *named) {
    for (size_t g = plan->exact; g < plan->end && work->status == 0; g++) {
        next_group(work);
        note_group(work, segment, plan, &ITEM(plan->groups, Group, g));
        for (size_t i = 0; i < work->group_slots.count && work->status == 0; i++) {
            Doc *doc = &ITEM(*work->docs, Doc, ITEM(work->group_slots, uint32_t, i));
            doc->whole += doc->group;
            doc->flags |= WHOLE;
            if (g >= plan->names)
                push_slot(work, named, doc);
        }
    }
    return work->status;
}

static int score_segment(Work *work, const Segment *segment, const Plan *plan, const Vector *concepts, size_t stride,
                         Vector *named) {
    renew(&work->scratch);
    work->documents = segment->documents;
    for (size_t p = 0; p < plan->parts.count && work->status == 0; p++)
        score_part(work, segment, plan, &ITEM(plan->parts, Part, p), concepts, stride);
    for (size_t g = plan->others; g < plan->exact && work->status == 0; g++)
        add_group(work, segment, plan, &ITEM(plan->groups, Group, g), 0, 0);
    for (size_t c = 0; c < plan->concepts.count; c++) {
        float context = ITEM(plan->concepts, Concept, c).context;
        const Vector *postings = &concepts[c * stride];
        for (size_t i = 0; context != 0 && i < postings->count && work->status == 0; i++) {
            const Posting *each = &ITEM(*postings, Posting, i);
            Doc *doc = doc_of(work, each->id);
            if (doc != NULL)
                add_evidence(doc, each->score * context, 0, 0);
        }
    }
    return work->status < 0 ? work->status : score_names(work, segment, plan, named);
}

/* Return the factor of the score of a document with `facts`, which covers the share `covered` of the query. */
static float factor_of(const Plan *plan, uint64_t facts, float covered) {
    float factor = 1, topic = sqrtf(covered);
    for (size_t i = 0; i < plan->conditions.count; i++) {
        const Condition *each = &ITEM(plan->conditions, Condition, i);
        if (facts & each->full)
            factor += each->reward * topic;
        else if (facts & each->partial)
            factor += each->partial_reward * topic;
        else if (facts & each->contrary)
            factor += each->penalty;
    }
    return factor > plan->least_factor ? factor : plan->least_factor;
}

/* Return the score of a document: what it covers, names, prior and conditions; DEAD if it is not live. */
static float score_of(const Doc *doc, const Segment *segment, const Plan *plan) {
    if (!(doc->flags & (MATCHED | WHOLE)) || !segment->live[doc->id])
        return DEAD;
    float score = doc->matched, covered = doc->flags & MATCHED ? 1 : 0;
    if (plan->parts.count > 1) {
        covered = doc->covered;
        score = score * (plan->least + covered * (1 - plan->least));
    }
    if (doc->flags & WHOLE)
        score += doc->whole;
    float raised = score < plan->most ? score : plan->most;
    score = score + raised * (plan->share * segment->priors[doc->id]);
    if (plan->conditions.count)
        score = score * factor_of(plan, segment->facts[doc->id], covered);
    return score;
}

#endif
