/* Sorted strings that are within some edits of a word. */

#include "engine.h"

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
PyObject *near(PyObject *module, PyObject *args, PyObject *named) {
    static char *names[] = {"data", "offsets", "lengths", "letters",  "counts",  "first", "last",
                            "word", "skipped", "wanted",  "shortest", "longest", "edits", NULL};
    Py_buffer data, offsets, lengths, letters, counts, word;
    Py_ssize_t first, last, skipped;
    unsigned long long wanted;
    int shortest, longest, edits;
    Strings strings;
    if (!PyArg_ParseTupleAndKeywords(args, named, "$y*y*y*y*y*nny*nKiii", names, &data, &offsets, &lengths, &letters,
                                     &counts, &first, &last, &word, &skipped, &wanted, &shortest, &longest, &edits))
        return NULL;
    PyObject *result = NULL;
    uint32_t one[LONGEST], other[LONGEST];
    int rows = characters_of(word.buf, (size_t)word.len, one);
    if (read_strings(&strings, &data, &offsets) == 0) {
        if (first < 0 || last > strings.count || lengths.len < strings.count || letters.len / 8 < strings.count ||
            counts.len / 4 < strings.count || skipped < 0 || rows < 0)
            PyErr_SetString(PyExc_ValueError, "columns differ in length");
        else if (edits < 0 || edits > LONGEST)
            PyErr_Format(PyExc_ValueError, "edits must be 0 to %d, not %d", LONGEST, edits);
        else
            result = PyList_New(0);
    }
    for (Py_ssize_t at = first; result != NULL && at < last; at++) {
        int length = ((const uint8_t *)lengths.buf)[at];
        if (length < shortest || length > longest || ((const int32_t *)counts.buf)[at] <= 0 ||
            __builtin_popcountll(((const uint64_t *)letters.buf)[at] ^ wanted) > 2 * edits)
            continue;
        uint32_t start = strings.at[at], end = strings.at[at + 1];
        if (end > (size_t)strings.size || start + (size_t)skipped > end)
            continue;
        const unsigned char *compared = (const unsigned char *)strings.data + start + skipped;
        int columns = characters_of(compared, end - start - (size_t)skipped, other);
        int found = columns < 0 ? edits + 1 : distance(one, rows, other, columns, edits);
        if (found == 0 || found > edits)
            continue;
        PyObject *pair = Py_BuildValue("ni", at, found);
        if (pair == NULL || PyList_Append(result, pair) < 0)
            Py_CLEAR(result);
        Py_XDECREF(pair);
    }
    RELEASE_BUFFERS(&data, &offsets, &lengths, &letters, &counts, &word);
    return result;
}
