/* The memory of a search, and what is kept of it for the next one: new memory is slow at its first use. */

#include "engine.h"

#define RELEASE 20000 /* Postings from which other threads run meanwhile. */
#define KEPT (4 << 20) /* Bytes that are kept for the next search, */
#define KEPT_EACH 64   /* and those for each document. */
#define LEAST_TABLE 64 /* Places of the smallest table of terms, a power of two. */

/* States that no search uses, for as many searches as run at once: two in threads, and one of the reactor. They are
 * taken and put back with the interpreter lock held. */
#define IDLE 3
static State *idle_states[IDLE];

/* Make room for at least `capacity` items. Returns 0, or -1 without memory. */
int reserve(Vector *vector, size_t capacity, size_t size) {
    if (vector->capacity < capacity || vector->items == NULL) {
        size_t most = vector->capacity * 2 > capacity ? vector->capacity * 2 : capacity;
        void *items = realloc(vector->items, (most ? most : 1) * size);
        if (items == NULL)
            return -1;
        vector->items = items;
        vector->capacity = most;
    }
    return 0;
}

/* Make room for at least `capacity` items, all of them zeros at first. Returns 0, or -1 without memory. */
int reserve_zeros(Vector *vector, size_t capacity, size_t size) {
    size_t before = vector->capacity;
    if (reserve(vector, capacity, size) < 0)
        return -1;
    memset((char *)vector->items + before * size, 0, (vector->capacity - before) * size);
    return 0;
}

static void free_state(State *state) {
    Vector *vectors[] = {&state->group_slots, &state->part_slots, &state->matches, &state->concepts, &state->items,
                         &state->hits,        &state->table,      &state->feedback, &state->sums};
    for (size_t i = 0; i < state->matches.capacity; i++) {
        free(MATCHES(state, i)->docs.items);
        free(MATCHES(state, i)->scores.items);
        free(MATCHES(state, i)->named.items);
    }
    for (size_t i = 0; i < state->concepts.capacity; i++)
        free(ITEM(state->concepts, Vector, i).items);
    for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++)
        free(vectors[i]->items);
    free(state->cells);
    free(state);
}

/* Return about the bytes that a state holds. */
static size_t size_of(const State *state) {
    size_t size = 0;
    for (size_t i = 0; i < state->matches.capacity; i++)
        size += MATCHES(state, i)->docs.capacity * sizeof(Doc) + MATCHES(state, i)->scores.capacity * sizeof(float);
    for (size_t i = 0; i < state->concepts.capacity; i++)
        size += ITEM(state->concepts, Vector, i).capacity * sizeof(Posting);
    return size + state->table.capacity * sizeof(Shared);
}

/* Put back the memory of a search, and release its plan. The interpreter lock is held. */
void put_state(State *state) {
    release_plan(&state->plan);
    if (size_of(state) <= KEPT + KEPT_EACH * (size_t)state->segments->total)
        for (int i = 0; i < IDLE; i++)
            if (idle_states[i] == NULL) {
                idle_states[i] = state;
                return;
            }
    free_state(state);
}

/* Make room for the documents of all segments. Returns 0, or -1 without memory. */
static int make_room(State *state, size_t lists) {
    size_t documents = (size_t)state->segments->most + 1;
    if (state->cell_count < documents) {
        free(state->cells);
        state->cells = calloc(documents, sizeof(Cell));
        state->cell_count = state->cells != NULL ? documents : 0;
        state->stamp = 0;
    }
    if (state->cells == NULL || reserve_zeros(&state->sums, documents, sizeof(float)) < 0 ||
        reserve_zeros(&state->matches, (size_t)state->segments->count, sizeof(Matches)) < 0)
        return -1;
    return reserve_zeros(&state->concepts, lists, sizeof(Vector));
}

/* Take memory for a search of these segments with a plan, which it releases. Returns NULL with an error set. */
State *take_state(const Segments *segments, const Plan *plan) {
    State *state = NULL;
    for (int i = 0; i < IDLE && state == NULL; i++) {
        state = idle_states[i];
        idle_states[i] = NULL;
    }
    if (state == NULL && (state = calloc(1, sizeof(State))) == NULL) {
        Plan released = *plan;
        release_plan(&released);
        PyErr_NoMemory();
        return NULL;
    }
    size_t lists = (size_t)plan->concept_count * (size_t)segments->count;
    state->segments = segments;
    state->plan = *plan;
    if (make_room(state, lists) < 0) {
        put_state(state);
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t s = 0; s < segments->count; s++)
        MATCHES(state, s)->docs.count = MATCHES(state, s)->named.count = 0;
    for (size_t i = 0; i < lists; i++)
        ITEM(state->concepts, Vector, i).count = 0;
    state->group_slots.count = state->part_slots.count = 0;
    state->group_mark = state->part_mark = 0;
    state->status = 0;
    state->floor = 0;
    state->above = 0;
    return state;
}

/* Let other threads run during work on so many postings, until `hold`. */
void let_go(State *state, int64_t postings) {
    if (postings > RELEASE && state->thread == NULL)
        state->thread = PyEval_SaveThread();
}

void hold(State *state) {
    if (state->thread != NULL)
        PyEval_RestoreThread(state->thread);
    state->thread = NULL;
}

/* Begin to collect the documents of a segment: none has a place yet. */
void next_segment(State *state, Py_ssize_t number) {
    state->documents = state->segments->items[number].documents;
    if (++state->stamp == 0) {
        memset(state->cells, 0, state->cell_count * sizeof(Cell));
        state->stamp = 1;
    }
}

/* Empty a table, and make room for so many terms. Returns 0, or -1 without memory. */
int clear_table(Vector *table, size_t terms) {
    size_t places = LEAST_TABLE;
    while (places < 2 * terms)
        places *= 2;
    if (reserve(table, places, sizeof(Shared)) < 0)
        return -1;
    table->count = places;
    memset(table->items, 0, places * sizeof(Shared));
    return 0;
}

/* Return the place of a term in a table, which is empty if the table does not have it. */
Shared *place_of(const Vector *table, int32_t term) {
    Shared *items = table->items;
    size_t place = (uint32_t)term * 2654435761u & (table->count - 1);
    while (items[place].hits && items[place].term != term)
        place = (place + 1) & (table->count - 1);
    return &items[place];
}
