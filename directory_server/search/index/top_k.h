/* The k greatest scores. */

#ifndef DIRECTORY_SERVER_TOP_K_H
#define DIRECTORY_SERVER_TOP_K_H

#include "compiled.h"

/* Restore the order below `at` of a heap whose least item is first. */
static void sift(float *heap, size_t at, size_t size) {
    float value = heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= size)
            break;
        if (child + 1 < size && heap[child + 1] < heap[child])
            child++;
        if (heap[child] >= value)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = value;
}

static int ascending(const void *one, const void *other) {
    float a = *(const float *)one, b = *(const float *)other;
    return (a > b) - (a < b);
}

/* Return the positions of the k greatest scores, and of all that equal the least of them, as int64. */
static PyObject *top_k(PyObject *module, PyObject *args) {
    Py_buffer scores;
    Py_ssize_t k;
    if (!PyArg_ParseTuple(args, "y*n", &scores, &k))
        return NULL;
    Py_ssize_t count = scores.len / 4, found = 0;
    const float *values = scores.buf;
    if (k > count)
        k = count;
    PyObject *result = NULL;
    float *heap = malloc((size_t)(k > 0 ? k : 0) * 4 + 4);
    if (k < 0) {
        PyErr_SetString(PyExc_ValueError, "k is below 0");
    } else if (heap == NULL) {
        PyErr_NoMemory();
    } else {
        memcpy(heap, values, (size_t)k * 4);
        /* Ascending order is a heap. */
        qsort(heap, (size_t)k, 4, ascending);
        for (Py_ssize_t i = k; i < count && k > 0; i++)
            if (values[i] > heap[0]) {
                heap[0] = values[i];
                sift(heap, 0, (size_t)k);
            }
        if (k > 0)
            for (Py_ssize_t i = 0; i < count; i++)
                found += values[i] >= heap[0];
        int64_t *places = malloc((size_t)found * 8 + 8);
        if (places == NULL) {
            PyErr_NoMemory();
        } else {
            Py_ssize_t at = 0;
            for (Py_ssize_t i = 0; at < found; i++)
                if (values[i] >= heap[0])
                    places[at++] = i;
            result = PyBytes_FromStringAndSize((const char *)places, found * 8);
        }
        free(places);
    }
    free(heap);
    PyBuffer_Release(&scores);
    return result;
}

#endif
