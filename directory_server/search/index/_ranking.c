/* The scores of the documents that match a plan, compiled. `ranking/coverage.py`, `feedback.py` and `focus.py` have them
 * in Python. In the order of a search: `segments.h` and `plan.h` read the arguments, `search_state.h` has the memory,
 * `documents.h` collects the evidence of a plan, `scores.h` adds it up, `feedback.h` and `focus.h` raise scores, and
 * `selection.h` finds the best ones.
 *
 * Arguments are contiguous, aligned buffers: offsets uint32, documents int32, impacts uint16, priors float32, facts
 * uint64. Results are bytes of native items, or lists. All numbers that are used as positions are checked.
 */

#include "feedback.h"
#include "focus.h"

#define VERSION 4 /* Of the functions; `arrays.py` expects the same. */

/* Score the documents of a plan, with feedback and focus unless these are None. Returns NULL with an error set.
 *
 * The interpreter lock may be released until `hold`. */
static State *search(PyObject *capsule, PyObject *plan, PyObject *feedback_of, PyObject *focus_of) {
    const Segments *segments = PyCapsule_GetPointer(capsule, SEGMENTS);
    Feedback feedback = {0};
    Py_ssize_t focused = 0;
    float most = 0;
    if (segments == NULL)
        return NULL;
    if (feedback_of != Py_None &&
        !PyArg_ParseTuple(feedback_of, "nnnndnnnO", &feedback.hits, &feedback.least_hits, &feedback.least_frequency,
                          &feedback.terms, &feedback.share, &feedback.best, &feedback.least_matches, &feedback.letters,
                          &feedback.string))
        return NULL;
    if (focus_of != Py_None && !PyArg_ParseTuple(focus_of, "nf", &focused, &most))
        return NULL;
    if (feedback.hits < 0 || feedback.hits > MAX_HITS || feedback.best < 0 || feedback.letters < 0 || focused < 0) {
        PyErr_SetString(PyExc_ValueError, "a number of feedback or focus is out of range");
        return NULL;
    }
    State *state = take_state(segments, plan);
    if (state == NULL)
        return NULL;
    Py_ssize_t count = match(state);
    int status = count < 0 ? (int)count : 0;
    if (status == 0 && feedback.hits > 0)
        status = expand(state, &feedback, count);
    if (status == 0 && focused > 0)
        status = focus(state, (size_t)focused, most);
    if (status == 0)
        return state;
    hold(state);
    raise(status);
    free_state(state);
    return NULL;
}

/* Return a list of (document numbers, scores) of the live documents of each segment. */
static PyObject *scores(PyObject *module, PyObject *args) {
    PyObject *capsule, *plan, *feedback_of, *focus_of;
    if (!PyArg_ParseTuple(args, "OOOO", &capsule, &plan, &feedback_of, &focus_of))
        return NULL;
    State *state = search(capsule, plan, feedback_of, focus_of);
    if (state == NULL)
        return NULL;
    hold(state);
    PyObject *list = PyList_New(state->segments->count);
    for (Py_ssize_t s = 0; list != NULL && s < state->segments->count; s++) {
        const Matches *matches = MATCHES(state, s);
        size_t count = matches->docs.count;
        int32_t *ids = malloc(count * 4 + 4);
        float *values = malloc(count * 4 + 4);
        PyObject *both = NULL;
        if (ids == NULL || values == NULL) {
            PyErr_NoMemory();
        } else {
            Py_ssize_t at = 0;
            for (size_t i = 0; i < count; i++)
                if (SCORES(matches)[i] >= 0) {
                    ids[at] = ITEM(matches->docs, Doc, i).id;
                    values[at++] = SCORES(matches)[i];
                }
            both = Py_BuildValue("(y#y#)", (const char *)ids, at * 4, (const char *)values, at * 4);
        }
        free(ids);
        free(values);
        if (both == NULL || PyList_SetItem(list, s, both) < 0)
            Py_CLEAR(list);
    }
    put_state(state);
    return list;
}

/* Return a tuple, which takes the references; NULL if one of them is NULL. */
static PyObject *triple(PyObject *one, PyObject *two, PyObject *three) {
    PyObject *items[] = {one, two, three};
    PyObject *tuple = one != NULL && two != NULL && three != NULL ? PyTuple_New(3) : NULL;
    for (Py_ssize_t i = 0; i < 3; i++)
        if (tuple == NULL)
            Py_XDECREF(items[i]);
        else
            PyTuple_SetItem(tuple, i, items[i]);
    return tuple;
}

/* Return (score, segment, document) of the `count` best documents with a score of at most `below`, the best first.
 *
 * All that are equal to the last one or to `below` are among them. */
static PyObject *best(PyObject *module, PyObject *args) {
    PyObject *capsule, *plan, *feedback_of, *focus_of;
    Py_ssize_t count;
    float below;
    if (!PyArg_ParseTuple(args, "OOOOnf", &capsule, &plan, &feedback_of, &focus_of, &count, &below))
        return NULL;
    if (count < 0 || count > MAX_DOCUMENTS) {
        PyErr_SetString(PyExc_ValueError, "count is out of range");
        return NULL;
    }
    State *state = search(capsule, plan, feedback_of, focus_of);
    if (state == NULL)
        return NULL;
    for (Py_ssize_t s = 0; below < INFINITY && s < state->segments->count; s++)
        for (size_t i = 0; i < MATCHES(state, s)->docs.count; i++)
            count += SCORES(MATCHES(state, s))[i] == below;
    float least = least_of_best(state, (size_t)count, below);
    Vector hits = {NULL, 0, 0};
    int status = least < 0 ? NO_MEMORY : 0;
    for (Py_ssize_t s = 0; s < state->segments->count; s++) {
        const Matches *matches = MATCHES(state, s);
        for (size_t i = 0; i < matches->docs.count && status == 0; i++) {
            float score = SCORES(matches)[i];
            if (score < least || score > below)
                continue;
            Hit *hit = push(&hits, sizeof(Hit));
            if (hit == NULL)
                status = NO_MEMORY;
            else
                *hit = (Hit){score, ITEM(matches->docs, Doc, i).id, s};
        }
    }
    hold(state);
    put_state(state);
    PyObject *list = status == 0 ? PyList_New((Py_ssize_t)hits.count) : PyErr_NoMemory();
    if (hits.count > 1)
        qsort(hits.items, hits.count, sizeof(Hit), by_score);
    for (size_t i = 0; list != NULL && i < hits.count; i++) {
        const Hit *hit = &ITEM(hits, Hit, i);
        PyObject *found = triple(PyFloat_FromDouble((double)hit->score), PyLong_FromSsize_t(hit->segment),
                                 PyLong_FromLong(hit->id));
        if (found == NULL || PyList_SetItem(list, (Py_ssize_t)i, found) < 0)
            Py_CLEAR(list);
    }
    free(hits.items);
    return list;
}

MODULE(_ranking, VERSION, "Scores of the documents of a plan, compiled.",
    {"segments", segments_of, METH_VARARGS, "Read the columns of segments for searches."},
    {"scores", scores, METH_VARARGS, "Return the documents of a plan and their scores."},
    {"best", best, METH_VARARGS, "Return the best documents of a plan."})
