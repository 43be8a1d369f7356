/* Merges of postings and search in sorted strings, compiled. `merging.py` and `strings.py` have the same in Python.
 *
 * Arguments are contiguous, aligned buffers: offsets uint32, documents int32, impacts uint16, terms int64, weights
 * float64, scores float32. Results are bytes of native items.
 */

#include "postings.h"
#include "sorted.h"

#define VERSION 3 /* Of the functions; `arrays.py` expects the same. */
/* The columns of a segment: the postings of term t are those from starts[t] to starts[t + 1]. */
typedef struct {
    Py_buffer starts, doc_ids, impacts, terms, weights;
} Columns;

static void release_columns(Columns *columns) {
    RELEASE_BUFFERS(&columns->starts, &columns->doc_ids, &columns->impacts, &columns->terms, &columns->weights);
}

#define STARTS(columns) ((const uint32_t *)(columns)->starts.buf)
#define DOC_IDS(columns) ((const int32_t *)(columns)->doc_ids.buf)
#define IMPACTS(columns) ((const uint16_t *)(columns)->impacts.buf)
#define TERMS(columns) ((const int64_t *)(columns)->terms.buf)
#define WEIGHTS(columns) ((const double *)(columns)->weights.buf)

/* With more documents, a negative number would pass the check of document numbers. Returns 0, or -1 with an error set. */
static int check_documents(Py_ssize_t documents) {
    if (documents >= 0 && documents <= MAX_DOCUMENTS)
        return 0;
    PyErr_SetString(PyExc_ValueError, "number of documents or strings is out of range");
    return -1;
}

/* Check the columns of these terms and return the number of their postings, or -1 with an error set. */
static Py_ssize_t count_postings(const Columns *columns) {
    Py_ssize_t known = columns->starts.len / 4 - 1, terms = columns->terms.len / 8, total = 0;
    Py_ssize_t postings = columns->doc_ids.len / 4;
    if (columns->weights.len / 8 != terms || columns->impacts.len / 2 != postings) {
        PyErr_SetString(PyExc_ValueError, "columns differ in length");
        return -1;
    }
    for (Py_ssize_t i = 0; i < terms; i++) {
        int64_t term = TERMS(columns)[i];
        if (term < 0 || term >= known || STARTS(columns)[term] > STARTS(columns)[term + 1] ||
            STARTS(columns)[term + 1] > (uint64_t)postings) {
            PyErr_SetString(PyExc_IndexError, "no such term");
            return -1;
        }
        total += STARTS(columns)[term + 1] - STARTS(columns)[term];
    }
    return total;
}

/* Return the documents and float32 scores as a pair of bytes. */
static PyObject *pair(const int32_t *doc_ids, const float *scores, Py_ssize_t count) {
    PyObject *ids = PyBytes_FromStringAndSize((const char *)doc_ids, count * 4);
    PyObject *values = PyBytes_FromStringAndSize((const char *)scores, count * 4);
    PyObject *both = ids && values ? PyTuple_Pack(2, ids, values) : NULL;
    Py_XDECREF(ids);
    Py_XDECREF(values);
    return both;
}

/* The scratch that no merge uses. It is taken and put back with the interpreter lock held. */
static Scratch idle = {NULL, 0, 0};

/* Take a scratch of at least `size` cells. Returns 0, or -1 with an error set. */
static int take_scratch(Scratch *scratch, size_t size) {
    *scratch = idle;
    idle.cells = NULL;
    idle.size = 0;
    return reserve_cells(scratch, size);
}

static void put_scratch(Scratch *scratch) {
    if (idle.size < scratch->size) {
        free(idle.cells);
        idle = *scratch;
    } else {
        free(scratch->cells);
    }
}

enum { BEST, LEAST, SUM };

/* Merge the postings of terms. Documents stay in the order of their first posting. */
static Py_ssize_t merge_terms(const Columns *columns, int mode, Py_ssize_t documents, Scratch *scratch, int32_t *ids,
                              float *scores, double *sums, uint32_t *seen) {
    Cell *cells = scratch->cells;
    uint32_t stamp = scratch->stamp;
    Py_ssize_t count = 0, terms = columns->terms.len / 8;
    for (Py_ssize_t i = 0; i < terms; i++) {
        int64_t term = TERMS(columns)[i];
        double weight = WEIGHTS(columns)[i];
        float narrow = (float)weight;
        uint32_t end = STARTS(columns)[term + 1];
        for (uint32_t at = STARTS(columns)[term]; at < end; at++) {
            int32_t id = DOC_IDS(columns)[at];
            if ((uint32_t)id >= (uint64_t)documents)
                return -1;
            float impact = (float)IMPACTS(columns)[at] * IMPACT_SCALE;
            Cell *cell = &cells[id];
            int is_new = cell->stamp != stamp;
            if (is_new) {
                if (mode == LEAST && i > 0)
                    continue;
                cell->stamp = stamp;
                cell->slot = (uint32_t)count;
                ids[count++] = id;
            }
            uint32_t slot = cell->slot;
            if (mode == SUM) {
                double value = (double)impact * weight;
                sums[slot] = is_new ? value : sums[slot] + value;
            } else {
                float value = narrow * impact;
                if (mode == LEAST) {
                    if (is_new || value < scores[slot])
                        scores[slot] = value;
                    seen[slot] = is_new ? 1 : seen[slot] + (seen[slot] == (uint32_t)i);
                } else if (is_new || value > scores[slot]) {
                    scores[slot] = value;
                }
            }
        }
    }
    if (mode == SUM)
        for (Py_ssize_t i = 0; i < count; i++)
            scores[i] = (float)sums[i];
    if (mode == LEAST) {
        Py_ssize_t kept = 0;
        for (Py_ssize_t i = 0; i < count; i++)
            if (seen[i] == (uint32_t)terms) {
                ids[kept] = ids[i];
                scores[kept++] = scores[i];
            }
        count = kept;
    }
    return count;
}

static PyObject *merge(PyObject *args, int mode) {
    Columns columns;
    Py_ssize_t documents;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*n", &columns.starts, &columns.doc_ids, &columns.impacts, &columns.terms,
                          &columns.weights, &documents))
        return NULL;
    PyObject *result = NULL;
    Scratch scratch;
    Py_ssize_t total = check_documents(documents) < 0 ? -1 : count_postings(&columns);
    if (total >= 0 && take_scratch(&scratch, (size_t)documents + 1) == 0) {
        renew(&scratch);
        size_t room = (size_t)total + 1;
        int32_t *ids = malloc(room * 4);
        float *scores = malloc(room * 4);
        double *sums = mode == SUM ? malloc(room * 8) : NULL;
        uint32_t *seen = mode == LEAST ? malloc(room * 4) : NULL;
        if (!ids || !scores || (mode == SUM && !sums) || (mode == LEAST && !seen)) {
            PyErr_NoMemory();
        } else {
            Py_ssize_t count;
            if (total > RELEASE) {
                Py_BEGIN_ALLOW_THREADS
                count = merge_terms(&columns, mode, documents, &scratch, ids, scores, sums, seen);
                Py_END_ALLOW_THREADS
            } else {
                count = merge_terms(&columns, mode, documents, &scratch, ids, scores, sums, seen);
            }
            if (count < 0)
                PyErr_SetString(PyExc_IndexError, "no such document");
            else
                result = pair(ids, scores, count);
        }
        free(ids);
        free(scores);
        free(sums);
        free(seen);
        put_scratch(&scratch);
    }
    release_columns(&columns);
    return result;
}

static PyObject *best_of(PyObject *module, PyObject *args) { return merge(args, BEST); }
static PyObject *least_of(PyObject *module, PyObject *args) { return merge(args, LEAST); }
static PyObject *sum_of(PyObject *module, PyObject *args) { return merge(args, SUM); }

/* Add the scores of one list of postings. Returns the new count of documents, or -1. */
static Py_ssize_t add_part(const Py_buffer *part_ids, const Py_buffer *part_scores, Py_ssize_t documents,
                           Scratch *scratch, int32_t *ids, double *sums, Py_ssize_t count) {
    const int32_t *from = part_ids->buf;
    const float *values = part_scores->buf;
    Py_ssize_t length = part_ids->len / 4;
    for (Py_ssize_t i = 0; i < length; i++) {
        int32_t id = from[i];
        if ((uint32_t)id >= (uint64_t)documents)
            return -1;
        Cell *cell = &scratch->cells[id];
        if (cell->stamp != scratch->stamp) {
            cell->stamp = scratch->stamp;
            cell->slot = (uint32_t)count;
            ids[count] = id;
            sums[count++] = values[i];
        } else {
            sums[cell->slot] += values[i];
        }
    }
    return count;
}

static PyObject *add_up(PyObject *module, PyObject *args) {
    PyObject *ids_list, *scores_list, *result = NULL;
    Py_ssize_t documents, count = 0, total = 0;
    if (!PyArg_ParseTuple(args, "OOn", &ids_list, &scores_list, &documents))
        return NULL;
    if (check_documents(documents) < 0)
        return NULL;
    Py_ssize_t parts = PyList_Size(ids_list);
    if (parts < 0 || PyList_Size(scores_list) != parts) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "lists differ in length");
        return NULL;
    }
    Py_buffer *buffers = calloc((size_t)parts * 2 + 1, sizeof(Py_buffer));
    if (buffers == NULL)
        return PyErr_NoMemory();
    Py_ssize_t held = 0;
    for (Py_ssize_t i = 0; i < parts; i++, total += buffers[held - 2].len / 4) {
        if (PyObject_GetBuffer(PyList_GetItem(ids_list, i), &buffers[held], PyBUF_SIMPLE) < 0)
            goto done;
        held++;
        if (PyObject_GetBuffer(PyList_GetItem(scores_list, i), &buffers[held], PyBUF_SIMPLE) < 0)
            goto done;
        held++;
        if (buffers[held - 1].len != buffers[held - 2].len) {
            PyErr_SetString(PyExc_ValueError, "postings differ in length");
            goto done;
        }
    }
    Scratch scratch;
    if (take_scratch(&scratch, (size_t)documents + 1) == 0) {
        renew(&scratch);
        int32_t *ids = malloc(((size_t)total + 1) * 4);
        double *sums = malloc(((size_t)total + 1) * 8);
        if (!ids || !sums) {
            PyErr_NoMemory();
        } else {
            for (Py_ssize_t i = 0; i < parts && count >= 0; i++)
                count = add_part(&buffers[2 * i], &buffers[2 * i + 1], documents, &scratch, ids, sums, count);
            if (count < 0) {
                PyErr_SetString(PyExc_IndexError, "no such document");
            } else {
                /* In place: a float takes less room than the double before it. */
                float *scores = (float *)(void *)sums;
                for (Py_ssize_t i = 0; i < count; i++) {
                    double value;
                    memcpy(&value, (char *)sums + i * 8, 8);
                    float narrow = (float)value;
                    memcpy((char *)scores + i * 4, &narrow, 4);
                }
                result = pair(ids, scores, count);
            }
        }
        free(ids);
        free(sums);
        put_scratch(&scratch);
    }
done:
    for (Py_ssize_t i = 0; i < held; i++)
        PyBuffer_Release(&buffers[i]);
    free(buffers);
    return result;
}

/* Keep the live documents, and add to each total its prior times a weight. */
static PyObject *add_priors(PyObject *module, PyObject *args) {
    Py_buffer ids, totals, live, priors;
    double factor;
    if (!PyArg_ParseTuple(args, "y*y*y*y*d", &ids, &totals, &live, &priors, &factor))
        return NULL;
    Py_ssize_t count = ids.len / 4, documents = live.len, kept = 0;
    PyObject *result = NULL;
    int32_t *kept_ids = malloc((size_t)count * 4 + 4);
    float *values = malloc((size_t)count * 4 + 4);
    if (!kept_ids || !values) {
        PyErr_NoMemory();
    } else if (totals.len != ids.len || priors.len / 4 != documents) {
        PyErr_SetString(PyExc_ValueError, "columns differ in length");
    } else {
        float weight = (float)factor;
        const float *from = totals.buf, *prior = priors.buf;
        for (Py_ssize_t i = 0; i < count && kept >= 0; i++) {
            int32_t id = ((const int32_t *)ids.buf)[i];
            if ((uint32_t)id >= (uint64_t)documents) {
                PyErr_SetString(PyExc_IndexError, "no such document");
                kept = -1;
            } else if (((const char *)live.buf)[id]) {
                kept_ids[kept] = id;
                values[kept++] = from[i] + weight * prior[id];
            }
        }
        if (kept >= 0)
            result = pair(kept_ids, values, kept);
    }
    free(kept_ids);
    free(values);
    RELEASE_BUFFERS(&ids, &totals, &live, &priors);
    return result;
}

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

#define LONGEST 64 /* Characters of the strings that are compared. */

/* Read at most LONGEST characters of UTF-8. Returns their number, or -1 for more. */
static int characters_of(const unsigned char *bytes, size_t length, uint32_t *into) {
    int count = 0;
    for (size_t i = 0; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80) {
            if (count == LONGEST)
                return -1;
            into[count++] = bytes[i];
        } else if (count > 0) {
            into[count - 1] = into[count - 1] << 8 | bytes[i];
        }
    }
    return count;
}

/* Return the optimal string alignment distance, or more than `most`. */
static int distance(const uint32_t *one, int rows, const uint32_t *other, int columns, int most) {
    int table[3][LONGEST + 1];
    int *before = table[0], *above = table[1], *row = table[2];
    int least_above = 0;
    if (rows - columns > most || columns - rows > most)
        return most + 1;
    for (int j = 0; j <= columns; j++)
        above[j] = j;
    for (int i = 1; i <= rows; i++) {
        /* Further from the diagonal, the distance is more than `most`. */
        int first = i > most ? i - most : 1, last = i + most < columns ? i + most : columns;
        int least = row[first - 1] = first == 1 ? i : most + 1;
        if (last < columns)
            row[last + 1] = most + 1;
        for (int j = first; j <= last; j++) {
            int best = above[j - 1] + (one[i - 1] != other[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
            if (best < least)
                least = best;
        }
        /* A transposition reaches back two rows: two of them must be beyond. */
        if (least > most && least_above > most)
            return most + 1;
        least_above = least;
        int *free_row = before;
        before = above;
        above = row;
        row = free_row;
    }
    return above[columns];
}

/* Return (place, distance) of each counted string from first to last that is within some edits of a word.
 *
 * The first `skipped` bytes of all these strings are equal, and not compared. */
static PyObject *near(PyObject *module, PyObject *args) {
    Py_buffer data, offsets, lengths, letters, counts, word;
    Py_ssize_t first, last, skipped;
    unsigned long long wanted;
    int shortest, longest, most;
    Strings strings;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*nnny*Kiii", &data, &offsets, &lengths, &letters, &counts, &first, &last,
                          &skipped, &word, &wanted, &shortest, &longest, &most))
        return NULL;
    PyObject *result = NULL;
    uint32_t one[LONGEST], other[LONGEST];
    int rows = characters_of(word.buf, (size_t)word.len, one);
    if (read_strings(&strings, &data, &offsets) == 0) {
        if (first < 0 || last > strings.count || lengths.len < strings.count || letters.len / 8 < strings.count ||
            counts.len / 4 < strings.count || skipped < 0 || rows < 0)
            PyErr_SetString(PyExc_ValueError, "columns differ in length");
        else
            result = PyList_New(0);
    }
    for (Py_ssize_t at = first; result != NULL && at < last; at++) {
        int length = ((const uint8_t *)lengths.buf)[at];
        if (length < shortest || length > longest || ((const int32_t *)counts.buf)[at] <= 0 ||
            __builtin_popcountll(((const uint64_t *)letters.buf)[at] ^ wanted) > 2 * most)
            continue;
        uint32_t start = strings.at[at], end = strings.at[at + 1];
        if (end > (size_t)strings.size || start + (size_t)skipped > end)
            continue;
        int columns = characters_of((const unsigned char *)strings.data + start + skipped, end - start - (size_t)skipped, other);
        int found = columns < 0 ? most + 1 : distance(one, rows, other, columns, most);
        if (found == 0 || found > most)
            continue;
        PyObject *pair = Py_BuildValue("ni", at, found);
        if (pair == NULL || PyList_Append(result, pair) < 0)
            Py_CLEAR(result);
        Py_XDECREF(pair);
    }
    RELEASE_BUFFERS(&data, &offsets, &lengths, &letters, &counts, &word);
    return result;
}

MODULE(_kernel, VERSION, "Merges of postings and search in sorted strings, compiled.",
    {"best_of", best_of, METH_VARARGS, "Merge the postings of terms: the greatest score of each document."},
    {"least_of", least_of, METH_VARARGS, "Merge the postings of terms: documents with all, by their least score."},
    {"sum_of", sum_of, METH_VARARGS, "Merge the postings of terms: the sum of the scores of each document."},
    {"add_up", add_up, METH_VARARGS, "Add up lists of postings."},
    {"add_priors", add_priors, METH_VARARGS, "Keep live documents, and add their priors."},
    {"top_k", top_k, METH_VARARGS, "Select the greatest scores."},
    {"bisect", bisect, METH_VARARGS, "Find a string among sorted ones."},
    {"near", near, METH_VARARGS, "Find strings within some edits of a word among sorted ones."},
    {"first_ranges", first_ranges, METH_VARARGS, "Find ranges of strings that differ in one character."},
    {"first_edits", first_edits, METH_VARARGS, "Find strings one edit of the first character away among sorted ones."},
    {"items", items, METH_VARARGS, "Return packed items as bytes."},
    {"contains", contains, METH_VARARGS, "Look up documents among sorted ones."})
