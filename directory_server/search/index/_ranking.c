/* The scores of the documents that match a plan, compiled. `ranking/coverage.py`, `feedback.py` and `focus.py` have them
 * in Python.
 *
 * Arguments are contiguous, aligned buffers: offsets uint32, documents int32, impacts uint16, priors float32, facts
 * uint64. Results are bytes of native items, or lists. All numbers that are used as positions are checked.
 */

#include "segments.h"
#include "plan.h"
#include "selection.h"

#define VERSION 4      /* Of the functions; `arrays.py` expects the same. */
#define TABLE 2048     /* Places for the terms of the first hits, a power of two. */
#define MAX_HITS 16    /* First hits whose terms are compared. */
#define KEPT (4 << 20) /* Bytes that are kept for the next search, */
#define KEPT_EACH 64   /* and those for each document: new memory is slow at its first use. */

/* And OUT_OF_RANGE. With FAILED an error is set. */
enum { FAILED = -1, NO_MEMORY = -2, COLUMNS_DIFFER = -4, NOT_WITHIN = -5 };

/* ---- The documents that match. */

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

static inline void add_evidence(Doc *doc, float value, float limit) {
    doc->matched += value;
    doc->covered += value < limit ? value : limit;
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
static int add_group(Work *work, const Segment *segment, const Plan *plan, const Group *group, float limit) {
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
            add_evidence(doc, weight * ((float)span.impacts[at] * IMPACT_SCALE), limit);
        }
        return 0;
    }
    next_group(work);
    note_group(work, segment, plan, group);
    for (size_t i = 0; i < work->group_slots.count && work->status == 0; i++) {
        Doc *doc = &ITEM(*work->docs, Doc, ITEM(work->group_slots, uint32_t, i));
        add_evidence(doc, doc->group, limit);
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
        return add_group(work, segment, plan, &ITEM(plan->groups, Group, part->first), part->limit);
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
        add_evidence(doc, doc->part, part->limit);
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
        add_group(work, segment, plan, &ITEM(plan->groups, Group, g), 0);
    for (size_t c = 0; c < plan->concepts.count; c++) {
        float context = ITEM(plan->concepts, Concept, c).context;
        const Vector *postings = &concepts[c * stride];
        for (size_t i = 0; context != 0 && i < postings->count && work->status == 0; i++) {
            const Posting *each = &ITEM(*postings, Posting, i);
            Doc *doc = doc_of(work, each->id);
            if (doc != NULL)
                add_evidence(doc, each->score * context, 0);
        }
    }
    return work->status < 0 ? work->status : score_names(work, segment, plan, named);
}

static float factor_of(const Plan *plan, uint64_t facts) {
    float factor = 1;
    for (size_t i = 0; i < plan->conditions.count; i++) {
        const Condition *each = &ITEM(plan->conditions, Condition, i);
        if (facts & each->full)
            factor += each->reward;
        else if (facts & each->partial)
            factor += each->partial_reward;
        else if (facts & each->contrary)
            factor += each->penalty;
    }
    return factor > plan->least_factor ? factor : plan->least_factor;
}

/* Return the score of a document: what it covers, names, prior and conditions; DEAD if it is not live. */
static float score_of(const Doc *doc, const Segment *segment, const Plan *plan) {
    if (!(doc->flags & (MATCHED | WHOLE)) || !segment->live[doc->id])
        return DEAD;
    float score = doc->matched;
    if (plan->parts.count > 1)
        score = score * (plan->least + doc->covered * plan->growth);
    if (doc->flags & WHOLE)
        score += doc->whole;
    float raised = score < plan->most ? score : plan->most;
    score = score + raised * (plan->share * segment->priors[doc->id]);
    if (plan->conditions.count)
        score = score * factor_of(plan, segment->facts[doc->id]);
    return score;
}

/* ---- The state of a search. */

/* The documents of a segment that match, their scores, and the slots of those with a name that matches. */
typedef struct {
    Vector docs, scores, named;
} Matches;

#define SCORES(matches) ((float *)(matches)->scores.items)

/* A term of the first hits. */
typedef struct {
    int32_t term, hits; /* No hits for a place without a term. */
    double weight;
} Shared;

/* The terms of hits by their hash, and the places that are used. */
typedef struct {
    Shared items[TABLE], found[MAX_HITS * MAX_TERMS];
    uint16_t used[MAX_HITS * MAX_TERMS];
    size_t count;
} Table;

/* What a search needs. The next one uses its memory again. */
typedef struct {
    Work work;
    Plan plan;
    const Segments *segments;
    PyThreadState *thread; /* NULL while this thread has the interpreter lock. */
    float floor;       /* At least `above` documents have this score or a greater one. */
    size_t above;
    Vector matches;    /* Of each segment. */
    Vector concepts;   /* A vector of postings for each concept and segment. */
    Vector items;      /* Scores to select from, terms in focus, or hits. */
    Vector registered; /* A bit for each document; all are 0 between two searches. */
    Vector sums;       /* Of feedback, for each document; all are 0 between two searches. */
    Vector feedback;   /* Terms. */
    Table table;       /* All places are empty between two searches. */
} State;

/* States that no search uses, for as many searches as run at once: two in threads, and one of the reactor. They are taken
 * and put back with the interpreter lock held. */
#define IDLE 3
static State *idle_states[IDLE];

#define MATCHES(state, number) (&ITEM((state)->matches, Matches, number))

static void free_state(State *state) {
    Vector *vectors[] = {&state->work.group_slots, &state->work.part_slots, &state->items,
                         &state->registered,       &state->feedback,        &state->sums};
    for (size_t i = 0; i < state->matches.room; i++) {
        free(MATCHES(state, i)->docs.items);
        free(MATCHES(state, i)->scores.items);
        free(MATCHES(state, i)->named.items);
    }
    for (size_t i = 0; i < state->concepts.room; i++)
        free(ITEM(state->concepts, Vector, i).items);
    for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++)
        free(vectors[i]->items);
    free(state->work.scratch.cells);
    free(state->matches.items);
    free(state->concepts.items);
    free_plan(&state->plan);
    free(state);
}

/* Let other threads run during work on so many postings, until `hold`. */
static void let_go(State *state, int64_t postings) {
    if (postings > RELEASE && state->thread == NULL)
        state->thread = PyEval_SaveThread();
}

static void hold(State *state) {
    if (state->thread != NULL)
        PyEval_RestoreThread(state->thread);
    state->thread = NULL;
}

/* Return about the bytes that a state holds. */
static size_t size_of(const State *state) {
    size_t size = 0;
    for (size_t i = 0; i < state->matches.room; i++)
        size += MATCHES(state, i)->docs.room * sizeof(Doc) + MATCHES(state, i)->scores.room * sizeof(float);
    for (size_t i = 0; i < state->concepts.room; i++)
        size += ITEM(state->concepts, Vector, i).room * sizeof(Posting);
    return size + state->plan.terms.room * sizeof(Term);
}

/* Make room for at least `room` items, all of them zeros at first. Returns 0, or -1 without memory. */
static int reserve_zeros(Vector *vector, size_t room, size_t size) {
    size_t before = vector->room;
    if (reserve(vector, room, size) < 0)
        return -1;
    memset((char *)vector->items + before * size, 0, (vector->room - before) * size);
    return 0;
}

static void put_state(State *state) {
    if (size_of(state) <= KEPT + KEPT_EACH * (size_t)state->segments->total)
        for (int i = 0; i < IDLE; i++)
            if (idle_states[i] == NULL) {
                idle_states[i] = state;
                return;
            }
    free_state(state);
}

/* Take a state for a search of these segments, with the plan in `arguments`. Returns NULL with an error set. */
static State *take_state(const Segments *segments, PyObject *arguments) {
    State *state = NULL;
    for (int i = 0; i < IDLE && state == NULL; i++) {
        state = idle_states[i];
        idle_states[i] = NULL;
    }
    if (state == NULL)
        state = calloc(1, sizeof(State));
    if (state == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    state->segments = segments;
    clear_plan(&state->plan);
    int status = read_plan(arguments, &state->plan);
    size_t lists = status < 0 ? 0 : state->plan.concepts.count * (size_t)segments->count;
    if (status == 0 && (reserve_zeros(&state->matches, (size_t)segments->count, sizeof(Matches)) < 0 ||
                        reserve_zeros(&state->concepts, lists, sizeof(Vector)) < 0)) {
        PyErr_NoMemory();
        status = -1;
    }
    if (status < 0) {
        put_state(state);
        return NULL;
    }
    for (Py_ssize_t s = 0; s < segments->count; s++)
        MATCHES(state, s)->docs.count = MATCHES(state, s)->named.count = 0;
    for (size_t i = 0; i < lists; i++)
        ITEM(state->concepts, Vector, i).count = 0;
    state->floor = 0;
    state->above = 0;
    state->work.group_mark = state->work.part_mark = 0;
    state->work.group_slots.count = state->work.part_slots.count = 0;
    state->work.status = 0;
    return state;
}

static void raise(int status) {
    if (PyErr_Occurred())
        return;
    if (status == NO_MEMORY)
        PyErr_NoMemory();
    else if (status == COLUMNS_DIFFER)
        PyErr_SetString(PyExc_ValueError, "columns differ in length");
    else if (status == NOT_WITHIN)
        PyErr_SetString(PyExc_ValueError, "offsets are not within the data");
    else
        PyErr_SetString(PyExc_IndexError, "no such term or document");
}

/* Return the number of postings of all terms, or OUT_OF_RANGE. */
static int64_t count_postings(const Segments *segments, const Vector *terms) {
    int64_t total = 0;
    for (Py_ssize_t s = 0; s < segments->count; s++)
        for (size_t t = 0; t < terms->count; t++) {
            Span span;
            if (span_of(&segments->items[s], ITEM(*terms, Term, t).term, &span) < 0)
                return OUT_OF_RANGE;
            total += (int64_t)span.count;
        }
    return total;
}

/* ---- The scores of a plan. */

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
    size_t held = 0, room = 1;
    for (Py_ssize_t s = 0; s < state->segments->count; s++)
        room += MATCHES(state, s)->docs.count;
    if (count == 0 || room <= count)
        return 0;
    if (reserve(&state->items, room, sizeof(uint64_t)) < 0)
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

/* ---- Feedback: the terms that the first hits have in common. */

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
        add_evidence(doc, doc->group * share, 0);
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

/* ---- The share of a description that the query has. */

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
    size_t count = plan->exact ? groups[plan->exact - 1].first + groups[plan->exact - 1].count : 0, room = 64;
    while (room < 2 * count)
        room *= 2;
    if (reserve(&state->items, room, sizeof(uint64_t)) < 0)
        return NO_MEMORY;
    terms->items = state->items.items;
    terms->mask = room - 1;
    memset(terms->items, 0xff, room * sizeof(int64_t));
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

/* ---- Searches. */

/* Score the documents of a plan, with feedback and focus unless these are None. Returns NULL with an error set.
 *
 * The interpreter lock may be released until `hold`. */
static State *search(PyObject *capsule, PyObject *plan, PyObject *feedback_of, PyObject *focus_of) {
    const Segments *segments = PyCapsule_GetPointer(capsule, SEGMENTS);
    Feedback feedback = {0};
    Py_ssize_t focused = 0;
    float most = 0;
    if (segments == NULL)
        return NULL;
    if (feedback_of != Py_None &&
        !PyArg_ParseTuple(feedback_of, "nnnndnnnO", &feedback.hits, &feedback.least_hits, &feedback.least_frequency,
                          &feedback.terms, &feedback.share, &feedback.best, &feedback.least_matches, &feedback.letters,
                          &feedback.string))
        return NULL;
    if (focus_of != Py_None && !PyArg_ParseTuple(focus_of, "nf", &focused, &most))
        return NULL;
    if (feedback.hits < 0 || feedback.hits > MAX_HITS || feedback.best < 0 || feedback.letters < 0 || focused < 0) {
        PyErr_SetString(PyExc_ValueError, "a number of feedback or focus is out of range");
        return NULL;
    }
    State *state = take_state(segments, plan);
    if (state == NULL)
        return NULL;
    Py_ssize_t count = match(state);
    int status = count < 0 ? (int)count : 0;
    if (status == 0 && feedback.hits > 0)
        status = expand(state, &feedback, count);
    if (status == 0 && focused > 0)
        status = focus(state, (size_t)focused, most);
    if (status == 0)
        return state;
    hold(state);
    raise(status);
    free_state(state);
    return NULL;
}

/* Return a list of (document numbers, scores) of the live documents of each segment. */
static PyObject *scores(PyObject *module, PyObject *args) {
    PyObject *capsule, *plan, *feedback_of, *focus_of;
    if (!PyArg_ParseTuple(args, "OOOO", &capsule, &plan, &feedback_of, &focus_of))
        return NULL;
    State *state = search(capsule, plan, feedback_of, focus_of);
    if (state == NULL)
        return NULL;
    hold(state);
    PyObject *list = PyList_New(state->segments->count);
    for (Py_ssize_t s = 0; list != NULL && s < state->segments->count; s++) {
        const Matches *matches = MATCHES(state, s);
        size_t count = matches->docs.count;
        int32_t *ids = malloc(count * 4 + 4);
        float *values = malloc(count * 4 + 4);
        PyObject *both = NULL;
        if (ids == NULL || values == NULL) {
            PyErr_NoMemory();
        } else {
            Py_ssize_t at = 0;
            for (size_t i = 0; i < count; i++)
                if (SCORES(matches)[i] >= 0) {
                    ids[at] = ITEM(matches->docs, Doc, i).id;
                    values[at++] = SCORES(matches)[i];
                }
            both = Py_BuildValue("(y#y#)", (const char *)ids, at * 4, (const char *)values, at * 4);
        }
        free(ids);
        free(values);
        if (both == NULL || PyList_SetItem(list, s, both) < 0)
            Py_CLEAR(list);
    }
    put_state(state);
    return list;
}

/* Return a tuple, which takes the references; NULL if one of them is NULL. */
static PyObject *triple(PyObject *one, PyObject *two, PyObject *three) {
    PyObject *items[] = {one, two, three};
    PyObject *tuple = one != NULL && two != NULL && three != NULL ? PyTuple_New(3) : NULL;
    for (Py_ssize_t i = 0; i < 3; i++)
        if (tuple == NULL)
            Py_XDECREF(items[i]);
        else
            PyTuple_SetItem(tuple, i, items[i]);
    return tuple;
}

/* Return (score, segment, document) of the `count` best documents with a score of at most `below`, the best first.
 *
 * All that are equal to the last one or to `below` are among them. */
static PyObject *best(PyObject *module, PyObject *args) {
    PyObject *capsule, *plan, *feedback_of, *focus_of;
    Py_ssize_t count;
    float below;
    if (!PyArg_ParseTuple(args, "OOOOnf", &capsule, &plan, &feedback_of, &focus_of, &count, &below))
        return NULL;
    if (count < 0 || count > MAX_DOCUMENTS) {
        PyErr_SetString(PyExc_ValueError, "count is out of range");
        return NULL;
    }
    State *state = search(capsule, plan, feedback_of, focus_of);
    if (state == NULL)
        return NULL;
    for (Py_ssize_t s = 0; below < INFINITY && s < state->segments->count; s++)
        for (size_t i = 0; i < MATCHES(state, s)->docs.count; i++)
            count += SCORES(MATCHES(state, s))[i] == below;
    float least = least_of_best(state, (size_t)count, below);
    Vector hits = {NULL, 0, 0};
    int status = least < 0 ? NO_MEMORY : 0;
    for (Py_ssize_t s = 0; s < state->segments->count; s++) {
        const Matches *matches = MATCHES(state, s);
        for (size_t i = 0; i < matches->docs.count && status == 0; i++) {
            float score = SCORES(matches)[i];
            if (score < least || score > below)
                continue;
            Hit *hit = push(&hits, sizeof(Hit));
            if (hit == NULL)
                status = NO_MEMORY;
            else
                *hit = (Hit){score, ITEM(matches->docs, Doc, i).id, s};
        }
    }
    hold(state);
    put_state(state);
    PyObject *list = status == 0 ? PyList_New((Py_ssize_t)hits.count) : PyErr_NoMemory();
    if (hits.count > 1)
        qsort(hits.items, hits.count, sizeof(Hit), by_score);
    for (size_t i = 0; list != NULL && i < hits.count; i++) {
        const Hit *hit = &ITEM(hits, Hit, i);
        PyObject *found = triple(PyFloat_FromDouble((double)hit->score), PyLong_FromSsize_t(hit->segment),
                                 PyLong_FromLong(hit->id));
        if (found == NULL || PyList_SetItem(list, (Py_ssize_t)i, found) < 0)
            Py_CLEAR(list);
    }
    free(hits.items);
    return list;
}

MODULE(_ranking, VERSION, "Scores of the documents of a plan, compiled.",
    {"segments", segments_of, METH_VARARGS, "Read the columns of segments for searches."},
    {"scores", scores, METH_VARARGS, "Return the documents of a plan and their scores."},
    {"best", best, METH_VARARGS, "Return the best documents of a plan."})
