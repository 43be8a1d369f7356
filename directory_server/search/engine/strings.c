/* Look-ups in sorted strings and sorted documents. */

#include "engine.h"

void release_buffers(Py_buffer *const buffers[], size_t count) {
    for (size_t i = 0; i < count; i++)
        PyBuffer_Release(buffers[i]);
}

/* Read strings from their columns. Returns 0, or -1 with an error set. The offsets are not checked. */
int read_strings(Strings *strings, const Py_buffer *data, const Py_buffer *offsets) {
    strings->data = data->buf;
    strings->size = data->len;
    strings->at = offsets->buf;
    strings->count = offsets->len / 4 - 1;
    if (strings->count >= 0 && strings->count <= INT32_MAX)
        return 0;
    PyErr_SetString(PyExc_ValueError, "number of strings is out of range");
    return -1;
}

/* Return the first position whose string is not before the key; -1 if the offsets are not within the data. */
static Py_ssize_t position(const Strings *strings, const char *key, size_t length, int *is_equal) {
    Py_ssize_t low = 0, high = strings->count;
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
            *is_equal = order == 0 && other == length;
        }
    }
    return low;
}

/* bisect(data, offsets, key): return the position of a string, and whether it is the key. */
PyObject *bisect(PyObject *module, PyObject *args) {
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

/* find_all(data, offsets, keys): return the positions of strings, -1 for absent ones. */
PyObject *find_all(PyObject *module, PyObject *args) {
    Py_buffer data, offsets;
    PyObject *keys;
    Strings strings;
    if (!PyArg_ParseTuple(args, "y*y*O", &data, &offsets, &keys))
        return NULL;
    Py_ssize_t count = PyList_Size(keys);
    PyObject *list = count < 0 || read_strings(&strings, &data, &offsets) < 0 ? NULL : PyList_New(count);
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        char *key;
        Py_ssize_t length, found = -1;
        int is_equal = 0;
        if (PyBytes_AsStringAndSize(PyList_GetItem(keys, i), &key, &length) == 0 &&
            (found = position(&strings, key, (size_t)length, &is_equal)) < 0)
            PyErr_SetString(PyExc_ValueError, "offsets are not within the data");
        PyObject *number = found < 0 ? NULL : PyLong_FromSsize_t(is_equal ? found : -1);
        if (number == NULL || PyList_SetItem(list, i, number) < 0)
            Py_CLEAR(list);
    }
    RELEASE_BUFFERS(&data, &offsets);
    return list;
}

/* contains(doc_ids, wanted): return for each wanted document whether it is among sorted ones, as bytes of 0 and 1. */
PyObject *contains(PyObject *module, PyObject *args) {
    Py_buffer ids, wanted;
    if (!PyArg_ParseTuple(args, "y*y*", &ids, &wanted))
        return NULL;
    const int32_t *known = ids.buf;
    size_t size = (size_t)ids.len / 4;
    Py_ssize_t count = wanted.len / 4;
    PyObject *result = PyBytes_FromStringAndSize(NULL, count);
    char *found = result != NULL ? PyBytes_AsString(result) : NULL;
    for (Py_ssize_t i = 0; result != NULL && i < count; i++) {
        int32_t id = ((const int32_t *)wanted.buf)[i];
        size_t place = place_among(known, size, id);
        found[i] = place < size && known[place] == id;
    }
    RELEASE_BUFFERS(&ids, &wanted);
    return result;
}
