/* The segments of a collection: their columns, postings and frequencies. */

#include "engine.h"

#define NAME "directory_server.search._engine.segments"
#define FREQUENCY_BITS 13 /* Of the number of terms whose frequency is cached. */

static void free_segments(Segments *segments) {
    for (Py_ssize_t i = 0; i < segments->count; i++) {
        for (size_t b = 0; b < COLUMNS; b++)
            PyBuffer_Release(&segments->items[i].columns[b]);
        free((void *)segments->items[i].lengths);
    }
    RELEASE_BUFFERS(&segments->data, &segments->offsets);
    free(segments->items);
    free((void *)segments->frequencies);
    free(segments);
}

static void free_capsule(PyObject *capsule) { free_segments(PyCapsule_GetPointer(capsule, NAME)); }

/* Return the segments in a capsule, or NULL with an error set. */
Segments *segments_of(PyObject *capsule) { return PyCapsule_GetPointer(capsule, NAME); }

/* Read the column `name` of items of a size. Returns its number of items, or -1 with an error set. */
static Py_ssize_t read_column(PyObject *columns, const char *name, Py_buffer *into, Py_ssize_t size) {
    PyObject *column = PyMapping_GetItemString(columns, name);
    Py_ssize_t count = -1;
    if (column == Py_None)
        count = 0;
    else if (column != NULL && PyObject_GetBuffer(column, into, PyBUF_SIMPLE) == 0)
        count = into->len / size;
    Py_XDECREF(column);
    return count;
}

/* Read the columns of a segment, of which `known` may be None. Returns 0, or -1 with an error set. */
static int read_segment(PyObject *columns, Segment *segment) {
    enum { STARTS, DOC_IDS, IMPACTS, KNOWN, LIVE, PRIORS, FACTS, TOP_TERMS, TOP_IMPACTS, TOP_STARTS, DESCRIBED };
    static const struct {
        const char *name;
        Py_ssize_t size;
    } kinds[COLUMNS] = {
        [STARTS] = {"starts", 4},           [DOC_IDS] = {"doc_ids", 4},         [IMPACTS] = {"impacts", 2},
        [KNOWN] = {"known", 4},             [LIVE] = {"live", 1},               [PRIORS] = {"priors", 4},
        [FACTS] = {"facts", 8},             [TOP_TERMS] = {"top_terms", 4},     [TOP_IMPACTS] = {"top_impacts", 2},
        [TOP_STARTS] = {"top_starts", 8},   [DESCRIBED] = {"described", 2},
    };
    Py_ssize_t lengths[COLUMNS];
    for (int b = 0; b < COLUMNS; b++)
        if ((lengths[b] = read_column(columns, kinds[b].name, &segment->columns[b], kinds[b].size)) < 0)
            return -1;
    segment->starts = segment->columns[STARTS].buf;
    segment->doc_ids = segment->columns[DOC_IDS].buf;
    segment->impacts = segment->columns[IMPACTS].buf;
    segment->known = segment->columns[KNOWN].buf;
    segment->live = segment->columns[LIVE].buf;
    segment->priors = segment->columns[PRIORS].buf;
    segment->facts = segment->columns[FACTS].buf;
    segment->top_terms = segment->columns[TOP_TERMS].buf;
    segment->top_impacts = segment->columns[TOP_IMPACTS].buf;
    segment->top_starts = segment->columns[TOP_STARTS].buf;
    segment->described = segment->columns[DESCRIBED].buf;
    segment->rows = lengths[STARTS] - 1;
    segment->postings = lengths[DOC_IDS];
    segment->documents = lengths[LIVE];
    segment->tops = lengths[TOP_TERMS];
    segment->terms = segment->known != NULL ? lengths[KNOWN] : segment->rows - 1;
    if (segment->rows < 1 || lengths[IMPACTS] != segment->postings || lengths[PRIORS] != segment->documents ||
        lengths[FACTS] != segment->documents || segment->documents > MAX_DOCUMENTS ||
        segment->terms >= segment->rows || lengths[TOP_IMPACTS] != segment->tops ||
        lengths[TOP_STARTS] != segment->documents + 1 || lengths[DESCRIBED] != segment->documents) {
        PyErr_SetString(PyExc_ValueError, "columns differ in length");
        return -1;
    }
    segment->lengths = calloc((size_t)segment->documents + 1, sizeof(double));
    if (segment->lengths == NULL)
        PyErr_NoMemory();
    return segment->lengths == NULL ? -1 : 0;
}

/* segments(columns, data, offsets): read a list of the columns of segments, by name, and the strings of terms.
 *
 * The columns must not change while the result is used. */
PyObject *read_segments(PyObject *module, PyObject *args) {
    PyObject *list;
    Segments *segments = calloc(1, sizeof(Segments));
    if (segments == NULL)
        return PyErr_NoMemory();
    if (!PyArg_ParseTuple(args, "Oy*y*", &list, &segments->data, &segments->offsets)) {
        free(segments);
        return NULL;
    }
    Py_ssize_t count = PyList_Size(list);
    int status = count < 0 ? -1 : read_strings(&segments->strings, &segments->data, &segments->offsets);
    segments->items = status < 0 ? NULL : calloc((size_t)count + 1, sizeof(Segment));
    segments->frequencies = calloc((size_t)1 << FREQUENCY_BITS, sizeof(uint64_t));
    if (status == 0 && (segments->items == NULL || segments->frequencies == NULL)) {
        PyErr_NoMemory();
        status = -1;
    }
    for (Py_ssize_t i = 0; i < count && status == 0; i++) {
        Segment *segment = &segments->items[i];
        segments->count = i + 1;
        status = read_segment(PyList_GetItem(list, i), segment);
        if (segment->documents > segments->most)
            segments->most = segment->documents;
        segments->total += segment->documents;
    }
    PyObject *capsule = status < 0 ? NULL : PyCapsule_New(segments, NAME, free_capsule);
    if (capsule == NULL)
        free_segments(segments);
    return capsule;
}

/* Return the first place of sorted numbers, from 0 to `count`, whose number is not below `wanted`. */
size_t place_among(const int32_t *numbers, size_t count, int32_t wanted) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (numbers[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Find the postings of a term in a segment. Returns 0, or OUT_OF_RANGE. */
int span_of(const Segment *segment, int64_t term, Span *span) {
    Py_ssize_t row = segment->rows - 1;
    if (term < 0)
        return OUT_OF_RANGE;
    if (segment->known != NULL) {
        size_t place = term <= INT32_MAX ? place_among(segment->known, (size_t)segment->terms, (int32_t)term) : 0;
        if ((Py_ssize_t)place < segment->terms && segment->known[place] == term)
            row = (Py_ssize_t)place;
    } else if (term < row) {
        row = (Py_ssize_t)term;
    }
    uint32_t first = segment->starts[row], end = segment->starts[row + 1];
    if (first > end || end > (uint64_t)segment->postings)
        return OUT_OF_RANGE;
    span->ids = segment->doc_ids + first;
    span->impacts = segment->impacts + first;
    span->count = end - first;
    return 0;
}

/* Return the number of documents of all segments with a term, or OUT_OF_RANGE. */
Py_ssize_t count_documents(const Segments *segments, int64_t term) {
    Py_ssize_t frequency = 0;
    for (Py_ssize_t s = 0; s < segments->count; s++) {
        Span span;
        if (span_of(&segments->items[s], term, &span) < 0)
            return OUT_OF_RANGE;
        frequency += (Py_ssize_t)span.count;
    }
    return frequency;
}

/* Return the same, from a cache: documents share most words. Other threads may do the same at the same time. */
Py_ssize_t frequency_of(const Segments *segments, int32_t term) {
    if (term < 0)
        return OUT_OF_RANGE;
    _Atomic(uint64_t) *place = &segments->frequencies[(uint32_t)term * 2654435761u >> (32 - FREQUENCY_BITS)];
    uint64_t found = atomic_load_explicit(place, memory_order_relaxed), key = ((uint64_t)term + 1) << 32;
    if ((found ^ key) <= UINT32_MAX)
        return (Py_ssize_t)(found & UINT32_MAX);
    Py_ssize_t frequency = count_documents(segments, term);
    if (frequency >= 0 && frequency <= UINT32_MAX)
        atomic_store_explicit(place, key | (uint64_t)frequency, memory_order_relaxed);
    return frequency;
}

double idf_of(const Segments *segments, Py_ssize_t frequency) {
    return log(1 + ((double)(segments->total - frequency) + 0.5) / ((double)frequency + 0.5));
}

/* Find the first and the last place of the terms of a document, and how many of them are described. Returns 0 or -1. */
int top_places(const Segment *segment, int32_t id, int64_t *first, int64_t *last, int *described) {
    const int64_t *at = segment->top_starts;
    if (id < 0 || id >= segment->documents || at[id] < 0 || at[id] > at[id + 1] || at[id + 1] > segment->tops ||
        at[id + 1] - at[id] > MAX_TERMS || segment->described[id] > at[id + 1] - at[id])
        return -1;
    *first = at[id];
    *last = at[id + 1];
    *described = segment->described[id];
    return 0;
}
