/* Look-ups in sorted strings, packed items and sorted documents. */

#ifndef DIRECTORY_SERVER_LOOKUPS_H
#define DIRECTORY_SERVER_LOOKUPS_H

#include "sorted.h"

/* Return the position of a string, and whether it is the key. */
static PyObject *bisect(PyObject *module, PyObject *args) {
    Py_buffer data, offsets, key;
    Strings strings;
    PyObject *result = NULL;
    int is_equal;
    if (!PyArg_ParseTuple(args, "y*y*y*", &data, &offsets, &key))
        return NULL;
    if (read_strings(&strings, &data, &offsets) == 0) {
        Py_ssize_t found = position(&strings, key.buf, (size_t)key.len, &is_equal);
        if (found < 0)
            PyErr_SetString(PyExc_ValueError, "offsets are not within the data");
        else
            result = Py_BuildValue("nO", found, is_equal ? Py_True : Py_False);
    }
    RELEASE_BUFFERS(&data, &offsets, &key);
    return result;
}

/* The positions that are found, each once. */
typedef struct {
    PyObject *list;
    const uint8_t *lengths;
    const int32_t *counts;
    int least;
} Places;

/* Add the position of a string in a range that is counted and long enough. Returns 0, or -1 with an error set. */
static int add_place(Places *places, const Strings *strings, const uint32_t *range, const char *key, size_t length) {
    int is_equal, status = 0;
    Py_ssize_t found = position_between(strings, range[0], range[1], key, length, &is_equal);
    if (found < 0 || !is_equal || places->counts[found] <= 0 || places->lengths[found] < places->least)
        return 0;
    PyObject *number = PyLong_FromSsize_t(found);
    if (number == NULL)
        return -1;
    int is_known = PySequence_Contains(places->list, number);
    if (is_known <= 0)
        status = is_known < 0 ? -1 : PyList_Append(places->list, number);
    Py_DECREF(number);
    return status;
}

/* Return the ranges of the strings that begin with a text, one of the characters, and another text: for each of the
 * characters two positions, as uint32. */
static PyObject *first_ranges(PyObject *module, PyObject *args) {
    Py_buffer data, offsets, before, characters, after;
    Strings strings;
    PyObject *result = NULL;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*", &data, &offsets, &before, &characters, &after))
        return NULL;
    size_t prefix = (size_t)before.len, length = prefix + 1 + (size_t)after.len;
    char *key = malloc(length + 1);
    uint32_t *ranges = malloc((size_t)characters.len * 8 + 8);
    if (key == NULL || ranges == NULL) {
        PyErr_NoMemory();
    } else if (read_strings(&strings, &data, &offsets) == 0) {
        Py_ssize_t first = 0, last = 0;
        int is_equal;
        memcpy(key, before.buf, prefix);
        memcpy(key + prefix + 1, after.buf, (size_t)after.len);
        /* No byte of UTF-8 is 255, so this is after all that begins with the key. */
        key[length] = '\xff';
        for (Py_ssize_t i = 0; i < characters.len && first >= 0 && last >= 0; i++) {
            key[prefix] = ((const char *)characters.buf)[i];
            first = position(&strings, key, length, &is_equal);
            last = position(&strings, key, length + 1, &is_equal);
            ranges[2 * i] = (uint32_t)first;
            ranges[2 * i + 1] = (uint32_t)last;
        }
        if (first < 0 || last < 0)
            PyErr_SetString(PyExc_ValueError, "offsets are not within the data");
        else
            result = PyBytes_FromStringAndSize((const char *)ranges, characters.len * 8);
    }
    free(key);
    free(ranges);
    RELEASE_BUFFERS(&data, &offsets, &before, &characters, &after);
    return result;
}

/* Return whether there are ranges for so many characters, all within the strings. */
static int are_ranges(const Py_buffer *ranges, Py_ssize_t characters, const Strings *strings) {
    const uint32_t *at = ranges->buf;
    int are = ranges->len / 8 == characters;
    for (Py_ssize_t i = 0; are && i < 2 * characters; i++)
        are = (Py_ssize_t)at[i] <= strings->count;
    return are;
}

/* Return the positions of the counted strings that are one edit of the first character away from an ASCII word.
 *
 * All have the same part before this character. The ranges are those of `first_ranges` for the beginning of the word
 * without its first character, and of the word. */
static PyObject *first_edits(PyObject *module, PyObject *args) {
    Py_buffer data, offsets, lengths, counts, before, word, characters, of_rest, of_word;
    Strings strings;
    Places places = {NULL, NULL, NULL, 0};
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*y*y*y*y*i", &data, &offsets, &lengths, &counts, &before, &word, &characters,
                          &of_rest, &of_word, &places.least))
        return NULL;
    size_t prefix = (size_t)before.len, length = (size_t)word.len;
    char *key = malloc(prefix + length + 1);
    int status = -1;
    if (key == NULL) {
        PyErr_NoMemory();
    } else if (read_strings(&strings, &data, &offsets) == 0) {
        if (length < 2 || lengths.len < strings.count || counts.len / 4 < strings.count ||
            !are_ranges(&of_rest, characters.len, &strings) || !are_ranges(&of_word, characters.len, &strings)) {
            PyErr_SetString(PyExc_ValueError, "columns differ in length");
        } else if ((places.list = PyList_New(0)) != NULL) {
            const char *text = word.buf, *others = characters.buf;
            const uint32_t every[2] = {0, (uint32_t)strings.count};
            places.lengths = lengths.buf;
            places.counts = counts.buf;
            status = 0;
            memcpy(key, before.buf, prefix);
            /* Another first character, then one more before the word. */
            for (int pass = 0; pass < 2 && status == 0; pass++) {
                size_t skipped = pass == 0 ? 1 : 0;
                const uint32_t *ranges = pass == 0 ? of_rest.buf : of_word.buf;
                memcpy(key + prefix + 1, text + skipped, length - skipped);
                for (Py_ssize_t i = 0; i < characters.len && status == 0; i++)
                    if (others[i] != text[0]) {
                        key[prefix] = others[i];
                        status = add_place(&places, &strings, ranges + 2 * i, key, prefix + 1 + length - skipped);
                    }
            }
            if (status == 0 && text[0] != text[1]) {
                /* The first character left out, or swapped with the next. */
                memcpy(key + prefix, text + 1, length - 1);
                status = add_place(&places, &strings, every, key, prefix + length - 1);
                memcpy(key + prefix, text, length);
                key[prefix] = text[1];
                key[prefix + 1] = text[0];
                if (status == 0)
                    status = add_place(&places, &strings, every, key, prefix + length);
            }
        }
    }
    free(key);
    RELEASE_BUFFERS(&data, &offsets, &lengths, &counts, &before, &word, &characters, &of_rest, &of_word);
    if (status < 0)
        Py_CLEAR(places.list);
    return places.list;
}

/* Return the items with these numbers as a list of bytes. Offsets are int64. */
static PyObject *items(PyObject *module, PyObject *args) {
    Py_buffer data, offsets;
    PyObject *numbers;
    if (!PyArg_ParseTuple(args, "y*y*O", &data, &offsets, &numbers))
        return NULL;
    const int64_t *at = offsets.buf;
    Py_ssize_t count = PyList_Size(numbers), known = offsets.len / 8 - 1;
    PyObject *result = count < 0 ? NULL : PyList_New(count);
    for (Py_ssize_t i = 0; result != NULL && i < count; i++) {
        Py_ssize_t number = PyLong_AsSsize_t(PyList_GetItem(numbers, i));
        PyObject *item = NULL;
        if (!PyErr_Occurred()) {
            if (number < 0 || number >= known || at[number] < 0 || at[number] > at[number + 1] ||
                at[number + 1] > data.len)
                PyErr_SetString(PyExc_IndexError, "no such item");
            else
                item = PyBytes_FromStringAndSize((const char *)data.buf + at[number], at[number + 1] - at[number]);
        }
        if (item == NULL || PyList_SetItem(result, i, item) < 0)
            Py_CLEAR(result);
    }
    RELEASE_BUFFERS(&data, &offsets);
    return result;
}

/* Return for each wanted document whether it is among sorted ones, as bytes of 0 and 1. */
static PyObject *contains(PyObject *module, PyObject *args) {
    Py_buffer ids, wanted;
    if (!PyArg_ParseTuple(args, "y*y*", &ids, &wanted))
        return NULL;
    const int32_t *known = ids.buf;
    Py_ssize_t count = wanted.len / 4, size = ids.len / 4;
    char *found = malloc((size_t)count + 1);
    PyObject *result = NULL;
    if (found == NULL) {
        PyErr_NoMemory();
    } else {
        for (Py_ssize_t i = 0; i < count; i++) {
            int32_t id = ((const int32_t *)wanted.buf)[i];
            Py_ssize_t low = 0, high = size;
            while (low < high) {
                Py_ssize_t middle = low + (high - low) / 2;
                if (known[middle] < id)
                    low = middle + 1;
                else
                    high = middle;
            }
            found[i] = low < size && known[low] == id;
        }
        result = PyBytes_FromStringAndSize(found, count);
    }
    free(found);
    RELEASE_BUFFERS(&ids, &wanted);
    return result;
}

#endif
