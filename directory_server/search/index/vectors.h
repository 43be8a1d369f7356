/* Vectors that grow, for the compiled modules of the index. */

#ifndef DIRECTORY_SERVER_VECTORS_H
#define DIRECTORY_SERVER_VECTORS_H

#include "compiled.h"

/* `count` items of one type, with room for `capacity`. */
typedef struct {
    void *items;
    size_t count, capacity;
} Vector;

/* Make room for at least `capacity` items. Returns 0, or -1 without memory. */
static int reserve(Vector *vector, size_t capacity, size_t size) {
    if (vector->capacity < capacity || vector->items == NULL) {
        size_t most = vector->capacity * 2 > capacity ? vector->capacity * 2 : capacity;
        void *items = realloc(vector->items, (most ? most : 1) * size);
        if (items == NULL)
            return -1;
        vector->items = items;
        vector->capacity = most;
    }
    return 0;
}

/* Return a new item at the end, which is not initialized; or NULL without memory. */
static inline void *push(Vector *vector, size_t size) {
    if (vector->count == vector->capacity && reserve(vector, vector->count + 64, size) < 0)
        return NULL;
    return (char *)vector->items + size * vector->count++;
}

#define ITEM(vector, type, number) ((type *)(vector).items)[number]

#endif
