/* The memory of a search in the compiled module of the ranking, and what is kept of it for the next one. */

#ifndef DIRECTORY_SERVER_SEARCH_STATE_H
#define DIRECTORY_SERVER_SEARCH_STATE_H

#include "documents.h"

#define TABLE 2048     /* Places for the terms of the first hits, a power of two. */
#define MAX_HITS 16    /* First hits whose terms are compared. */
#define KEPT (4 << 20) /* Bytes that are kept for the next search, */
#define KEPT_EACH 64   /* and those for each document: new memory is slow at its first use. */

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

/* States that no search uses, for as many searches as run at once: two in threads, and one of the reactor. They are
 * taken and put back with the interpreter lock held. */
#define IDLE 3
static State *idle_states[IDLE];

#define MATCHES(state, number) (&ITEM((state)->matches, Matches, number))

static void free_state(State *state) {
    Vector *vectors[] = {&state->work.group_slots, &state->work.part_slots, &state->items,
                         &state->registered,       &state->feedback,        &state->sums};
    for (size_t i = 0; i < state->matches.capacity; i++) {
        free(MATCHES(state, i)->docs.items);
        free(MATCHES(state, i)->scores.items);
        free(MATCHES(state, i)->named.items);
    }
    for (size_t i = 0; i < state->concepts.capacity; i++)
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
    for (size_t i = 0; i < state->matches.capacity; i++)
        size += MATCHES(state, i)->docs.capacity * sizeof(Doc) + MATCHES(state, i)->scores.capacity * sizeof(float);
    for (size_t i = 0; i < state->concepts.capacity; i++)
        size += ITEM(state->concepts, Vector, i).capacity * sizeof(Posting);
    return size + state->plan.terms.capacity * sizeof(Term);
}

/* Make room for at least `capacity` items, all of them zeros at first. Returns 0, or -1 without memory. */
static int reserve_zeros(Vector *vector, size_t capacity, size_t size) {
    size_t before = vector->capacity;
    if (reserve(vector, capacity, size) < 0)
        return -1;
    memset((char *)vector->items + before * size, 0, (vector->capacity - before) * size);
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

#endif
