/* The scores of the documents that match a plan, compiled. `ranking/coverage.py` and `feedback.py` have them in Python.
 *
 * Arguments are contiguous, aligned buffers: offsets uint32, documents int32, impacts uint16, priors float32, facts
 * uint64. Results are bytes of native items. All numbers that are used as positions are checked.
 */

#include "postings.h"
#include <math.h>

#define VERSION 3 /* Of the functions; `arrays.py` expects the same. */
#define TABLE 2048 /* Places for the terms of the first hits, a power of two. */
#define CAPSULE "directory_server.search.index._ranking.state"

enum { FAILED = -1, NO_MEMORY = -2, OUT_OF_RANGE = -3 };

/* A vector that grows. */
typedef struct {
    void *items;
    size_t count, room;
} Vector;

static void *push(Vector *vector, size_t size) {
    if (vector->count == vector->room) {
        size_t room = vector->room ? 2 * vector->room : 64;
        void *items = realloc(vector->items, room * size);
        if (items == NULL)
            return NULL;
        vector->items = items;
        vector->room = room;
    }
    return (char *)vector->items + size * vector->count++;
}

#define ITEM(vector, type, number) ((type *)(vector).items)[number]

/* ---- Segments. */

typedef struct {
    Py_buffer starts, doc_ids, impacts, live, priors, facts, known;
    Py_ssize_t rows, postings, documents, terms;
    int has_known;
} Segment;

typedef struct {
    Segment *items;
    Py_ssize_t count, documents;
} Segments;

static void release_segments(Segments *segments) {
    for (Py_ssize_t i = 0; i < segments->count; i++) {
        Segment *each = &segments->items[i];
        Py_buffer *buffers[] = {&each->starts, &each->doc_ids, &each->impacts, &each->live,
                                &each->priors, &each->facts,   &each->known};
        for (size_t b = 0; b < sizeof(buffers) / sizeof(*buffers); b++)
            if (buffers[b]->obj != NULL)
                PyBuffer_Release(buffers[b]);
    }
    free(segments->items);
}

/* Read a list of (starts, doc_ids, impacts, known or None, live, priors, facts). Returns 0, or -1 with an error set. */
static int read_segments(PyObject *list, Segments *segments) {
    Py_ssize_t count = PyList_Size(list);
    segments->items = NULL;
    segments->count = segments->documents = 0;
    if (count < 0 || (segments->items = calloc((size_t)count + 1, sizeof(Segment))) == NULL) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Segment *each = &segments->items[i];
        PyObject *known;
        segments->count = i + 1;
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "y*y*y*Oy*y*y*", &each->starts, &each->doc_ids, &each->impacts,
                              &known, &each->live, &each->priors, &each->facts)) {
            /* A tuple that is only half read has released its buffers. */
            memset(each, 0, sizeof(*each));
            return -1;
        }
        each->has_known = known != Py_None;
        if (each->has_known && PyObject_GetBuffer(known, &each->known, PyBUF_SIMPLE) < 0)
            return -1;
        each->rows = each->starts.len / 4 - 1;
        each->postings = each->doc_ids.len / 4;
        each->documents = each->live.len;
        each->terms = each->has_known ? each->known.len / 4 : each->rows - 1;
        if (each->rows < 1 || each->impacts.len / 2 != each->postings || each->priors.len / 4 != each->documents ||
            each->facts.len / 8 != each->documents || each->documents > MAX_DOCUMENTS || each->terms >= each->rows) {
            PyErr_SetString(PyExc_ValueError, "columns differ in length");
            return -1;
        }
        if (each->documents > segments->documents)
            segments->documents = each->documents;
    }
    return 0;
}

/* The postings of one term. */
typedef struct {
    const int32_t *ids;
    const uint16_t *impacts;
    size_t count;
} Span;

/* Find the postings of a term in a segment. Returns 0, or OUT_OF_RANGE. */
static int span_of(const Segment *segment, int64_t term, Span *span) {
    const uint32_t *starts = segment->starts.buf;
    Py_ssize_t row = segment->rows - 1;
    if (term < 0)
        return OUT_OF_RANGE;
    if (segment->has_known) {
        const int32_t *known = segment->known.buf;
        Py_ssize_t low = 0, high = segment->terms;
        while (low < high) {
            Py_ssize_t middle = low + (high - low) / 2;
            if (known[middle] < term)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < segment->terms && known[low] == term)
            row = low;
    } else if (term < row) {
        row = (Py_ssize_t)term;
    }
    if (starts[row] > starts[row + 1] || starts[row + 1] > (uint64_t)segment->postings)
        return OUT_OF_RANGE;
    span->ids = (const int32_t *)segment->doc_ids.buf + starts[row];
    span->impacts = (const uint16_t *)segment->impacts.buf + starts[row];
    span->count = starts[row + 1] - starts[row];
    return 0;
}

/* ---- The plan. */

typedef struct {
    int64_t term;
    double weight;
} Term;

typedef struct {
    size_t first, count; /* Terms. */
    int all;
} Group;

typedef struct {
    size_t first, count; /* Groups. */
    float context;
} Concept;

typedef struct {
    size_t concept;
    float weight;
} Share;

typedef struct {
    size_t first, count; /* Groups. */
    size_t first_share, shares;
    int alternatives;
    float limit;
} Part;

typedef struct {
    uint64_t full, partial, contrary;
    float reward, partial_reward, penalty;
} Condition;

typedef struct {
    Vector terms, groups, concepts, shares, parts, conditions;
    size_t others, exact, names, end; /* Groups: others, then exact and other name matches. */
    float share, most, least, growth, least_factor;
} Plan;

static void release_plan(Plan *plan) {
    Vector *vectors[] = {&plan->terms, &plan->groups, &plan->concepts, &plan->shares, &plan->parts, &plan->conditions};
    for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++)
        free(vectors[i]->items);
}

/* Read a list of (terms with weights, factor, whether a document must have all). Returns 0, or -1 with an error set. */
static int read_groups(PyObject *list, Plan *plan) {
    Py_ssize_t count = PyList_Size(list);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *terms, *term, *weight;
        double factor;
        Group *group = push(&plan->groups, sizeof(Group));
        if (group == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        group->first = plan->terms.count;
        group->count = 0;
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "Odp", &terms, &factor, &group->all))
            return -1;
        Py_ssize_t at = 0;
        if (!PyDict_Check(terms)) {
            PyErr_SetString(PyExc_TypeError, "terms are not a dict");
            return -1;
        }
        while (PyDict_Next(terms, &at, &term, &weight)) {
            Term *each = push(&plan->terms, sizeof(Term));
            if (each == NULL) {
                PyErr_NoMemory();
                return -1;
            }
            each->term = PyLong_AsLongLong(term);
            each->weight = PyFloat_AsDouble(weight) * factor;
            if (PyErr_Occurred())
                return -1;
            group->count++;
        }
    }
    return count < 0 ? -1 : 0;
}

static int read_concepts(PyObject *list, Plan *plan) {
    Py_ssize_t count = PyList_Size(list);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *groups;
        Concept *each = push(&plan->concepts, sizeof(Concept));
        if (each == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        each->first = plan->groups.count;
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "Of", &groups, &each->context) || read_groups(groups, plan) < 0)
            return -1;
        each->count = plan->groups.count - each->first;
    }
    return count < 0 ? -1 : 0;
}

static int read_parts(PyObject *list, Plan *plan) {
    Py_ssize_t count = PyList_Size(list);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *groups, *shares;
        Part *each = push(&plan->parts, sizeof(Part));
        if (each == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        each->first = plan->groups.count;
        each->first_share = plan->shares.count;
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "OpfO", &groups, &each->alternatives, &each->limit, &shares) ||
            read_groups(groups, plan) < 0)
            return -1;
        each->count = plan->groups.count - each->first;
        Py_ssize_t length = PyList_Size(shares);
        for (Py_ssize_t k = 0; k < length; k++) {
            Share *share = push(&plan->shares, sizeof(Share));
            Py_ssize_t concept;
            if (share == NULL) {
                PyErr_NoMemory();
                return -1;
            }
            if (!PyArg_ParseTuple(PyList_GetItem(shares, k), "nf", &concept, &share->weight))
                return -1;
            if (concept < 0 || (size_t)concept >= plan->concepts.count) {
                PyErr_SetString(PyExc_IndexError, "no such concept");
                return -1;
            }
            share->concept = (size_t)concept;
        }
        each->shares = plan->shares.count - each->first_share;
        if (length < 0)
            return -1;
    }
    return count < 0 ? -1 : 0;
}

static int read_conditions(PyObject *list, Plan *plan) {
    Py_ssize_t count = PyList_Size(list);
    for (Py_ssize_t i = 0; i < count; i++) {
        Condition *each = push(&plan->conditions, sizeof(Condition));
        unsigned long long full, partial, contrary;
        if (each == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "KKKfff", &full, &partial, &contrary, &each->reward,
                              &each->partial_reward, &each->penalty))
            return -1;
        each->full = full;
        each->partial = partial;
        each->contrary = contrary;
    }
    return count < 0 ? -1 : 0;
}

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

/* What is kept of a search until feedback is added: for each segment the documents, their scores with priors, and the
 * slots of those with a name that matches. */
typedef struct {
    Vector *docs, *named;
    float **scores;
    Py_ssize_t *documents; /* Of each segment: all numbers of documents are below it. */
    Py_ssize_t segments;
    Plan plan;
} State;

typedef struct {
    Scratch scratch;
    Vector *docs;
    Py_ssize_t documents;
    Vector group_slots, part_slots;
    uint16_t group_mark, part_mark;
    int status;
    uint8_t *registered; /* For feedback: a bit for each document that is registered, or NULL. */
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
    if (!(doc->flags & (MATCHED | WHOLE)) || !((const char *)segment->live.buf)[doc->id])
        return DEAD;
    float score = doc->matched;
    if (plan->parts.count > 1)
        score = score * (plan->least + doc->covered * plan->growth);
    if (doc->flags & WHOLE)
        score += doc->whole;
    float raised = score < plan->most ? score : plan->most;
    score = score + raised * (plan->share * ((const float *)segment->priors.buf)[doc->id]);
    if (plan->conditions.count)
        score = score * factor_of(plan, ((const uint64_t *)segment->facts.buf)[doc->id]);
    return score;
}

/* Set the scores of all documents. Returns the number of live ones, or NO_MEMORY. */
static Py_ssize_t finish(State *state, const Segments *segments) {
    Py_ssize_t count = 0;
    for (Py_ssize_t s = 0; s < segments->count; s++) {
        const Vector *docs = &state->docs[s];
        float *scores = realloc(state->scores[s], docs->count * sizeof(float) + 4);
        if (scores == NULL)
            return NO_MEMORY;
        state->scores[s] = scores;
        for (size_t i = 0; i < docs->count; i++) {
            scores[i] = score_of(&ITEM(*docs, Doc, i), &segments->items[s], &state->plan);
            count += scores[i] >= 0;
        }
    }
    return count;
}

#define DIGITS 11 /* Bits by which scores are counted at a time. */
#define BINS (1 << DIGITS)

/* Scores are not negative, so their order is that of their bits. */
static inline uint32_t bits_of(float score) {
    uint32_t bits;
    memcpy(&bits, &score, sizeof(bits));
    return bits & 0x7FFFFFFF;
}

/* Return the count-th greatest of the items, which are at least as many. They are moved. */
static uint32_t select_greatest(uint32_t *items, size_t held, size_t count) {
    uint32_t counts[BINS];
    for (int shift = 31 - DIGITS;; shift = shift > DIGITS ? shift - DIGITS : 0) {
        uint32_t bin = BINS;
        size_t kept = 0, above = 0;
        memset(counts, 0, sizeof(counts));
        for (size_t i = 0; i < held; i++)
            counts[items[i] >> shift & (BINS - 1)]++;
        do {
            count -= above;
            above = counts[--bin];
        } while (above < count);
        /* All items have equal bits above these. */
        for (size_t i = 0; i < held; i++)
            if ((items[i] >> shift & (BINS - 1)) == bin)
                items[kept++] = items[i];
        held = kept;
        if (shift == 0 || held == 1)
            return items[0];
    }
}

/* Return the count-th greatest score that is at most `below`, 0 if there are fewer, or NO_MEMORY. */
static float least_of_best(const State *state, size_t count, float below) {
    size_t held = 0, room = 1;
    for (Py_ssize_t s = 0; s < state->segments; s++)
        room += state->docs[s].count;
    uint32_t *items = malloc(room * sizeof(uint32_t));
    if (items == NULL)
        return NO_MEMORY;
    for (Py_ssize_t s = 0; s < state->segments; s++)
        for (size_t i = 0; i < state->docs[s].count; i++) {
            float score = state->scores[s][i];
            items[held] = bits_of(score);
            held += !(score < 0 || score > below);
        }
    float least = 0;
    if (count > 0 && held >= count) {
        uint32_t bits = select_greatest(items, held, count);
        memcpy(&least, &bits, sizeof(bits));
    }
    free(items);
    return least;
}

static void free_state(State *state) {
    for (Py_ssize_t s = 0; s < state->segments; s++) {
        free(state->docs[s].items);
        free(state->named[s].items);
        free(state->scores[s]);
    }
    free(state->docs);
    free(state->named);
    free(state->scores);
    free(state->documents);
    release_plan(&state->plan);
    free(state);
}

static void free_capsule(PyObject *capsule) {
    State *state = PyCapsule_GetPointer(capsule, CAPSULE);
    if (state != NULL)
        free_state(state);
}

static void *raise(int status) {
    if (PyErr_Occurred())
        return NULL;
    if (status == NO_MEMORY)
        PyErr_NoMemory();
    else
        PyErr_SetString(PyExc_IndexError, "no such term or document");
    return NULL;
}

static int score_all(Work *work, const Segments *segments, State *state, Vector *concepts) {
    Vector unused = {NULL, 0, 0};
    work->docs = &unused;
    int status = score_concepts(work, segments, &state->plan, concepts);
    free(unused.items);
    for (Py_ssize_t s = 0; s < segments->count && status == 0; s++) {
        work->docs = &state->docs[s];
        status = score_segment(work, &segments->items[s], &state->plan, concepts + s, (size_t)segments->count,
                               &state->named[s]);
    }
    return status;
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

/* Score the documents of all segments. Returns a state for the other functions, and the number of documents. */
static PyObject *match(PyObject *module, PyObject *args) {
    PyObject *segment_list, *concepts, *parts, *others, *exact, *names, *conditions, *result = NULL;
    Segments segments = {NULL, 0, 0};
    Work work = {0};
    Vector *found = NULL;
    Py_ssize_t count = 0;
    int status = FAILED;
    State *state = calloc(1, sizeof(State));
    if (state == NULL)
        return PyErr_NoMemory();
    Plan *plan = &state->plan;
    if (PyArg_ParseTuple(args, "OOOOOOOfffff", &segment_list, &concepts, &parts, &others, &exact, &names, &conditions,
                         &plan->share, &plan->most, &plan->least, &plan->growth, &plan->least_factor) &&
        read_segments(segment_list, &segments) == 0 && read_concepts(concepts, plan) == 0 &&
        read_parts(parts, plan) == 0 && read_conditions(conditions, plan) == 0) {
        plan->others = plan->groups.count;
        status = read_groups(others, plan);
        plan->exact = plan->groups.count;
        status = status < 0 ? status : read_groups(exact, plan);
        plan->names = plan->groups.count;
        status = status < 0 ? status : read_groups(names, plan);
        plan->end = plan->groups.count;
    }
    size_t pairs = plan->concepts.count * (size_t)segments.count;
    if (status == 0) {
        int64_t postings = count_postings(&segments, &plan->terms);
        state->docs = calloc((size_t)segments.count + 1, sizeof(Vector));
        state->named = calloc((size_t)segments.count + 1, sizeof(Vector));
        state->scores = calloc((size_t)segments.count + 1, sizeof(float *));
        state->documents = calloc((size_t)segments.count + 1, sizeof(Py_ssize_t));
        found = calloc(pairs + 1, sizeof(Vector));
        if (postings < 0) {
            status = OUT_OF_RANGE;
        } else if (state->docs == NULL || state->named == NULL || state->scores == NULL || state->documents == NULL ||
                   found == NULL) {
            status = NO_MEMORY;
        } else if ((status = take_scratch(&work.scratch, (size_t)segments.documents + 1)) == 0) {
            state->segments = segments.count;
            for (Py_ssize_t s = 0; s < segments.count; s++)
                state->documents[s] = segments.items[s].documents;
            PyThreadState *thread = postings > RELEASE ? PyEval_SaveThread() : NULL;
            status = score_all(&work, &segments, state, found);
            if (status == 0 && (count = finish(state, &segments)) < 0)
                status = NO_MEMORY;
            if (thread != NULL)
                PyEval_RestoreThread(thread);
            put_scratch(&work.scratch);
        }
    }
    if (status < 0) {
        raise(status);
    } else {
        PyObject *capsule = PyCapsule_New(state, CAPSULE, free_capsule);
        if (capsule != NULL) {
            state = NULL;
            result = Py_BuildValue("(Nn)", capsule, count);
        }
    }
    for (size_t i = 0; found != NULL && i < pairs; i++)
        free(found[i].items);
    free(found);
    free(work.group_slots.items);
    free(work.part_slots.items);
    release_segments(&segments);
    if (state != NULL)
        free_state(state);
    return result;
}

static State *state_of(PyObject *capsule, const Segments *segments) {
    State *state = PyCapsule_GetPointer(capsule, CAPSULE);
    int is_of = state != NULL && (segments == NULL || state->segments == segments->count);
    for (Py_ssize_t s = 0; is_of && segments != NULL && s < state->segments; s++)
        is_of = state->documents[s] == segments->items[s].documents;
    if (state != NULL && !is_of)
        PyErr_SetString(PyExc_ValueError, "the state is of other segments");
    return is_of ? state : NULL;
}

/* Add the postings of a term to the documents of a segment; to those that are registered, if there are bits of these. */
static int feed(Work *work, const Segment *segment, const Term *term) {
    /* Most postings are of other documents. The bits fit in the fastest cache, the cells do not. */
    const uint8_t *registered = work->registered;
    Span span;
    float weight = (float)term->weight;
    if (span_of(segment, term->term, &span) < 0)
        return work->status = OUT_OF_RANGE;
    for (size_t at = 0; at < span.count; at++) {
        int32_t id = span.ids[at];
        if ((uint32_t)id >= (uint64_t)work->documents)
            return work->status = OUT_OF_RANGE;
        if (registered != NULL && !(registered[id >> 3] >> (id & 7) & 1))
            continue;
        Doc *doc = doc_of(work, id);
        if (doc == NULL)
            return work->status;
        float value = weight * ((float)span.impacts[at] * IMPACT_SCALE);
        doc->group = doc->flags & FED ? doc->group + value : value;
        doc->flags |= FED;
    }
    return 0;
}

/* Register the documents with at least this score, and add the terms to them. */
static int feed_segment(Work *work, const Segment *segment, const float *scores, const Vector *terms, float least,
                        int known_only) {
    size_t count = work->docs->count;
    work->documents = segment->documents;
    work->registered = known_only ? calloc((size_t)segment->documents / 8 + 1, 1) : NULL;
    if (known_only && work->registered == NULL)
        return work->status = NO_MEMORY;
    renew(&work->scratch);
    for (size_t i = 0; i < count; i++) {
        if (known_only && scores[i] < least)
            continue;
        Doc *doc = &ITEM(*work->docs, Doc, i);
        Cell *cell = &work->scratch.cells[doc->id];
        cell->stamp = work->scratch.stamp;
        cell->slot = (uint32_t)i;
        if (known_only)
            work->registered[doc->id >> 3] |= (uint8_t)(1 << (doc->id & 7));
    }
    for (size_t t = 0; t < terms->count && work->status == 0; t++)
        feed(work, segment, &ITEM(*terms, Term, t));
    free(work->registered);
    work->registered = NULL;
    return work->status;
}

/* Add the noted score of feedback to a document. */
static void apply(Doc *doc, float share, float *score, const Segment *segment, const Plan *plan) {
    if (doc->flags & FED) {
        doc->flags &= ~(uint32_t)FED;
        add_evidence(doc, doc->group * share, 0);
        *score = score_of(doc, segment, plan);
    }
}

/* Add terms to the documents of all segments; to the `best` ones only, unless that is 0. */
static int feed_all(Work *work, const Segments *segments, State *state, const Vector *terms, double max_score,
                    size_t best) {
    float most = 0, least = best ? least_of_best(state, best, INFINITY) : 0;
    if (least < 0)
        return NO_MEMORY;
    for (Py_ssize_t s = 0; s < segments->count; s++) {
        size_t count = state->docs[s].count;
        work->docs = &state->docs[s];
        if (feed_segment(work, &segments->items[s], state->scores[s], terms, least, best > 0) < 0)
            return work->status;
        for (size_t i = 0; i < work->docs->count; i++) {
            if (best && i < count && state->scores[s][i] < least)
                continue;
            const Doc *doc = &ITEM(*work->docs, Doc, i);
            if (doc->flags & FED && doc->group > most)
                most = doc->group;
        }
    }
    float share = most > 0 ? (float)(max_score / (double)most) : 0.0f;
    for (Py_ssize_t s = 0; s < segments->count; s++) {
        Vector *docs = &state->docs[s];
        const Vector *named = &state->named[s];
        float *scores = state->scores[s];
        if (best == 0 && (scores = realloc(scores, docs->count * sizeof(float) + 4)) == NULL)
            return NO_MEMORY;
        state->scores[s] = scores;
        /* A name match is stronger evidence than similarity. */
        for (size_t i = 0; i < named->count; i++) {
            ITEM(*docs, Doc, ITEM(*named, uint32_t, i)).flags |= FED;
            ITEM(*docs, Doc, ITEM(*named, uint32_t, i)).group = most;
        }
        for (size_t i = 0; i < docs->count; i++)
            if (best == 0 || scores[i] >= least)
                apply(&ITEM(*docs, Doc, i), share, &scores[i], &segments->items[s], &state->plan);
        for (size_t i = 0; i < named->count; i++) {
            uint32_t slot = ITEM(*named, uint32_t, i);
            apply(&ITEM(*docs, Doc, slot), share, &scores[slot], &segments->items[s], &state->plan);
        }
    }
    return 0;
}

/* Add terms with weights to the scores: the most similar document gets `max_score`. Returns None.
 *
 * Only the `best` documents get a score, and those with a name that matches. With 0, all do, and others are added. */
static PyObject *add(PyObject *module, PyObject *args) {
    PyObject *capsule, *segment_list, *pairs, *result = NULL;
    Segments segments = {NULL, 0, 0};
    Work work = {0};
    Vector terms = {NULL, 0, 0};
    double max_score;
    int status = FAILED;
    Py_ssize_t best = 0;
    State *state = NULL;
    if (PyArg_ParseTuple(args, "OOOdn", &capsule, &segment_list, &pairs, &max_score, &best) &&
        read_segments(segment_list, &segments) == 0 && (state = state_of(capsule, &segments)) != NULL) {
        Py_ssize_t count = PyList_Size(pairs);
        status = count < 0 ? FAILED : best < 0 ? OUT_OF_RANGE : 0;
        for (Py_ssize_t i = 0; i < count && status == 0; i++) {
            Term *each = push(&terms, sizeof(Term));
            long long term;
            if (each == NULL) {
                status = NO_MEMORY;
            } else if (!PyArg_ParseTuple(PyList_GetItem(pairs, i), "Ld", &term, &each->weight)) {
                status = FAILED;
            } else {
                each->term = term;
            }
        }
    }
    if (status == 0) {
        int64_t postings = count_postings(&segments, &terms);
        status = postings < 0 ? OUT_OF_RANGE : take_scratch(&work.scratch, (size_t)segments.documents + 1);
        if (status == 0) {
            PyThreadState *thread = postings > RELEASE ? PyEval_SaveThread() : NULL;
            status = feed_all(&work, &segments, state, &terms, max_score, (size_t)best);
            if (thread != NULL)
                PyEval_RestoreThread(thread);
            put_scratch(&work.scratch);
        }
    }
    if (status < 0) {
        raise(status);
    } else {
        result = Py_None;
        Py_INCREF(result);
    }
    free(terms.items);
    release_segments(&segments);
    return result;
}

/* Return a list of (document numbers, scores) of the live documents of each segment. */
static PyObject *results(PyObject *module, PyObject *capsule) {
    const State *state = state_of(capsule, NULL);
    PyObject *list = state ? PyList_New(state->segments) : NULL;
    for (Py_ssize_t s = 0; list != NULL && s < state->segments; s++) {
        size_t count = state->docs[s].count;
        int32_t *ids = malloc(count * 4 + 4);
        float *scores = malloc(count * 4 + 4);
        PyObject *both = NULL;
        if (ids == NULL || scores == NULL) {
            PyErr_NoMemory();
        } else {
            Py_ssize_t at = 0;
            for (size_t i = 0; i < count; i++)
                if (state->scores[s][i] >= 0) {
                    ids[at] = ITEM(state->docs[s], Doc, i).id;
                    scores[at++] = state->scores[s][i];
                }
            both = Py_BuildValue("(y#y#)", (const char *)ids, at * 4, (const char *)scores, at * 4);
        }
        free(ids);
        free(scores);
        if (both == NULL || PyList_SetItem(list, s, both) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* Return (score, segment, document) of the `count` best documents with a score of at most `below`, in any order.
 *
 * All that are equal to the last one or to `below` are among them. */
static PyObject *best(PyObject *module, PyObject *args) {
    PyObject *capsule, *list = NULL;
    Py_ssize_t count;
    float below;
    const State *state;
    if (!PyArg_ParseTuple(args, "Onf", &capsule, &count, &below) || (state = state_of(capsule, NULL)) == NULL)
        return NULL;
    if (count < 0 || count > MAX_DOCUMENTS) {
        PyErr_SetString(PyExc_ValueError, "count is out of range");
        return NULL;
    }
    for (Py_ssize_t s = 0; s < state->segments; s++)
        for (size_t i = 0; i < state->docs[s].count; i++)
            count += state->scores[s][i] == below;
    float least = least_of_best(state, (size_t)count, below);
    if (least < 0)
        return PyErr_NoMemory();
    list = PyList_New(0);
    for (Py_ssize_t s = 0; list != NULL && s < state->segments; s++)
        for (size_t i = 0; list != NULL && i < state->docs[s].count; i++) {
            float score = state->scores[s][i];
            if (score < least || score > below)
                continue;
            PyObject *hit = Py_BuildValue("(dni)", (double)score, s, ITEM(state->docs[s], Doc, i).id);
            if (hit == NULL || PyList_Append(list, hit) < 0)
                Py_CLEAR(list);
            Py_XDECREF(hit);
        }
    return list;
}

/* ---- The terms that the first hits have in common. */

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

/* Fill `hits` with the first documents in order. Returns their number. */
static size_t first_hits(const State *state, Hit *hits, size_t most) {
    size_t count = 0;
    for (Py_ssize_t s = 0; s < state->segments; s++)
        for (size_t i = 0; i < state->docs[s].count; i++) {
            float score = state->scores[s][i];
            if (score < 0 || (count == most && score < hits[count - 1].score))
                continue;
            Hit hit = {score, ITEM(state->docs[s], Doc, i).id, s};
            if (count == most && !is_before(&hit, &hits[count - 1]))
                continue;
            size_t at = count < most ? count++ : count - 1;
            for (; at > 0 && is_before(&hit, &hits[at - 1]); at--)
                hits[at] = hits[at - 1];
            hits[at] = hit;
        }
    return count;
}

typedef struct {
    int64_t term;
    int hits; /* 0 for a place without a term. */
    double weight;
} Shared;

#define MAX_HITS 16
#define MAX_TERMS 64

/* The terms of hits by their hash, and the places that are used. */
typedef struct {
    Shared items[TABLE];
    uint16_t used[MAX_HITS * MAX_TERMS];
    size_t count;
} Table;

static int by_weight(const void *one, const void *other) {
    const Shared *a = one, *b = other;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return (a->term > b->term) - (a->term < b->term);
}

/* The columns `top_terms`, `top_impacts`, `top_starts` and `described` of a segment. */
typedef struct {
    Py_buffer terms, impacts, starts, described;
} Tops;

static int read_tops(PyObject *columns, Tops *tops) {
    return PyArg_ParseTuple(columns, "y*y*y*y*", &tops->terms, &tops->impacts, &tops->starts, &tops->described) ? 0 : -1;
}

static void release_tops(Tops *tops) {
    PyBuffer_Release(&tops->terms);
    PyBuffer_Release(&tops->impacts);
    PyBuffer_Release(&tops->starts);
    PyBuffer_Release(&tops->described);
}

/* Find the first and the last place of the terms of a document, and how many of them are described. Returns 0 or -1. */
static int top_places(const Tops *tops, int32_t id, int64_t *first, int64_t *last, int *described) {
    const int64_t *at = tops->starts.buf;
    if ((Py_ssize_t)id + 1 >= tops->starts.len / 8 || (Py_ssize_t)id >= tops->described.len / 2 || at[id] < 0 ||
        at[id] > at[id + 1] || at[id + 1] > tops->terms.len / 4 || at[id + 1] > tops->impacts.len / 2 ||
        at[id + 1] - at[id] > MAX_TERMS || ((const uint16_t *)tops->described.buf)[id] > at[id + 1] - at[id])
        return -1;
    *first = at[id];
    *last = at[id + 1];
    *described = ((const uint16_t *)tops->described.buf)[id];
    return 0;
}

/* Return the number of documents of all segments with a term, or OUT_OF_RANGE. */
static Py_ssize_t frequency_of(const Segments *segments, int64_t term) {
    Py_ssize_t frequency = 0;
    for (Py_ssize_t s = 0; s < segments->count; s++) {
        Span span;
        if (span_of(&segments->items[s], term, &span) < 0)
            return OUT_OF_RANGE;
        frequency += (Py_ssize_t)span.count;
    }
    return frequency;
}

static double idf_of(Py_ssize_t frequency, Py_ssize_t documents) {
    return log(1 + ((double)(documents - frequency) + 0.5) / ((double)frequency + 0.5));
}

/* Add the terms of a hit to a table. Returns 0, or -1 with an error set. */
static int add_terms(PyObject *columns, const Hit *hit, float share, Table *table) {
    Tops tops;
    int64_t first, last;
    int described, status;
    if (read_tops(columns, &tops) < 0)
        return -1;
    status = top_places(&tops, hit->id, &first, &last, &described);
    if (status < 0)
        PyErr_SetString(PyExc_ValueError, "columns differ in length");
    for (int64_t i = first; status == 0 && i < last; i++) {
        int64_t term = ((const int32_t *)tops.terms.buf)[i];
        float weight = (float)((const uint16_t *)tops.impacts.buf)[i] * IMPACT_SCALE * share;
        uint32_t place = (uint32_t)term * 2654435761u % TABLE;
        /* There are fewer terms than places. */
        while (table->items[place].hits && table->items[place].term != term)
            place = (place + 1) % TABLE;
        Shared *each = &table->items[place];
        if (each->hits++ == 0)
            table->used[table->count++] = (uint16_t)place;
        each->term = term;
        each->weight += (double)weight;
    }
    release_tops(&tops);
    return status;
}

/* Return the best score and the (term, weight) pairs that some of the first hits share; None for too few hits. */
static PyObject *shared(PyObject *module, PyObject *args) {
    PyObject *capsule, *segment_list, *columns, *list, *result = NULL;
    Segments segments = {NULL, 0, 0};
    Py_ssize_t most, least_hits, least_frequency, documents;
    const State *state;
    Hit hits[MAX_HITS];
    Shared found[MAX_HITS * MAX_TERMS];
    Table *table = calloc(1, sizeof(Table));
    if (table == NULL)
        return PyErr_NoMemory();
    if (!PyArg_ParseTuple(args, "OOOnnnn", &capsule, &segment_list, &columns, &most, &least_hits, &least_frequency,
                          &documents) ||
        read_segments(segment_list, &segments) < 0 || (state = state_of(capsule, &segments)) == NULL)
        goto done;
    if (most < 1 || most > MAX_HITS || PyList_Size(columns) != state->segments) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "the number of hits or columns is out of range");
        goto done;
    }
    if (first_hits(state, hits, (size_t)most) < (size_t)most) {
        result = Py_None;
        Py_INCREF(result);
        goto done;
    }
    double sum = 0;
    for (Py_ssize_t i = 0; i < most; i++)
        sum += hits[i].score;
    for (Py_ssize_t i = 0; i < most; i++)
        if (add_terms(PyList_GetItem(columns, hits[i].segment), &hits[i], hits[i].score / (float)sum, table) < 0)
            goto done;
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        Shared each = table->items[table->used[i]];
        if (each.hits < least_hits)
            continue;
        Py_ssize_t frequency = frequency_of(&segments, each.term);
        if (frequency < 0) {
            raise(OUT_OF_RANGE);
            goto done;
        }
        each.weight *= idf_of(frequency, documents);
        if (frequency >= least_frequency && each.weight > 0)
            found[count++] = each;
    }
    qsort(found, count, sizeof(Shared), by_weight);
    list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *pair = Py_BuildValue("(Ld)", (long long)found[i].term, found[i].weight);
        if (pair == NULL || PyList_SetItem(list, (Py_ssize_t)i, pair) < 0)
            Py_CLEAR(list);
    }
    if (list != NULL)
        result = Py_BuildValue("(dN)", (double)hits[0].score, list);
done:
    free(table);
    release_segments(&segments);
    return result;
}

/* ---- The share of a description that the query has. */

/* Return a bit for each term, set for those of concepts, parts and other evidence of a plan; or NULL. */
static uint8_t *terms_of(const Plan *plan, int64_t *size) {
    const Group *groups = plan->groups.items;
    size_t count = plan->exact ? groups[plan->exact - 1].first + groups[plan->exact - 1].count : 0;
    int64_t most = -1;
    for (size_t i = 0; i < count; i++)
        if (ITEM(plan->terms, Term, i).term > most)
            most = ITEM(plan->terms, Term, i).term;
    /* Terms were looked up by `match`: they are no longer than the vocabulary. */
    uint8_t *bits = calloc((size_t)(most / 8) + 2, 1);
    for (size_t i = 0; bits != NULL && i < count; i++)
        bits[ITEM(plan->terms, Term, i).term / 8] |= (uint8_t)(1u << (ITEM(plan->terms, Term, i).term % 8));
    *size = most + 1;
    return bits;
}

/* Raise the scores of the documents of a segment with at least the score `least`. Returns 0, or FAILED. */
static int raise_focused(PyObject *columns, const Segments *segments, State *state, Py_ssize_t number, float least,
                         float most, Py_ssize_t documents) {
    Tops tops;
    int64_t first, last, size;
    int described, status = 0;
    uint8_t *bits = terms_of(&state->plan, &size);
    if (bits == NULL)
        return NO_MEMORY;
    if (read_tops(columns, &tops) < 0) {
        free(bits);
        return FAILED;
    }
    for (size_t i = 0; i < state->docs[number].count && status == 0; i++) {
        float *score = &state->scores[number][i];
        double all = 0, found = 0;
        if (*score < 0 || *score < least)
            continue;
        if (top_places(&tops, ITEM(state->docs[number], Doc, i).id, &first, &last, &described) < 0) {
            PyErr_SetString(PyExc_ValueError, "columns differ in length");
            status = FAILED;
            break;
        }
        for (int64_t place = first; place < first + described; place++) {
            int64_t term = ((const int32_t *)tops.terms.buf)[place];
            Py_ssize_t frequency = frequency_of(segments, term);
            if (frequency < 0) {
                status = OUT_OF_RANGE;
                break;
            }
            double idf = idf_of(frequency, documents);
            all += idf;
            if (term < size && bits[term / 8] >> (term % 8) & 1)
                found += idf;
        }
        if (found > 0)
            *score *= 1 + most * (float)sqrt(found / all);
    }
    release_tops(&tops);
    free(bits);
    return status;
}

static size_t count_from(const State *state, float least) {
    size_t count = 0;
    for (Py_ssize_t s = 0; s < state->segments; s++)
        for (size_t i = 0; i < state->docs[s].count; i++)
            count += state->scores[s][i] >= 0 && state->scores[s][i] >= least;
    return count;
}

/* Raise the scores of the `count` best documents: by `most` times themselves for a description that the query covers.
 *
 * Those equal to the last one are raised too, unless there are too many. */
static PyObject *focus(PyObject *module, PyObject *args) {
    PyObject *capsule, *segment_list, *columns, *result = NULL;
    Segments segments = {NULL, 0, 0};
    Py_ssize_t count, documents;
    float most;
    State *state;
    if (PyArg_ParseTuple(args, "OOOnfn", &capsule, &segment_list, &columns, &count, &most, &documents) &&
        read_segments(segment_list, &segments) == 0 && (state = state_of(capsule, &segments)) != NULL) {
        int status = 0;
        if (count < 1 || PyList_Size(columns) != state->segments) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "the number of hits or columns is out of range");
            status = FAILED;
        }
        float least = status == 0 ? least_of_best(state, (size_t)count, INFINITY) : 0;
        if (least < 0)
            status = NO_MEMORY;
        if (status == 0 && count_from(state, least) > 2 * (size_t)count)
            least = nextafterf(least, INFINITY);
        for (Py_ssize_t s = 0; s < segments.count && status == 0; s++)
            status = raise_focused(PyList_GetItem(columns, s), &segments, state, s, least, most, documents);
        if (status < 0) {
            raise(status);
        } else {
            result = Py_None;
            Py_INCREF(result);
        }
    }
    release_segments(&segments);
    return result;
}

MODULE(_ranking, VERSION, "Scores of the documents of a plan, compiled.",
    {"match", match, METH_VARARGS, "Score the documents of a plan."},
    {"shared", shared, METH_VARARGS, "Find the terms that the first hits have in common."},
    {"add", add, METH_VARARGS, "Add the scores of terms."},
    {"focus", focus, METH_VARARGS, "Raise documents whose descriptions the query covers."},
    {"best", best, METH_VARARGS, "Return the best documents."},
    {"results", results, METH_O, "Return the documents and scores of each segment."})
