/* Pages of hits, compiled: joined from records, and as the result of a tool. `_hits.py` and `_json.py` have the same in
 * Python.
 *
 * Each function measures its result first and writes it once.
 */

#include "compiled.h"

#include <stdio.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The lines of a record that belong to an item. */
typedef struct {
    const char *first, *second;
    Py_ssize_t first_size, second_size;
} Lines;

/* Read the lines of record `place`, the first one from byte `skip`. Returns -1 with an error set if it is none. */
static int read_lines(PyObject *records, Py_ssize_t place, Py_ssize_t skip, Lines *lines) {
    char *text;
    Py_ssize_t size;
    PyObject *record = PyTuple_GetItem(records, place);
    if (record == NULL || PyBytes_AsStringAndSize(record, &text, &size) < 0)
        return -1;
    const char *first = memchr(text, '\n', (size_t)size);
    const char *second = first == NULL ? NULL : memchr(first + 1, '\n', (size_t)(text + size - first - 1));
    if (second == NULL || first - text < skip) {
        PyErr_SetString(PyExc_ValueError, "record is invalid");
        return -1;
    }
    *lines = (Lines){text + skip, first + 1, first - text - skip, second - first - 1};
    return 0;
}

static char *put(char *to, const char *from, Py_ssize_t size) {
    memcpy(to, from, (size_t)size);
    return to + size;
}

/* Bytes of the number of records, and of the members around it. */
#define MAX_AFTER 40

/* Return a page: `before`, an array of one object for each record, and their number. The objects have only the first
 * lines if `endings` is NULL.
 */
static PyObject *page(const char *before, PyObject *records, PyObject *endings, Py_ssize_t skip) {
    char *ending = NULL, after[MAX_AFTER];
    Py_ssize_t count = PyTuple_Size(records), added = 0, before_size = (Py_ssize_t)strlen(before);
    Py_ssize_t after_size = snprintf(after, sizeof after, "],\"count\":%zd}", count), size = before_size + after_size;
    if (endings != NULL && PyTuple_Size(endings) != 0 && PyTuple_Size(endings) != count) {
        PyErr_SetString(PyExc_ValueError, "there must be one ending for each record");
        return NULL;
    }
    int has_endings = endings != NULL && PyTuple_Size(endings) != 0;
    PyObject *result = NULL;
    Lines *lines = PyMem_Malloc((size_t)count * sizeof(Lines));
    if (lines == NULL)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++) {
        if (read_lines(records, i, skip, &lines[i]) < 0)
            goto done;
        if (has_endings && PyBytes_AsStringAndSize(PyTuple_GetItem(endings, i), &ending, &added) < 0)
            goto done;
        size += lines[i].first_size + (endings == NULL ? 0 : lines[i].second_size) + added + 2 + (i > 0);
    }
    result = PyBytes_FromStringAndSize(NULL, size);
    if (result == NULL)
        goto done;
    char *to = put(PyBytes_AsString(result), before, before_size);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (i > 0)
            *to++ = ',';
        *to++ = '{';
        to = put(to, lines[i].first, lines[i].first_size);
        if (endings != NULL)
            to = put(to, lines[i].second, lines[i].second_size);
        if (has_endings) {
            /* Nothing can have changed since the first loop. */
            PyBytes_AsStringAndSize(PyTuple_GetItem(endings, i), &ending, &added);
            to = put(to, ending, added);
        }
        *to++ = '}';
    }
    put(to, after, after_size);
done:
    PyMem_Free(lines);
    return result;
}

/* size(records): the bytes of all records. */
static PyObject *total_size(PyObject *module, PyObject *records) {
    Py_ssize_t total = 0;
    if (!PyTuple_Check(records)) {
        PyErr_SetString(PyExc_TypeError, "records must be a tuple");
        return NULL;
    }
    for (Py_ssize_t i = 0, count = PyTuple_Size(records); i < count; i++) {
        Py_ssize_t size = PyBytes_Size(PyTuple_GetItem(records, i));
        if (size < 0)
            return NULL;
        total += size;
    }
    return PyLong_FromSsize_t(total);
}

/* listed(records, skip): the page of a search, with the first lines from byte `skip`. */
static PyObject *listed(PyObject *module, PyObject *args) {
    PyObject *records;
    Py_ssize_t skip;
    if (!PyArg_ParseTuple(args, "O!n", &PyTuple_Type, &records, &skip))
        return NULL;
    if (skip < 0) {
        PyErr_SetString(PyExc_ValueError, "skip must not be negative");
        return NULL;
    }
    return page("{\"data\":[", records, NULL, skip);
}

/* found(records, endings): the page of a tool, with the first two lines and the ending of each record, if there are any. */
static PyObject *found(PyObject *module, PyObject *args) {
    PyObject *records, *endings;
    if (!PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &records, &PyTuple_Type, &endings))
        return NULL;
    return page("{\"success\":true,\"data\":[", records, endings, 0);
}

/* Characters that are counted in 8 bits: a multiple of 16, because the compiler adds 16 at once. */
#define PART 240

static int is_escaped(char character) { return character == '"' || character == '\\'; }

static Py_ssize_t count_escaped(const char *from, Py_ssize_t size) {
    Py_ssize_t total = 0;
    for (Py_ssize_t start = 0; start < size; start += PART) {
        Py_ssize_t end = size - start < PART ? size : start + PART;
        unsigned char count = 0;
        for (Py_ssize_t i = start; i < end; i++)
            count = (unsigned char)(count + is_escaped(from[i]));
        total += count;
    }
    return total;
}

/* Copy bytes with quotes and backslashes escaped. `to` has room for at least 16 more bytes. */
static char *put_escaped(char *to, const char *from, Py_ssize_t size) {
    const char *end = from + size;
#ifdef __SSE2__
    /* 16 bytes are copied at once, and again from each that is escaped on. So up to 31 bytes are read. */
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    while (end - from >= 32) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)from);
        __m128i found = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash));
        unsigned mask = (unsigned)_mm_movemask_epi8(found);
        _mm_storeu_si128((__m128i *)(void *)to, bytes);
        for (; mask; mask &= mask - 1) {
            size_t clean = (size_t)__builtin_ctz(mask);
            to[clean] = '\\';
            to++;
            bytes = _mm_loadu_si128((const __m128i *)(const void *)(from + clean));
            _mm_storeu_si128((__m128i *)(void *)(to + clean), bytes);
        }
        from += 16;
        to += 16;
    }
#endif
    for (; from < end; from++) {
        *to = '\\';
        to += is_escaped(*from);
        *to++ = *from;
    }
    return to;
}

static const char BEFORE_TEXT[] = "{\"content\":[{\"type\":\"text\",\"text\":\"";
static const char AFTER_TEXT[] = "\"}],\"structuredContent\":";
static const char AFTER_BODY[] = ",\"isError\":false}";

/* tool_result(body): JSON as text and as structured content. */
static PyObject *tool_result(PyObject *module, PyObject *body) {
    char *from;
    Py_ssize_t size, constants = sizeof BEFORE_TEXT + sizeof AFTER_TEXT + sizeof AFTER_BODY - 3;
    if (PyBytes_AsStringAndSize(body, &from, &size) < 0)
        return NULL;
    PyObject *result = PyBytes_FromStringAndSize(NULL, constants + 2 * size + count_escaped(from, size));
    if (result == NULL)
        return NULL;
    char *to = put(PyBytes_AsString(result), BEFORE_TEXT, sizeof BEFORE_TEXT - 1);
    to = put(put_escaped(to, from, size), AFTER_TEXT, sizeof AFTER_TEXT - 1);
    put(put(to, from, size), AFTER_BODY, sizeof AFTER_BODY - 1);
    return result;
}

MODULE(_joining, 3, "Pages of hits, compiled.",
    {"size", total_size, METH_O, "Return the bytes of all records."},
    {"found", found, METH_VARARGS, "Return the page of a tool."},
    {"listed", listed, METH_VARARGS, "Return the page of a search."},
    {"tool_result", tool_result, METH_O, "Return JSON as the result of a tool."})
