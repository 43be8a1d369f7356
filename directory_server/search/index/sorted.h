/* Sorted strings in the compiled modules of the index. */

#ifndef DIRECTORY_SERVER_SORTED_H
#define DIRECTORY_SERVER_SORTED_H

#include "compiled.h"

/* Sorted strings: string n is the bytes from at[n] to at[n + 1] of data. */
typedef struct {
    const char *data;
    const uint32_t *at;
    Py_ssize_t count, size;
} Strings;

/* Read strings from their columns. Returns 0, or -1 with an error set. The offsets are not checked. */
static inline int read_strings(Strings *strings, const Py_buffer *data, const Py_buffer *offsets) {
    strings->data = data->buf;
    strings->size = data->len;
    strings->at = offsets->buf;
    strings->count = offsets->len / 4 - 1;
    if (strings->count >= 0 && strings->count <= INT32_MAX)
        return 0;
    PyErr_SetString(PyExc_ValueError, "number of strings is out of range");
    return -1;
}

/* Return the first position from `low` to `high` whose string is not before the key; -1 if the offsets are not within
 * the data. */
static inline Py_ssize_t position_between(const Strings *strings, Py_ssize_t low, Py_ssize_t high, const char *key,
                                          size_t length, int *is_equal) {
    *is_equal = 0;
    while (low < high) {
        Py_ssize_t middle = low + (high - low) / 2;
        uint32_t start = strings->at[middle], end = strings->at[middle + 1];
        if (start > end || end > (size_t)strings->size)
            return -1;
        size_t other = end - start;
        int order = memcmp(strings->data + start, key, other < length ? other : length);
        if (order < 0 || (order == 0 && other < length)) {
            low = middle + 1;
        } else {
            high = middle;
            if (order == 0 && other == length)
                *is_equal = 1;
        }
    }
    return low;
}

static inline Py_ssize_t position(const Strings *strings, const char *key, size_t length, int *is_equal) {
    return position_between(strings, 0, strings->count, key, length, is_equal);
}

#endif
