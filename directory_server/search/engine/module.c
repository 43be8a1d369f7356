/* The functions for Python. Arguments are contiguous, aligned buffers; all numbers that are used as positions are checked.
 * Results are bytes of native items, or lists. */

#include "engine.h"

static void set_error(int status) {
    if (PyErr_Occurred())
        return;
    if (status == NO_MEMORY)
        PyErr_NoMemory();
    else if (status == COLUMNS_DIFFER)
        PyErr_SetString(PyExc_ValueError, "columns differ in length");
    else if (status == NOT_WITHIN)
        PyErr_SetString(PyExc_ValueError, "offsets are not within the data");
    else
        PyErr_SetString(PyExc_IndexError, "no such term or document");
}

/* What a search is called with. */
typedef struct {
    const Segments *segments;
    Plan plan;
    Feedback feedback;
    Py_ssize_t focused, count;
    float focus, below;
} Request;

/* Read the arguments of a search. Returns 0, or -1 with an error set. */
static int read_request(PyObject *args, PyObject *named, Request *request) {
    static char *names[] = {
        "segments", "terms", "weights", "groups", "concepts", "parts", "shares", "conditions",
        "others", "exact", "names", "prior_share", "most_raised", "least_kept", "least_factor",
        "hits", "min_hits", "min_frequency", "added_terms", "best", "min_matches", "min_letters", "feedback_share", "string",
        "focused", "focus", "count", "below", NULL,
    };
    PyObject *segments;
    Plan *plan = &request->plan;
    Feedback *feedback = &request->feedback;
    Py_buffer *columns = plan->columns;
    if (!PyArg_ParseTupleAndKeywords(
            args, named, "Oy*y*y*y*y*y*y*nnnffffnnnnnnndOnf|nf", names, &segments, &columns[0], &columns[1],
            &columns[2], &columns[3], &columns[4], &columns[5], &columns[6], &plan->others, &plan->exact, &plan->names,
            &plan->prior_share, &plan->most_raised, &plan->least_kept, &plan->least_factor, &feedback->hits,
            &feedback->min_hits, &feedback->min_frequency, &feedback->terms, &feedback->best, &feedback->min_matches,
            &feedback->min_letters, &feedback->share, &feedback->string, &request->focused, &request->focus,
            &request->count, &request->below))
        return -1;
    if (feedback->hits >= 0 && feedback->hits <= MAX_HITS && feedback->best >= 0 && feedback->min_letters >= 0 &&
        request->focused >= 0 && request->count >= 0 && request->count <= MAX_DOCUMENTS) {
        request->segments = segments_of(segments);
        if (request->segments != NULL && check_plan(plan) == 0)
            return 0;
    } else {
        PyErr_SetString(PyExc_ValueError, "a number of the search is out of range");
    }
    release_plan(plan);
    return -1;
}

/* Score the documents of a plan, with feedback and focus unless these are of no documents. Returns NULL with an error set.
 *
 * The interpreter lock may be released until `hold`. */
static State *search(PyObject *args, PyObject *named, Request *request) {
    if (read_request(args, named, request) < 0)
        return NULL;
    State *state = take_state(request->segments, &request->plan);
    if (state == NULL)
        return NULL;
    Py_ssize_t count = match(state);
    int status = count < 0 ? (int)count : 0;
    if (status == 0 && request->feedback.hits > 0)
        status = expand(state, &request->feedback, count);
    if (status == 0 && request->focused > 0)
        status = focus(state, (size_t)request->focused, request->focus);
    if (status == 0)
        return state;
    hold(state);
    set_error(status);
    put_state(state);
    return NULL;
}

/* Return (document numbers, scores) of the live documents of a segment. */
static PyObject *scores_of(const Matches *matches) {
    Py_ssize_t count = 0;
    for (size_t i = 0; i < matches->docs.count; i++)
        count += SCORES(matches)[i] >= 0;
    PyObject *ids = PyBytes_FromStringAndSize(NULL, count * 4);
    PyObject *scores = PyBytes_FromStringAndSize(NULL, count * 4);
    PyObject *both = NULL;
    if (ids != NULL && scores != NULL) {
        int32_t *id = (int32_t *)(void *)PyBytes_AsString(ids);
        float *score = (float *)(void *)PyBytes_AsString(scores);
        for (size_t i = 0; i < matches->docs.count; i++)
            if (SCORES(matches)[i] >= 0) {
                *id++ = ITEM(matches->docs, Doc, i).id;
                *score++ = SCORES(matches)[i];
            }
        both = PyTuple_Pack(2, ids, scores);
    }
    Py_XDECREF(ids);
    Py_XDECREF(scores);
    return both;
}

/* Return a list of (document numbers, scores) of the live documents of each segment. */
static PyObject *scores(PyObject *module, PyObject *args, PyObject *named) {
    Request request = {.below = INFINITY};
    State *state = search(args, named, &request);
    if (state == NULL)
        return NULL;
    hold(state);
    PyObject *list = PyList_New(state->segments->count);
    for (Py_ssize_t s = 0; list != NULL && s < state->segments->count; s++) {
        PyObject *both = scores_of(MATCHES(state, s));
        if (both == NULL || PyList_SetItem(list, s, both) < 0)
            Py_CLEAR(list);
    }
    put_state(state);
    return list;
}

/* Return (score, segment, document) of the `count` best documents with a score of at most `below`, the best first.
 *
 * All that are equal to the last one or to `below` are among them. */
static PyObject *best(PyObject *module, PyObject *args, PyObject *named) {
    Request request = {.below = INFINITY};
    State *state = search(args, named, &request);
    if (state == NULL)
        return NULL;
    size_t equal = request.below < INFINITY ? count_scores(state, request.below, request.below) : 0;
    float least = least_of_best(state, (size_t)request.count + equal, request.below);
    int status = least < 0 ? NO_MEMORY : collect_hits(state, least, request.below);
    hold(state);
    PyObject *list = status == 0 ? PyList_New((Py_ssize_t)state->hits.count) : PyErr_NoMemory();
    for (size_t i = 0; list != NULL && i < state->hits.count; i++) {
        const Hit *hit = &ITEM(state->hits, Hit, i);
        PyObject *found = Py_BuildValue("dni", (double)hit->score, hit->segment, (int)hit->id);
        if (found == NULL || PyList_SetItem(list, (Py_ssize_t)i, found) < 0)
            Py_CLEAR(list);
    }
    put_state(state);
    return list;
}

static PyMethodDef methods[] = {
    {"segments", read_segments, METH_VARARGS, "Read the columns of segments for searches."},
    {"scores", (PyCFunction)(void (*)(void))scores, METH_VARARGS | METH_KEYWORDS,
     "Return the documents of a plan and their scores."},
    {"best", (PyCFunction)(void (*)(void))best, METH_VARARGS | METH_KEYWORDS, "Return the best documents of a plan."},
    {"bisect", bisect, METH_VARARGS, "Find a string among sorted ones."},
    {"contains", contains, METH_VARARGS, "Look up documents among sorted ones."},
    {"find_all", find_all, METH_VARARGS, "Find strings among sorted ones."},
    {"near", (PyCFunction)(void (*)(void))near, METH_VARARGS | METH_KEYWORDS,
     "Find strings within some edits of a word among sorted ones."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_engine", "The compiled part of the search.", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__engine(void) {
    PyObject *module = PyModule_Create(&definition);
    /* The code in Python expects this version of the functions. */
    if (module != NULL && PyModule_AddIntConstant(module, "VERSION", ENGINE_VERSION) < 0)
        Py_CLEAR(module);
    return module;
}
