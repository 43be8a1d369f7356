/* Merges of postings: the scores of the documents that have some terms. */

#ifndef DIRECTORY_SERVER_MERGES_H
#define DIRECTORY_SERVER_MERGES_H

#include "postings.h"

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

#endif
