/* The segments of a collection in the compiled module of the ranking: their columns, postings and frequencies. */

#ifndef DIRECTORY_SERVER_SEGMENTS_H
#define DIRECTORY_SERVER_SEGMENTS_H

#include "postings.h"
#include "sorted.h"
#include <math.h>
#include <stdatomic.h>

#define SEGMENTS "directory_server.search.index._ranking.segments"
#define COLUMNS 11
#define MAX_TERMS 64   /* Terms of a document in `top_terms`. */
#define FREQUENCIES 8192 /* Terms whose frequency is cached, a power of two. */
#define OUT_OF_RANGE (-3)

/* The columns of a segment: see `Segment` and `Rows` in Python. */
typedef struct {
    Py_buffer columns[COLUMNS];
    const uint32_t *starts;
    const int32_t *doc_ids, *known, *top_terms;
    const uint16_t *impacts, *top_impacts, *described;
    const char *live;
    const float *priors;
    const uint64_t *facts;
    const int64_t *top_starts;
    Py_ssize_t rows, postings, documents, terms, tops;
    _Atomic(double) *lengths; /* Sums of the inverse document frequencies of descriptions; 0 for those not computed yet. */
} Segment;

typedef struct {
    Segment *items;
    Py_ssize_t count;
    Py_ssize_t most;  /* Documents of the largest segment. */
    Py_ssize_t total; /* Documents of all segments, deleted ones included. */
    _Atomic(uint64_t) *frequencies; /* The number of a term, from 1 on, and 32 bits of its frequency; or 0. */
    Py_buffer data, offsets; /* Of the strings. */
    Strings strings;         /* Those of the first terms: later ones are elsewhere. */
} Segments;

static void free_segments(Segments *segments) {
    for (Py_ssize_t i = 0; i < segments->count; i++) {
        for (size_t b = 0; b < COLUMNS; b++)
            if (segments->items[i].columns[b].obj != NULL)
                PyBuffer_Release(&segments->items[i].columns[b]);
        free((void *)segments->items[i].lengths);
    }
    if (segments->data.obj != NULL)
        RELEASE_BUFFERS(&segments->data, &segments->offsets);
    free(segments->items);
    free((void *)segments->frequencies);
    free(segments);
}

static void free_segments_capsule(PyObject *capsule) {
    Segments *segments = PyCapsule_GetPointer(capsule, SEGMENTS);
    if (segments != NULL)
        free_segments(segments);
}

/* Read (starts, doc_ids, impacts, known or None, live, priors, facts, top_terms, top_impacts, top_starts, described).
 * Returns 0, or -1 with an error set. */
static int read_segment(PyObject *tuple, Segment *each) {
    static const int sizes[COLUMNS] = {4, 4, 2, 4, 1, 4, 8, 4, 2, 8, 2};
    Py_ssize_t lengths[COLUMNS];
    if (PyTuple_Size(tuple) != COLUMNS) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "columns differ in length");
        return -1;
    }
    for (int b = 0; b < COLUMNS; b++) {
        PyObject *column = PyTuple_GetItem(tuple, b);
        if (b == 3 && column == Py_None)
            continue;
        if (PyObject_GetBuffer(column, &each->columns[b], PyBUF_SIMPLE) < 0)
            return -1;
        lengths[b] = each->columns[b].len / sizes[b];
    }
    each->starts = each->columns[0].buf;
    each->doc_ids = each->columns[1].buf;
    each->impacts = each->columns[2].buf;
    each->known = each->columns[3].obj != NULL ? each->columns[3].buf : NULL;
    each->live = each->columns[4].buf;
    each->priors = each->columns[5].buf;
    each->facts = each->columns[6].buf;
    each->top_terms = each->columns[7].buf;
    each->top_impacts = each->columns[8].buf;
    each->top_starts = each->columns[9].buf;
    each->described = each->columns[10].buf;
    each->rows = lengths[0] - 1;
    each->postings = lengths[1];
    each->documents = lengths[4];
    each->tops = lengths[7];
    each->terms = each->known != NULL ? lengths[3] : each->rows - 1;
    if (each->rows < 1 || lengths[2] != each->postings || lengths[5] != each->documents ||
        lengths[6] != each->documents || each->documents > MAX_DOCUMENTS || each->terms >= each->rows ||
        lengths[8] != each->tops || lengths[9] != each->documents + 1 || lengths[10] != each->documents) {
        PyErr_SetString(PyExc_ValueError, "columns differ in length");
        return -1;
    }
    each->lengths = calloc((size_t)each->documents + 1, sizeof(double));
    if (each->lengths == NULL)
        PyErr_NoMemory();
    return each->lengths == NULL ? -1 : 0;
}

/* Read a list of segments, and the strings of terms. The columns must not change while the result is used. */
static PyObject *segments_of(PyObject *module, PyObject *args) {
    PyObject *list;
    Segments *segments = calloc(1, sizeof(Segments));
    if (segments == NULL)
        return PyErr_NoMemory();
    if (!PyArg_ParseTuple(args, "Oy*y*", &list, &segments->data, &segments->offsets)) {
        free(segments);
        return NULL;
    }
    Py_ssize_t count = PyList_Size(list);
    if (count < 0 || read_strings(&segments->strings, &segments->data, &segments->offsets) < 0) {
        free_segments(segments);
        return NULL;
    }
    segments->items = calloc((size_t)count + 1, sizeof(Segment));
    segments->frequencies = calloc(FREQUENCIES, sizeof(uint64_t));
    int status = segments->items != NULL && segments->frequencies != NULL ? 0 : -1;
    if (status < 0)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count && status == 0; i++) {
        Segment *each = &segments->items[i];
        segments->count = i + 1;
        status = read_segment(PyList_GetItem(list, i), each);
        if (each->documents > segments->most)
            segments->most = each->documents;
        segments->total += each->documents;
    }
    PyObject *capsule = status < 0 ? NULL : PyCapsule_New(segments, SEGMENTS, free_segments_capsule);
    if (capsule == NULL)
        free_segments(segments);
    return capsule;
}

/* The postings of one term. */
typedef struct {
    const int32_t *ids;
    const uint16_t *impacts;
    size_t count;
} Span;

/* Find the postings of a term in a segment. Returns 0, or OUT_OF_RANGE. */
static inline int span_of(const Segment *segment, int64_t term, Span *span) {
    Py_ssize_t row = segment->rows - 1;
    if (term < 0)
        return OUT_OF_RANGE;
    if (segment->known != NULL) {
        Py_ssize_t low = 0, high = segment->terms;
        while (low < high) {
            Py_ssize_t middle = low + (high - low) / 2;
            if (segment->known[middle] < term)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < segment->terms && segment->known[low] == term)
            row = low;
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

static Py_ssize_t count_documents(const Segments *segments, int64_t term) {
    Py_ssize_t frequency = 0;
    for (Py_ssize_t s = 0; s < segments->count; s++) {
        Span span;
        if (span_of(&segments->items[s], term, &span) < 0)
            return OUT_OF_RANGE;
        frequency += (Py_ssize_t)span.count;
    }
    return frequency;
}

/* Return the number of documents of all segments with a term, or OUT_OF_RANGE. It is cached: documents share most words.
 * Other threads may do the same at the same time. */
static inline Py_ssize_t frequency_of(const Segments *segments, int32_t term) {
    if (term < 0)
        return OUT_OF_RANGE;
    _Atomic(uint64_t) *place = &segments->frequencies[(uint32_t)term * 2654435761u >> 19];
    uint64_t found = atomic_load_explicit(place, memory_order_relaxed), key = ((uint64_t)term + 1) << 32;
    if ((found ^ key) <= UINT32_MAX)
        return (Py_ssize_t)(found & UINT32_MAX);
    Py_ssize_t frequency = count_documents(segments, term);
    if (frequency >= 0 && frequency <= UINT32_MAX)
        atomic_store_explicit(place, key | (uint64_t)frequency, memory_order_relaxed);
    return frequency;
}

static inline double idf_of(const Segments *segments, Py_ssize_t frequency) {
    return log(1 + ((double)(segments->total - frequency) + 0.5) / ((double)frequency + 0.5));
}

/* Find the first and the last place of the terms of a document, and how many of them are described. Returns 0 or -1. */
static inline int top_places(const Segment *segment, int32_t id, int64_t *first, int64_t *last, int *described) {
    const int64_t *at = segment->top_starts;
    if (id < 0 || id >= segment->documents || at[id] < 0 || at[id] > at[id + 1] || at[id + 1] > segment->tops ||
        at[id + 1] - at[id] > MAX_TERMS || segment->described[id] > at[id + 1] - at[id])
        return -1;
    *first = at[id];
    *last = at[id + 1];
    *described = segment->described[id];
    return 0;
}

#endif
