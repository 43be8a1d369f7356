/* The plan of a search: the ranges of its items. */

#include "engine.h"

static int is_range(int32_t first, int32_t count, Py_ssize_t size) {
    return first >= 0 && count >= 0 && (int64_t)first + count <= size;
}

/* Set the items of a plan from its columns, and check their ranges. Returns 0, or -1 with an error set. */
int check_plan(Plan *plan) {
    static const size_t sizes[PLAN_COLUMNS] = {sizeof(int64_t), sizeof(double), sizeof(Group),    sizeof(Concept),
                                               sizeof(Part),    sizeof(Share),  sizeof(Condition)};
    Py_ssize_t counts[PLAN_COLUMNS];
    int is_valid = 1;
    for (size_t b = 0; b < PLAN_COLUMNS; b++) {
        counts[b] = plan->columns[b].len / (Py_ssize_t)sizes[b];
        is_valid = is_valid && plan->columns[b].len % (Py_ssize_t)sizes[b] == 0 && counts[b] <= INT32_MAX;
    }
    plan->terms = plan->columns[0].buf;
    plan->weights = plan->columns[1].buf;
    plan->groups = plan->columns[2].buf;
    plan->concepts = plan->columns[3].buf;
    plan->parts = plan->columns[4].buf;
    plan->shares = plan->columns[5].buf;
    plan->conditions = plan->columns[6].buf;
    plan->term_count = counts[0];
    plan->group_count = counts[2];
    plan->concept_count = counts[3];
    plan->part_count = counts[4];
    plan->condition_count = counts[6];
    is_valid = is_valid && counts[1] == counts[0] && plan->others >= 0 && plan->others <= plan->exact &&
               plan->exact <= plan->names && plan->names <= plan->group_count;
    for (Py_ssize_t i = 0; is_valid && i < plan->group_count; i++)
        is_valid = is_range(plan->groups[i].first, plan->groups[i].count, plan->term_count);
    for (Py_ssize_t i = 0; is_valid && i < plan->concept_count; i++)
        is_valid = is_range(plan->concepts[i].first, plan->concepts[i].count, plan->group_count);
    for (Py_ssize_t i = 0; is_valid && i < plan->part_count; i++)
        is_valid = is_range(plan->parts[i].first, plan->parts[i].count, plan->group_count) &&
                   is_range(plan->parts[i].first_share, plan->parts[i].shares, counts[5]);
    for (Py_ssize_t i = 0; is_valid && i < counts[5]; i++)
        is_valid = is_range(plan->shares[i].concept, 1, plan->concept_count);
    if (!is_valid)
        PyErr_SetString(PyExc_ValueError, "columns of the plan are out of range");
    return is_valid ? 0 : -1;
}

void release_plan(Plan *plan) {
    for (size_t b = 0; b < PLAN_COLUMNS; b++)
        PyBuffer_Release(&plan->columns[b]);
}
