/* The count-th greatest of many scores, for the compiled module of the ranking. */

#ifndef DIRECTORY_SERVER_SELECTION_H
#define DIRECTORY_SERVER_SELECTION_H

#include "compiled.h"

#define BINS 256
#define FEW 16 /* Items that are faster to sort than to count. */

/* Scores are not negative, so their order is that of their bits. */
static inline uint32_t bits_of(float score) {
    uint32_t bits;
    memcpy(&bits, &score, sizeof(bits));
    return bits & 0x7FFFFFFF;
}

static uint32_t select_of_few(uint32_t *items, size_t held, size_t count) {
    for (size_t i = 1; i < held; i++) {
        uint32_t item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1] < item; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
    return items[count - 1];
}

/* Return the count-th greatest of the items, which are at least as many. They are moved. */
static uint32_t select_greatest(uint32_t *items, size_t held, size_t count) {
    while (held > FEW) {
        uint32_t least = UINT32_MAX, most = 0, counts[BINS] = {0}, bin = BINS;
        size_t kept = 0, above = 0;
        int shift = 0;
        for (size_t i = 0; i < held; i++) {
            least = items[i] < least ? items[i] : least;
            most = items[i] > most ? items[i] : most;
        }
        while ((most - least) >> shift >= BINS)
            shift++;
        for (size_t i = 0; i < held; i++)
            counts[(items[i] - least) >> shift]++;
        do {
            count -= above;
            above = counts[--bin];
        } while (above < count);
        if (shift == 0)
            return least + bin;
        for (size_t i = 0; i < held; i++) {
            uint32_t item = items[i];
            items[kept] = item;
            kept += (item - least) >> shift == bin;
        }
        held = kept;
    }
    return select_of_few(items, held, count);
}

#endif
