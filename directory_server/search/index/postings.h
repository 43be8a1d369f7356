/* Postings in the compiled modules of the index: limits, and where the documents of a merge are. */

#ifndef DIRECTORY_SERVER_POSTINGS_H
#define DIRECTORY_SERVER_POSTINGS_H

#include "compiled.h"

#define IMPACT_SCALE (1.0f / 32768.0f)
#define MAX_DOCUMENTS INT32_MAX
#define RELEASE 20000 /* Postings from which other threads run meanwhile. */

/* Where a document is in the output. `stamp` says whether that is of the present merge. */
typedef struct {
    uint32_t stamp;
    uint32_t slot;
} Cell;

/* A cell for each document. */
typedef struct {
    Cell *cells;
    size_t size;
    uint32_t stamp;
} Scratch;

/* Make room for `size` cells. Returns 0, or -1 with an error set. */
static inline int reserve_cells(Scratch *scratch, size_t size) {
    if (scratch->size < size) {
        free(scratch->cells);
        scratch->cells = calloc(size, sizeof(Cell));
        scratch->size = scratch->cells ? size : 0;
        scratch->stamp = 0;
    }
    if (scratch->cells == NULL)
        PyErr_NoMemory();
    return scratch->cells ? 0 : -1;
}

/* Begin another merge: no document has a place yet. */
static inline void renew(Scratch *scratch) {
    if (++scratch->stamp == 0) {
        memset(scratch->cells, 0, scratch->size * sizeof(Cell));
        scratch->stamp = 1;
    }
}

#endif
