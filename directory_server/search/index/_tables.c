/* Tables of sorted strings, compiled: look-up, sorting and merging of many strings. `strings.py` has the same in Python.
 *
 * A table is its UTF-8 bytes and uint32 offsets, in contiguous, aligned buffers. Results are bytes of native items.
 */

#include "sorted.h"

#define VERSION 2 /* Of the functions; `arrays.py` expects the same. */

/* Returns 0 if all offsets are in order and within the data, or -1 with an error set. */
static int check_strings(const Strings *strings) {
    uint32_t before = 0;
    for (Py_ssize_t i = 0; i <= strings->count; i++) {
        if (strings->at[i] < before || strings->at[i] > (size_t)strings->size) {
            PyErr_SetString(PyExc_ValueError, "offsets are not within the data");
            return -1;
        }
        before = strings->at[i];
    }
    return 0;
}

/* A string to sort: its first 8 bytes, as a number that compares like them, and its place. */
typedef struct {
    uint64_t start;
    uint32_t place;
} Key;

static Key key_of(const Strings *strings, uint32_t place) {
    const unsigned char *bytes = (const unsigned char *)strings->data + strings->at[place];
    size_t length = strings->at[place + 1] - strings->at[place];
    Key key = {0, place};
    for (size_t i = 0; i < 8; i++)
        key.start = key.start << 8 | (i < length ? bytes[i] : 0);
    return key;
}

static int before(const Strings *strings, const Key *one, const Key *other) {
    if (one->start != other->start)
        return one->start < other->start;
    uint32_t a = strings->at[one->place], b = strings->at[other->place];
    size_t first = strings->at[one->place + 1] - a, second = strings->at[other->place + 1] - b;
    int order = memcmp(strings->data + a, strings->data + b, first < second ? first : second);
    return order < 0 || (order == 0 && first < second);
}

/* Sort keys by merging, with as much room for other keys. */
static void sort_keys(const Strings *strings, Key *keys, Key *room, size_t count) {
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t left = 0; left < count; left += 2 * width) {
            size_t middle = left + width < count ? left + width : count;
            size_t end = middle + width < count ? middle + width : count;
            size_t i = left, j = middle;
            for (size_t at = left; at < end; at++)
                room[at] = i < middle && (j >= end || !before(strings, &keys[j], &keys[i])) ? keys[i++] : keys[j++];
        }
        memcpy(keys, room, count * sizeof(Key));
    }
}

/* Write the strings at these places, one after the other, and their offsets. */
static void write_sorted(const Strings *strings, const Key *keys, char *out, uint32_t *end) {
    uint32_t at = 0;
    *end++ = 0;
    for (Py_ssize_t i = 0; i < strings->count; i++) {
        uint32_t start = strings->at[keys[i].place], length = strings->at[keys[i].place + 1] - start;
        memcpy(out + at, strings->data + start, length);
        at += length;
        *end++ = at;
    }
}

/* Return the data and offsets (uint32) of strings in their order, and the place of each before (int32). */
static PyObject *sort(PyObject *module, PyObject *args) {
    Py_buffer data, offsets;
    Strings strings;
    PyObject *result = NULL;
    if (!PyArg_ParseTuple(args, "y*y*", &data, &offsets))
        return NULL;
    if (read_strings(&strings, &data, &offsets) == 0 && check_strings(&strings) == 0) {
        size_t count = (size_t)strings.count;
        Key *keys = malloc((count + 1) * sizeof(Key)), *room = malloc((count + 1) * sizeof(Key));
        PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(strings.at[count] - strings.at[0]));
        PyObject *ends = PyBytes_FromStringAndSize(NULL, strings.count * 4 + 4);
        PyObject *order = PyBytes_FromStringAndSize(NULL, strings.count * 4);
        if (keys == NULL || room == NULL) {
            PyErr_NoMemory();
        } else if (bytes != NULL && ends != NULL && order != NULL) {
            char *out = PyBytes_AsString(bytes);
            uint32_t *end = (uint32_t *)(void *)PyBytes_AsString(ends);
            int32_t *places = (int32_t *)(void *)PyBytes_AsString(order);
            Py_BEGIN_ALLOW_THREADS
            for (size_t i = 0; i < count; i++)
                keys[i] = key_of(&strings, (uint32_t)i);
            sort_keys(&strings, keys, room, count);
            for (size_t i = 0; i < count; i++)
                places[i] = (int32_t)keys[i].place;
            write_sorted(&strings, keys, out, end);
            Py_END_ALLOW_THREADS
            result = PyTuple_Pack(3, bytes, ends, order);
        }
        Py_XDECREF(bytes);
        Py_XDECREF(ends);
        Py_XDECREF(order);
        free(keys);
        free(room);
    }
    RELEASE_BUFFERS(&data, &offsets);
    return result;
}

/* Return the bytes of the strings that are kept, and their number. */
static size_t size_of_kept(const Strings *strings, const char *kept, Py_ssize_t *count) {
    size_t size = 0;
    *count = 0;
    for (Py_ssize_t i = 0; i < strings->count; i++)
        if (kept[i]) {
            size += strings->at[i + 1] - strings->at[i];
            ++*count;
        }
    return size;
}

/* Where a merge writes: the data and offsets, and the number of each string of both tables. */
typedef struct {
    Py_buffer data, offsets, places, other_places;
} Merged;

static void merge_strings(const Strings *strings, const char *kept, const Strings *others, const Merged *merged) {
    char *out = merged->data.buf;
    uint32_t *end = merged->offsets.buf, at = 0;
    int32_t *places = merged->places.buf, *other_places = merged->other_places.buf, number = 0;
    Py_ssize_t i = 0, j = 0;
    *end++ = 0;
    while (i < strings->count || j < others->count) {
        if (i < strings->count && !kept[i]) {
            places[i++] = -1;
            continue;
        }
        int is_first = j >= others->count;
        if (i < strings->count && j < others->count) {
            size_t one = strings->at[i + 1] - strings->at[i], other = others->at[j + 1] - others->at[j];
            int order = memcmp(strings->data + strings->at[i], others->data + others->at[j], one < other ? one : other);
            is_first = order < 0 || (order == 0 && one <= other);
        }
        const Strings *from = is_first ? strings : others;
        Py_ssize_t place = is_first ? i : j;
        uint32_t length = from->at[place + 1] - from->at[place];
        memcpy(out + at, from->data + from->at[place], length);
        at += length;
        *end++ = at;
        if (is_first)
            places[i++] = number++;
        else
            other_places[j++] = number++;
    }
}

/* merge(data, offsets, kept, other data, other offsets, and the writable data, offsets, places and other places).
 *
 * Merge two sorted tables; of the first one the strings that are kept. A place is the new number of a string (int32), -1
 * for one that is not kept. */
static PyObject *merge(PyObject *module, PyObject *args) {
    Py_buffer data, offsets, kept, other_data, other_offsets;
    Merged merged;
    Strings strings, others;
    Py_ssize_t count;
    PyObject *result = NULL;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*w*w*w*w*", &data, &offsets, &kept, &other_data, &other_offsets, &merged.data,
                          &merged.offsets, &merged.places, &merged.other_places))
        return NULL;
    if (read_strings(&strings, &data, &offsets) == 0 && read_strings(&others, &other_data, &other_offsets) == 0 &&
        check_strings(&strings) == 0 && check_strings(&others) == 0) {
        if (kept.len != strings.count || merged.places.len != strings.count * 4 ||
            merged.other_places.len != others.count * 4) {
            PyErr_SetString(PyExc_ValueError, "columns differ in length");
        } else {
            size_t size = size_of_kept(&strings, kept.buf, &count) + others.at[others.count] - others.at[0];
            count += others.count;
            if (size > UINT32_MAX || count > INT32_MAX || merged.data.len != (Py_ssize_t)size ||
                merged.offsets.len != count * 4 + 4) {
                PyErr_SetString(PyExc_ValueError, "the strings do not fit");
            } else {
                Py_BEGIN_ALLOW_THREADS
                merge_strings(&strings, kept.buf, &others, &merged);
                Py_END_ALLOW_THREADS
                result = Py_None;
                Py_INCREF(result);
            }
        }
    }
    RELEASE_BUFFERS(&data, &offsets, &kept, &other_data, &other_offsets, &merged.data, &merged.offsets, &merged.places,
                    &merged.other_places);
    return result;
}

/* Return for each of other strings its position among sorted ones, -1 for absent ones, as int64. */
static PyObject *find_all(PyObject *module, PyObject *args) {
    Py_buffer data, offsets, other_data, other_offsets;
    Strings strings, others;
    PyObject *result = NULL;
    int is_valid = 1;
    if (!PyArg_ParseTuple(args, "y*y*y*y*", &data, &offsets, &other_data, &other_offsets))
        return NULL;
    /* The offsets of the large table are checked where they are read. */
    if (read_strings(&strings, &data, &offsets) == 0 && read_strings(&others, &other_data, &other_offsets) == 0 &&
        check_strings(&others) == 0) {
        result = PyBytes_FromStringAndSize(NULL, others.count * 8);
        if (result != NULL) {
            int64_t *places = (int64_t *)(void *)PyBytes_AsString(result);
            Py_BEGIN_ALLOW_THREADS
            for (Py_ssize_t i = 0; i < others.count && is_valid; i++) {
                int is_equal;
                Py_ssize_t place =
                    position(&strings, others.data + others.at[i], others.at[i + 1] - others.at[i], &is_equal);
                places[i] = is_equal ? place : -1;
                is_valid = place >= 0;
            }
            Py_END_ALLOW_THREADS
            if (!is_valid) {
                PyErr_SetString(PyExc_ValueError, "offsets are not within the data");
                Py_CLEAR(result);
            }
        }
    }
    RELEASE_BUFFERS(&data, &offsets, &other_data, &other_offsets);
    return result;
}

MODULE(_tables, VERSION, "Tables of sorted strings, compiled.",
    {"find_all", find_all, METH_VARARGS, "Find strings among sorted ones."},
    {"merge", merge, METH_VARARGS, "Merge two tables."},
    {"sort", sort, METH_VARARGS, "Sort strings."})
