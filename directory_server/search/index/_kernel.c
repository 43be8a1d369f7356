/* Merges of postings and search in sorted strings, compiled. `merging.py` and `strings.py` have the same in Python.
 * `merges.h` merges postings, `top_k.h` selects the best, `lookups.h` finds strings, and `edits.h` misspelt ones.
 *
 * Arguments are contiguous, aligned buffers: offsets uint32, documents int32, impacts uint16, terms int64, weights
 * float64, scores float32. Results are bytes of native items.
 */

#include "edits.h"
#include "lookups.h"
#include "merges.h"
#include "top_k.h"

#define VERSION 3 /* Of the functions; `arrays.py` expects the same. */

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
