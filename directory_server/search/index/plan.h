/* The plan of a search in the compiled module of the ranking: its groups of terms, concepts, parts and conditions. */

#ifndef DIRECTORY_SERVER_PLAN_H
#define DIRECTORY_SERVER_PLAN_H

#include "vectors.h"

typedef struct {
    int64_t term;
    double weight;
} Term;

typedef struct {
    size_t first, count; /* Terms. */
    int all;
} Group;

typedef struct {
    size_t first, count; /* Groups. */
    float context;
} Concept;

typedef struct {
    size_t concept;
    float weight;
} Share;

typedef struct {
    size_t first, count; /* Groups. */
    size_t first_share, shares;
    int alternatives;
    float limit, share; /* The score that covers the part, and the share of the query for each unit of it. */
} Part;

typedef struct {
    uint64_t full, partial, contrary;
    float reward, partial_reward, penalty;
} Condition;

typedef struct {
    Vector terms, groups, concepts, shares, parts, conditions;
    size_t others, exact, names, end; /* Groups: others, then exact and other name matches. */
    float share, most, least, least_factor;
} Plan;

#define PLAN_VECTORS(plan)                                                                                             \
    {&(plan)->terms, &(plan)->groups, &(plan)->concepts, &(plan)->shares, &(plan)->parts, &(plan)->conditions}

static void free_plan(Plan *plan) {
    Vector *vectors[] = PLAN_VECTORS(plan);
    for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++)
        free(vectors[i]->items);
}

static void clear_plan(Plan *plan) {
    Vector *vectors[] = PLAN_VECTORS(plan);
    for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++)
        vectors[i]->count = 0;
}

/* Read a list of (terms with weights, factor, whether a document must have all). Returns 0, or -1 with an error set. */
static int read_groups(PyObject *list, Plan *plan) {
    Py_ssize_t count = PyList_Size(list);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *terms, *term, *weight;
        double factor;
        Group *group = push(&plan->groups, sizeof(Group));
        if (group == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        group->first = plan->terms.count;
        group->count = 0;
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "Odp", &terms, &factor, &group->all))
            return -1;
        Py_ssize_t at = 0;
        if (!PyDict_Check(terms)) {
            PyErr_SetString(PyExc_TypeError, "terms are not a dict");
            return -1;
        }
        while (PyDict_Next(terms, &at, &term, &weight)) {
            Term *each = push(&plan->terms, sizeof(Term));
            if (each == NULL) {
                PyErr_NoMemory();
                return -1;
            }
            each->term = PyLong_AsLongLong(term);
            each->weight = PyFloat_AsDouble(weight) * factor;
            if (PyErr_Occurred())
                return -1;
            group->count++;
        }
    }
    return count < 0 ? -1 : 0;
}

static int read_concepts(PyObject *list, Plan *plan) {
    Py_ssize_t count = PyList_Size(list);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *groups;
        Concept *each = push(&plan->concepts, sizeof(Concept));
        if (each == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        each->first = plan->groups.count;
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "Of", &groups, &each->context) || read_groups(groups, plan) < 0)
            return -1;
        each->count = plan->groups.count - each->first;
    }
    return count < 0 ? -1 : 0;
}

static int read_parts(PyObject *list, Plan *plan) {
    Py_ssize_t count = PyList_Size(list);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *groups, *shares;
        Part *each = push(&plan->parts, sizeof(Part));
        if (each == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        each->first = plan->groups.count;
        each->first_share = plan->shares.count;
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "OpffO", &groups, &each->alternatives, &each->limit,
                              &each->share, &shares) ||
            read_groups(groups, plan) < 0)
            return -1;
        each->count = plan->groups.count - each->first;
        Py_ssize_t length = PyList_Size(shares);
        for (Py_ssize_t k = 0; k < length; k++) {
            Share *share = push(&plan->shares, sizeof(Share));
            Py_ssize_t concept;
            if (share == NULL) {
                PyErr_NoMemory();
                return -1;
            }
            if (!PyArg_ParseTuple(PyList_GetItem(shares, k), "nf", &concept, &share->weight))
                return -1;
            if (concept < 0 || (size_t)concept >= plan->concepts.count) {
                PyErr_SetString(PyExc_IndexError, "no such concept");
                return -1;
            }
            share->concept = (size_t)concept;
        }
        each->shares = plan->shares.count - each->first_share;
        if (length < 0)
            return -1;
    }
    return count < 0 ? -1 : 0;
}

static int read_conditions(PyObject *list, Plan *plan) {
    Py_ssize_t count = PyList_Size(list);
    for (Py_ssize_t i = 0; i < count; i++) {
        Condition *each = push(&plan->conditions, sizeof(Condition));
        unsigned long long full, partial, contrary;
        if (each == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "KKKfff", &full, &partial, &contrary, &each->reward,
                              &each->partial_reward, &each->penalty))
            return -1;
        each->full = full;
        each->partial = partial;
        each->contrary = contrary;
    }
    return count < 0 ? -1 : 0;
}

/* Read (concepts, parts, others, exact, names, conditions, share, most, least, least_factor). Returns 0, or -1 with an
 * error set. */
static int read_plan(PyObject *arguments, Plan *plan) {
    PyObject *concepts, *parts, *others, *exact, *names, *conditions;
    if (!PyArg_ParseTuple(arguments, "OOOOOOffff", &concepts, &parts, &others, &exact, &names, &conditions,
                          &plan->share, &plan->most, &plan->least, &plan->least_factor) ||
        read_concepts(concepts, plan) < 0 || read_parts(parts, plan) < 0 || read_conditions(conditions, plan) < 0)
        return -1;
    plan->others = plan->groups.count;
    if (read_groups(others, plan) < 0)
        return -1;
    plan->exact = plan->groups.count;
    if (read_groups(exact, plan) < 0)
        return -1;
    plan->names = plan->groups.count;
    if (read_groups(names, plan) < 0)
        return -1;
    plan->end = plan->groups.count;
    return 0;
}

#endif
